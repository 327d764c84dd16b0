// Roots in libtorch operations: rebuilt and continued, the numbers of a full pass over the episode.
#include "lzero/family/unizero/runners/eager_roots.h"

#include <cmath>

#include "gtest/gtest.h"
#include "lzero/nn/threads.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/family/unizero/runners/root_scene.h"

namespace lzero::eager_roots_test {
namespace {

constexpr int kNumActions = 3;

void ExpectFullPass(const WorldModel& model, const std::vector<SceneEpisode>& episodes,
                    const std::vector<int64_t>& steps, const SceneOutputs& got) {
  for (size_t e = 0; e < steps.size(); ++e) {
    const auto& episode = episodes[e];
    const FullPass expected = RunFullPass(
        model, {episode.observations.begin(), episode.observations.begin() + steps[e] + 1},
        {episode.actions.begin(), episode.actions.begin() + steps[e]}, {});
    EXPECT_NEAR(got.values[e], expected.value, 1e-5 * std::max(1.0f, std::abs(expected.value)));
    for (int a = 0; a < kNumActions; ++a) {
      EXPECT_NEAR(got.logits[e * kNumActions + a], expected.logits[a], 1e-5);
    }
  }
}

TEST(EagerRootsTest, RebuiltAndContinuedRootsAreThoseOfAFullPass) {
  SetTensorThreads(1);
  const auto model = SceneModel(kNumActions);
  SceneCache scene(*model, 4);
  const auto roots = std::make_unique<EagerRoots>(*model, scene.cache.get(), scene.contexts.get());
  const auto episodes = RandomEpisodes(4, 12, 4, kNumActions, 1);
  std::vector<int64_t> steps = {0, 3, 10, 1};
  SceneOutputs rebuilt(4, kNumActions), continued(4, kNumActions);
  const SceneRoots first(episodes, steps);
  ASSERT_TRUE(roots->Rebuild(first.roots(), first.rows(), rebuilt.spans()).ok());
  ExpectFullPass(*model, episodes, steps, rebuilt);
  for (int64_t& step : steps) ++step;
  const SceneRoots second(episodes, steps);
  ASSERT_TRUE(roots->Continue(second.roots(), second.rows(), continued.spans()).ok());
  ExpectFullPass(*model, episodes, steps, continued);
}

TEST(EagerRootsTest, OnlyTheNamedRowsAreWritten) {
  SetTensorThreads(1);
  const auto model = SceneModel(kNumActions);
  SceneCache scene(*model, 3);
  const auto roots = std::make_unique<EagerRoots>(*model, scene.cache.get(), scene.contexts.get());
  const auto episodes = RandomEpisodes(3, 4, 4, kNumActions, 2);
  const SceneRoots all(episodes, {2, 1, 3});
  SceneOutputs outputs(3, kNumActions);
  const std::vector<int> rows = {2, 0};
  ASSERT_TRUE(roots->Rebuild(all.roots(), rows, outputs.spans()).ok());
  EXPECT_TRUE(std::isnan(outputs.values[1]));
  EXPECT_TRUE(std::isnan(outputs.logits[kNumActions]));
  EXPECT_FALSE(std::isnan(outputs.values[0] + outputs.values[2]));
  EXPECT_TRUE(scene.cache->HasInit(EnvId(2), 3));
  EXPECT_FALSE(scene.cache->HasInit(EnvId(1), 1));
}

}  // namespace
}  // namespace lzero::eager_roots_test
