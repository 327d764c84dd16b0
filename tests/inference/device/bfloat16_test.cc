// Rounding to bfloat16 as libtorch rounds.
#include "lzero/inference/device/bfloat16.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/tensor/torch.h"

namespace lzero::bfloat16_test {
namespace {

TEST(Bfloat16Test, NumbersAreRoundedAsLibtorchRoundsThem) {
  RandomStream random(1, "bfloat16");
  for (int i = 0; i < 100000; ++i) {
    const auto bits = random.NextUint32();
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    const Bfloat16 got(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(got)));
    } else {
      EXPECT_EQ(got.bits, c10::BFloat16(value).x) << value;
    }
  }
  EXPECT_EQ(static_cast<float>(Bfloat16(1.5f)), 1.5f);
}

}  // namespace
}  // namespace lzero::bfloat16_test
