#include "lzero/base/philox.h"

#include "gtest/gtest.h"

namespace lzero::philox_test {
namespace {

// Known answers of Random123 (kat_vectors, philox4x32 10): counter and key of zeros, and of ones.
TEST(PhiloxTest, GivesTheKnownAnswers) {
  const PhiloxWords zeros = ComputePhilox(0, 0, 0);
  EXPECT_EQ(zeros.word[0], 0x6627e8d5u);
  EXPECT_EQ(zeros.word[1], 0xe169c58du);
  EXPECT_EQ(zeros.word[2], 0xbc57ac4cu);
  EXPECT_EQ(zeros.word[3], 0x9b00dbd8u);
  const uint64_t all = ~uint64_t{0};
  const PhiloxWords ones = ComputePhilox(all, all, all);
  EXPECT_EQ(ones.word[0], 0x408f276du);
  EXPECT_EQ(ones.word[1], 0x41c83b0eu);
  EXPECT_EQ(ones.word[2], 0xa20bc7c6u);
  EXPECT_EQ(ones.word[3], 0x6d5451fdu);
}

TEST(PhiloxTest, TheUnitIntervalExcludesOne) {
  EXPECT_EQ(ToUnitInterval(0, 0), 0.0);
  EXPECT_EQ(ToUnitInterval(0x80000000u, 0), 0.5);
  EXPECT_EQ(ToUnitInterval(~0u, ~0u), 1.0 - 0x1.0p-53);
}

}  // namespace
}  // namespace lzero::philox_test
