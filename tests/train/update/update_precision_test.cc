// What libtorch is told while an update runs, and that it is told the old again.
#include "lzero/train/update/update_precision.h"

#include "ATen/autocast_mode.h"
#include "gtest/gtest.h"

namespace lzero::update_precision_test {
namespace {

struct Told {
  bool casts = at::autocast::is_autocast_enabled(at::kCUDA);
  bool keeps_casts = at::autocast::is_autocast_cache_enabled();
  at::ScalarType dtype = at::autocast::get_autocast_dtype(at::kCUDA);
  bool operator==(const Told&) const = default;
};

TEST(UpdatePrecisionTest, HoldsWhileItLivesAndLeavesNothing) {
  const Told before;
  for (const TrainDtype dtype : {TrainDtype::kFp32, TrainDtype::kTf32, TrainDtype::kBf16}) {
    {
      const ForwardPrecision forward(dtype, at::kCUDA);
      const bool is_bf16 = dtype == TrainDtype::kBf16;
      const Told told;
      EXPECT_EQ(told.casts, is_bf16);
      if (!is_bf16) continue;
      EXPECT_EQ(told.dtype, at::kBFloat16);
      EXPECT_FALSE(told.keeps_casts);
    }
    EXPECT_TRUE(Told() == before);
  }
  EXPECT_TRUE(Told() == before);
}

TEST(UpdatePrecisionTest, TheCpuIsLeftAlone) {
  const Told before;
  const ForwardPrecision forward(TrainDtype::kBf16, at::kCPU);
  EXPECT_TRUE(Told() == before);
}

}  // namespace
}  // namespace lzero::update_precision_test
