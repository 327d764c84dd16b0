#include "lzero/replay/batch/intensity_augmenter.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::intensity_augmenter_test {
namespace {

using ::testing::ElementsAre;

// Two samples of one input, one observation that is a target alone, one to bootstrap from.
TEST(IntensityAugmenter, BytesAreMultipliedAndStayBytes) {
  TrainBatch batch;
  batch.Resize({2, 0, 1, 2, 4, ObservationType::kUint8});
  const std::vector<uint8_t> picture = {0, 1, 100, 250};
  for (auto* bytes : {&batch.observation_bytes, &batch.bootstrap_observation_bytes}) {
    for (size_t i = 0; i < bytes->size(); ++i) (*bytes)[i] = picture[i % 4];
  }
  IntensityAugmenter(0.5).Apply(1.5, 0.75, 1, 1, &batch);
  EXPECT_THAT(batch.observation_bytes, ElementsAre(0, 1, 100, 250, 0, 1, 100, 250,  // sample 0
                                                   0, 2, 150, 255, 0, 1, 75, 188));
  EXPECT_THAT(batch.bootstrap_observation_bytes, ElementsAre(0, 1, 100, 250, 0, 1, 75, 188));
}

TEST(IntensityAugmenter, FactorsAreNormalAroundOneAndCut) {
  RandomStream random(3), same_random(3);
  const IntensityAugmenter augmenter(0.1);
  int num_cut = 0;
  for (int i = 0; i < 2000; ++i) {
    const double normal = same_random.Normal();
    EXPECT_DOUBLE_EQ(augmenter.Draw(random), 1.0 + 0.1 * std::min(2.0, std::max(-2.0, normal)));
    num_cut += normal < -2.0 || normal > 2.0 ? 1 : 0;
  }
  EXPECT_NEAR(num_cut, 91, 30);  // 4.55 %
}

}  // namespace
}  // namespace lzero::intensity_augmenter_test
