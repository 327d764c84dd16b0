// Stored positions as roots of new searches, and what such searches write: against an independent
// model of the buffer, while old segments are evicted and leaves recycled.
#include <map>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/replay/replay_buffer.h"
#include "tests/replay/replay_model.h"

namespace lzero::replay_reanalyze_test {
namespace {

constexpr int kPast = 4;

struct Settings {
  ReplayConfig config;
  ReplayShape shape{{3, 2}, 2, TerminalMode::kAbsorb};
  Settings() {
    config.capacity = 60;
    config.segment_length = 5;
    config.num_unroll_steps = 3;
    config.td_steps = 2;
    config.value_bootstrap = ValueBootstrap::kSearch;
    shape.num_root_past_steps = kPast;
  }
};

// The root is what the episode showed at its step, with as many steps before it as it had.
void ExpectRoot(const StoredRoot& root, const ModelEpisode& episode, int step) {
  ASSERT_EQ(root.step, step);
  EXPECT_GE(step, episode.first_kept);
  const int past = std::min(step, kPast);
  ASSERT_EQ(root.actions.size(), static_cast<size_t>(past));
  ASSERT_EQ(root.observations.size(), static_cast<size_t>(3 * (past + 1)));
  for (int i = 0; i <= past; ++i) {
    const std::vector<float>& seen = episode.observations[step - past + i];
    for (int j = 0; j < 3; ++j) EXPECT_EQ(root.observations[3 * i + j], seen[j]);
    if (i < past) {
      EXPECT_EQ(root.actions[i], episode.actions[step - past + i]);
    }
  }
  for (int a = 0; a < 2; ++a) {
    EXPECT_EQ(root.legal_action_mask[a] != 0, episode.legal[step][a] != 0);
    EXPECT_EQ(root.policy[a], episode.policies[step][a]);
  }
  EXPECT_EQ(root.to_play, episode.to_play[step]);
  EXPECT_EQ(root.root_value, episode.root_values[step]);
}

float NumberOf(const StoredRoot& root) { return root.observations[root.observations.size() - 3]; }

TEST(ReplayReanalyze, RootsAreThoseOfTheEpisodes) {
  const Settings setup;
  const auto buffer = MakeBuffer(setup.config, setup.shape);
  ReplayModel model(setup.config, setup.shape);
  RandomPlay play(setup.shape, {.num_players = 2, .terminate = 0.02}, 3);
  RandomStream random(8);
  std::vector<PositionHandle> positions;
  std::vector<StoredRoot> roots;
  int num_deep = 0, num_cut = 0;
  for (int t = 0; t < 500; ++t) {
    play.Step(buffer.get(), &model);
    buffer->DrawPositions(7, random, &positions);
    ASSERT_EQ(positions.size(), 7u);
    ASSERT_EQ(buffer->ReadRoots(positions, &roots), 7);
    for (const StoredRoot& root : roots) {
      const auto [episode, step] = model.Locate(NumberOf(root));
      ExpectRoot(root, *episode, step);
      EXPECT_EQ(root.age, t - episode->sequences[step]);
      num_deep += step >= kPast;
      num_cut += episode->first_kept > 0 && step - kPast < episode->first_kept;
    }
  }
  EXPECT_GT(num_deep, 1000);
  EXPECT_GT(num_cut, 50);  // whose past was evicted as positions, and lives on as context
}

TEST(ReplayReanalyze, AllStoredPositionsAreDrawnAlike) {
  const Settings setup;
  const auto buffer = MakeBuffer(setup.config, setup.shape);
  ReplayModel model(setup.config, setup.shape);
  RandomPlay play(setup.shape, {}, 4);
  RandomStream random(9);
  std::vector<PositionHandle> positions;
  buffer->DrawPositions(5, random, &positions);
  EXPECT_TRUE(positions.empty());  // nothing is stored
  EXPECT_EQ(random.state().position, 0u);
  for (int t = 0; t < 200; ++t) play.Step(buffer.get(), &model);
  const int64_t num_stored = buffer->stats().num_transitions;
  ASSERT_EQ(num_stored, model.num_transitions());
  ASSERT_GT(num_stored, buffer->stats().num_eligible);
  const int64_t num_draws = 1000 * num_stored;
  buffer->DrawPositions(num_draws, random, &positions);
  std::map<int32_t, int64_t> counts;
  for (const PositionHandle& position : positions) ++counts[position.leaf];
  EXPECT_EQ(static_cast<int64_t>(counts.size()), num_stored);
  // Six standard deviations of a binomial of mean 1,000.
  for (const auto& [leaf, count] : counts) EXPECT_NEAR(static_cast<double>(count), 1000.0, 190.0);
}

// Batches hold the new policies and bootstrap from the new root values, and nothing else changes.
TEST(ReplayReanalyze, NewSearchesReplaceTheTargets) {
  const Settings setup;
  const auto buffer = MakeBuffer(setup.config, setup.shape);
  ReplayModel model(setup.config, setup.shape);
  RandomPlay play(setup.shape, {.num_players = 2}, 5);
  RandomStream random(10);
  std::vector<PositionHandle> positions;
  std::vector<StoredRoot> roots;
  TrainBatch batch;
  for (int t = 0; t < 400; ++t) {
    play.Step(buffer.get(), &model);
    buffer->DrawPositions(1, random, &positions);
    ASSERT_EQ(buffer->ReadRoots(positions, &roots), 1);
    const float value = static_cast<float>(random.Uniform());
    const std::vector<float> policy = {value, 1.0f - value};
    EXPECT_EQ(buffer->ReplaceSearches({{positions[0], policy, {}, -value}}), 1);
    model.ReplaceSearch(NumberOf(roots[0]), policy, -value);
    if (buffer->stats().num_eligible == 0) continue;
    ASSERT_TRUE(buffer->Sample(8, random, &batch).ok());
    model.ExpectBatch(batch);
  }
  ASSERT_FALSE(HasFailure());
}

// Searches were made before the first batch: they are two updates old when the third is drawn,
// three at the fourth; made again they are new, also after a checkpoint.
TEST(ReplayReanalyze, FreshSharesCountUpdatesSinceTheSearch) {
  Settings setup;
  setup.config.fresh_updates = 2;
  setup.shape.has_search_times = true;
  auto buffer = MakeBuffer(setup.config, setup.shape);
  RandomPlay play(setup.shape, {}, 5);
  for (int t = 0; t < 20; ++t) play.Step(buffer.get());
  RandomStream random(10);
  TrainBatch batch;
  std::vector<PositionHandle> positions;
  const auto shares = [&](int num_batches) {
    std::vector<double> found;
    for (int i = 0; i < num_batches; ++i) {
      EXPECT_TRUE(buffer->Sample(8, random, &batch).ok());
      found.push_back(batch.fresh_share.value());
    }
    return found;
  };
  EXPECT_THAT(shares(4), testing::ElementsAre(1.0, 1.0, 1.0, 0.0));
  buffer->DrawPositions(500, random, &positions);  // all there are
  for (const PositionHandle& position : positions) {
    const std::vector<float> policy = {0.5f, 0.5f};
    buffer->ReplaceSearches({{position, policy, {}, 0.0f}});
  }
  EXPECT_THAT(shares(1), testing::ElementsAre(1.0));
  const auto saved = buffer->Export();
  buffer = MakeBuffer(setup.config, setup.shape);
  ASSERT_TRUE(buffer->Import(saved).ok());
  EXPECT_THAT(shares(3), testing::ElementsAre(1.0, 1.0, 0.0));
}

TEST(ReplayReanalyze, ARecycledPositionIsLeftAlone) {
  const Settings setup;
  const auto buffer = MakeBuffer(setup.config, setup.shape);
  RandomPlay play(setup.shape, {}, 6);
  for (int t = 0; t < 60; ++t) play.Step(buffer.get());
  RandomStream random(11);
  std::vector<PositionHandle> old, positions;
  std::vector<StoredRoot> roots;
  buffer->DrawPositions(200, random, &old);
  for (int t = 0; t < 30; ++t) play.Step(buffer.get());
  // Many of the leaves that are not given back now hold another transition.
  const int64_t num_current = buffer->ReadRoots(old, &roots);
  EXPECT_GT(num_current, 20);
  EXPECT_LT(num_current, 180);
  std::set<std::pair<int32_t, uint32_t>> current;
  for (int64_t i = 0; i < num_current; ++i) {
    current.insert({roots[i].position.leaf, roots[i].position.generation});
  }
  const std::vector<float> policy = {7.0f, 8.0f};
  std::vector<NewSearch> searches;
  for (const PositionHandle& position : old) searches.push_back({position, policy, {}, 9.0f});
  EXPECT_EQ(buffer->ReplaceSearches(searches), num_current);
  buffer->DrawPositions(2000, random, &positions);
  ASSERT_EQ(buffer->ReadRoots(positions, &roots), 2000);
  for (const StoredRoot& root : roots) {
    const bool written = current.contains({root.position.leaf, root.position.generation});
    EXPECT_EQ(root.root_value == 9.0f, written);
    EXPECT_EQ(root.policy == policy, written);
  }
}

TEST(ReplayReanalyze, PrioritiesStayAndACheckpointHoldsTheNewSearches) {
  Settings setup;
  setup.config.prioritized = true;
  const auto buffer = MakeBuffer(setup.config, setup.shape);
  const auto loaded = MakeBuffer(setup.config, setup.shape);
  RandomPlay play(setup.shape, {}, 7);
  for (int t = 0; t < 90; ++t) play.Step(buffer.get());
  RandomStream random(12);
  TrainBatch batch;
  ASSERT_TRUE(buffer->Sample(5, random, &batch).ok());
  buffer->UpdatePriorities(batch.positions, {0.1f, 2.0f, 3.0f, 4.0f, 5.0f});
  const auto weights_of = [](const ReplayBuffer& replay) {
    return *ReadArray<double>(replay.Export(), "replay.weights");
  };
  const std::vector<double> weights = weights_of(*buffer);
  std::vector<PositionHandle> positions;
  buffer->DrawPositions(1, random, &positions);
  const std::vector<float> policy = {0.125f, 0.875f};
  EXPECT_EQ(buffer->ReplaceSearches({{positions[0], policy, {}, 0.0625f}}), 1);
  EXPECT_EQ(weights_of(*buffer), weights);
  ASSERT_TRUE(loaded->Import(buffer->Export()).ok());
  std::vector<StoredRoot> roots;
  ASSERT_EQ(loaded->ReadRoots(positions, &roots), 1);
  EXPECT_EQ(roots[0].policy, policy);
  EXPECT_EQ(roots[0].root_value, 0.0625f);
  RandomStream one(3), other(3);
  std::vector<PositionHandle> again;
  buffer->DrawPositions(40, one, &positions);
  loaded->DrawPositions(40, other, &again);
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(positions[i].leaf, again[i].leaf);
}

}  // namespace
}  // namespace lzero::replay_reanalyze_test
