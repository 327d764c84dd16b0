#include "lzero/base/machine.h"

#include <gtest/gtest.h>
#include <sys/sysinfo.h>

namespace lzero {
namespace {

TEST(MachineTest, MemoryIsWhatTheKernelReports) {
  struct sysinfo facts = {};
  ASSERT_EQ(sysinfo(&facts), 0);
  EXPECT_EQ(MachineMemoryBytes(), static_cast<int64_t>(facts.totalram) * facts.mem_unit);
}

}  // namespace
}  // namespace lzero
