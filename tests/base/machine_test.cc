#include "lzero/base/machine.h"

#include <gtest/gtest.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <vector>

namespace lzero::machine_test {
namespace {

TEST(MachineTest, MemoryIsWhatTheKernelReports) {
  struct sysinfo facts = {};
  ASSERT_EQ(sysinfo(&facts), 0);
  EXPECT_EQ(MachineMemoryBytes(), static_cast<int64_t>(facts.totalram) * facts.mem_unit);
}

TEST(MachineTest, ResidentMemoryGrowsWithWhatIsWritten) {
  const int64_t before = ResidentBytes();
  EXPECT_GT(before, 0);
  std::vector<char> block(size_t{64} << 20, 1);
  EXPECT_GT(ResidentBytes(), before + (int64_t{60} << 20));
  EXPECT_EQ(block.back(), 1);
}

TEST(MachineTest, SizesAreShownInTheUnitThatFits) {
  EXPECT_EQ(SizeText(0), "0.0 KiB");
  EXPECT_EQ(SizeText(22426), "21.9 KiB");
  EXPECT_EQ(SizeText(int64_t{3} << 19), "1.5 MiB");
  EXPECT_EQ(SizeText((int64_t{1} << 30) - (1 << 20)), "1023.0 MiB");
  EXPECT_EQ(SizeText(int64_t{5} << 29), "2.50 GiB");
  EXPECT_EQ(SizeText(int64_t{10} << 30), "10.0 GiB");
  EXPECT_EQ(SizeText(int64_t{24105} << 20), "23.5 GiB");
}

TEST(MachineTest, ResidentMemoryOfAnotherProcess) {
  EXPECT_GT(ResidentBytesOf(getppid()), 0);
  EXPECT_EQ(ResidentBytesOf(-1), 0);
}

}  // namespace
}  // namespace lzero::machine_test
