// The reanalyzer against the searches that the collector made at the same positions.
#include "lzero/worker/reanalyzer.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/mcts/search.h"
#include "lzero/worker/collector.h"
#include "tests/worker/worker_testing.h"

namespace lzero::reanalyzer_test {
namespace {

using testing::ElementsAre;

constexpr int64_t kMaxPast = 3;

SearchConfig Searches(double noise) {
  SearchConfig config;
  config.num_simulations = 6;
  config.root_noise_fraction = noise;
  return config;
}

std::unique_ptr<Agent> MakeAgent(double noise, int num_roots, uint64_t seed) {
  return std::make_unique<Agent>(
      Search::Create(Searches(noise), WalkEnv::kNumActions, num_roots).value(),
      AgentOptions{seed, true});
}

// Walks of several environments into a replay that is full after 40 steps, and a reanalyzer.
struct Walks {
  Walks(double noise, int num_envs, int batch_size, uint64_t seed = 77,
        const ShownModelOptions& other = {})
      : model(other) {
    ReplayConfig config;
    config.capacity = 40;
    config.segment_length = 4;
    config.num_unroll_steps = 2;
    config.td_steps = 3;
    ReplayShape shape;
    shape.observation_size = 3;
    shape.num_actions = WalkEnv::kNumActions;
    shape.num_envs = num_envs;
    shape.num_root_past_steps = kMaxPast;
    replay = ReplayBuffer::Create(config, shape).value();
    collector =
        std::make_unique<Collector>(CollectorOptions{9, kMaxPast}, MakeWalks(num_envs, &pool),
                                    MakeAgent(noise, num_envs, 77), &seen);
    reanalyzer =
        std::make_unique<Reanalyzer>(batch_size, MakeAgent(noise, batch_size, seed), &model);
  }

  void Collect(int num_steps) {
    for (int i = 0; i < num_steps; ++i) {
      ASSERT_TRUE(collector->Step(0).ok());
      EXPECT_TRUE(collector->staged().MoveTo(*replay).ok());
    }
  }

  // All stored positions, in the order in which they were appended, by sequence number.
  std::map<int64_t, PositionHandle> Stored() const {
    RandomStream random(1);
    std::vector<PositionHandle> drawn;
    std::vector<StoredRoot> roots;
    replay->DrawPositions(2000, random, &drawn);
    replay->ReadRoots(drawn, &roots);
    std::map<int64_t, PositionHandle> stored;
    const ReplayStats stats = replay->stats();
    for (const StoredRoot& root : roots) stored[stats.num_appended - 1 - root.age] = root.position;
    EXPECT_EQ(static_cast<int64_t>(stored.size()), stats.num_transitions);
    return stored;
  }
  std::vector<PositionHandle> Positions() const {
    std::vector<PositionHandle> positions;
    for (const auto& [sequence, position] : Stored()) positions.push_back(position);
    return positions;
  }

  // Policies, root values and everything else in replay.
  std::map<std::string, std::string> Content() const {
    std::map<std::string, std::string> content;
    for (const NamedArray& array : replay->Export()) content[array.name] = array.bytes;
    return content;
  }

  ThreadPool pool{1};
  ShownModel seen, model;  // of collector and reanalyzer
  std::unique_ptr<ReplayBuffer> replay;
  std::unique_ptr<Collector> collector;
  std::unique_ptr<Reanalyzer> reanalyzer;
};

TEST(ReanalyzerTest, RootsAreThoseThatTheCollectorHad) {
  Walks walks(0.0, 3, 4);
  walks.Collect(30);
  const auto stored = walks.Stored();
  ASSERT_GT(stored.begin()->first, 40);  // more than half is evicted
  ASSERT_TRUE(walks.reanalyzer->Search(walks.Positions(), *walks.replay, 0).ok());
  ASSERT_EQ(walks.model.seen.size(), stored.size());
  size_t i = 0;
  int num_deep = 0;
  for (const auto& [sequence, position] : stored) {
    // No environment dies here: each step of the collector appends one transition of each.
    const SeenRoot& had = walks.seen.seen[static_cast<size_t>(sequence)];
    const SeenRoot& has = walks.model.seen[i];
    EXPECT_EQ(has.env, static_cast<int32_t>(i % 4));
    EXPECT_EQ(has.step, had.step);
    EXPECT_EQ(has.to_play, had.to_play);
    EXPECT_EQ(has.observations, had.observations);
    EXPECT_EQ(has.actions, had.actions);
    EXPECT_EQ(has.legal_action_mask, had.legal_action_mask);
    num_deep += had.step > kMaxPast;
    ++i;
  }
  EXPECT_GT(num_deep, 5);
}

TEST(ReanalyzerTest, TheModelForgetsEachRowBeforeItsNextPosition) {
  Walks walks(0.0, 3, 4);
  walks.Collect(10);
  const std::vector<PositionHandle> positions = walks.Positions();
  walks.model.kept = {0, 1, 2, 3};
  ASSERT_TRUE(walks.reanalyzer->Search({positions[0], positions[5]}, *walks.replay, 0).ok());
  EXPECT_THAT(walks.model.kept, ElementsAre(2, 3));
}

TEST(ReanalyzerTest, WithTheSameModelAndNoNoiseNothingChanges) {
  Walks walks(0.0, 3, 4);
  walks.Collect(30);
  const auto before = walks.Content();
  ASSERT_TRUE(walks.reanalyzer->Search(walks.Positions(), *walks.replay, 0).ok());
  walks.reanalyzer->WriteBack(walks.replay.get());
  EXPECT_TRUE(walks.Content() == before);
  const ReanalyzeStats stats = walks.reanalyzer->TakeStats();
  EXPECT_EQ(stats.num_positions, walks.replay->stats().num_transitions);
  EXPECT_EQ(stats.num_policy_changes, stats.num_positions);
  EXPECT_EQ(stats.value_change_sum, 0.0);
  EXPECT_EQ(stats.policy_change_sum, 0.0);
  EXPECT_EQ(walks.reanalyzer->TakeStats().num_positions, 0);
}

// One environment: position number k was search number k of environment 0.
TEST(ReanalyzerTest, TheNoiseIsThatOfCollecting) {
  for (const uint64_t seed : {77u, 78u}) {
    Walks walks(0.25, 1, 1, seed);
    walks.Collect(70);
    const auto before = walks.Content();
    for (const auto& [sequence, position] : walks.Stored()) {
      walks.reanalyzer->set_num_searches(static_cast<uint64_t>(sequence));
      ASSERT_TRUE(walks.reanalyzer->Search({position}, *walks.replay, 0).ok());
      EXPECT_EQ(walks.reanalyzer->num_searches(), static_cast<uint64_t>(sequence) + 1);
    }
    walks.reanalyzer->WriteBack(walks.replay.get());
    EXPECT_EQ(walks.Content() == before, seed == 77) << seed;
  }
}

// What is written is what an agent finds at the root that was read, and nothing else changes.
TEST(ReanalyzerTest, ANewModelChangesPoliciesAndRootValuesAlone) {
  ShownModelOptions other;
  other.discount = 0.2f;
  Walks walks(0.0, 2, 3, 77, other);
  walks.Collect(25);
  auto before = walks.Content();
  std::vector<StoredRoot> stored, fresh;
  const std::vector<PositionHandle> positions = walks.Positions();
  ASSERT_EQ(walks.replay->ReadRoots(positions, &stored), static_cast<int64_t>(positions.size()));
  ASSERT_TRUE(walks.reanalyzer->Search(positions, *walks.replay, 0).ok());
  EXPECT_TRUE(walks.Content() == before);  // nothing is written yet
  walks.reanalyzer->WriteBack(walks.replay.get());
  walks.replay->ReadRoots(positions, &fresh);

  const auto agent = MakeAgent(0.0, 1, 1);
  ShownModel model(other);
  Decision decision;
  double value_change = 0.0, policy_change = 0.0, age = 0.0;
  for (size_t i = 0; i < positions.size(); ++i) {
    Root root;
    root.observations = absl::MakeConstSpan(stored[i].observations).last(3);
    root.legal_action_mask = stored[i].legal_action_mask;
    ASSERT_TRUE(agent->Act(model, {root}, ActMode::kEvaluate, 0, &decision).ok());
    EXPECT_EQ(fresh[i].root_value, decision.search.root_values[0]);
    EXPECT_EQ(fresh[i].policy, decision.policies);
    value_change += std::abs(fresh[i].root_value - stored[i].root_value);
    for (size_t a = 0; a < 4; ++a) {
      policy_change += std::abs(fresh[i].policy[a] - stored[i].policy[a]) / 2.0;
    }
    age += static_cast<double>(stored[i].age);
  }
  const ReanalyzeStats stats = walks.reanalyzer->TakeStats();
  EXPECT_GT(value_change, 1.0);
  EXPECT_NEAR(stats.value_change_sum, value_change, 1e-4);
  EXPECT_GT(policy_change, 1.0);
  EXPECT_NEAR(stats.policy_change_sum, policy_change, 1e-4);
  EXPECT_EQ(stats.age_sum, age);
  auto after = walks.Content();
  for (const char* name : {"replay.policies", "replay.root_values"}) {
    EXPECT_TRUE(after[name] != before[name]) << name;
    after.erase(name);
    before.erase(name);
  }
  EXPECT_TRUE(after == before);
}

TEST(ReanalyzerTest, PositionsAreSearchedInBatches) {
  Walks walks(0.0, 2, 3);
  walks.Collect(10);
  const std::vector<PositionHandle> positions = walks.Positions();
  const auto first = absl::MakeConstSpan(positions).first(7);
  ASSERT_TRUE(walks.reanalyzer->Search(first, *walks.replay, 0).ok());
  EXPECT_EQ(walks.reanalyzer->num_searches(), 3u);
  std::vector<int32_t> envs;
  for (const SeenRoot& root : walks.model.seen) envs.push_back(root.env);
  EXPECT_THAT(envs, ElementsAre(0, 1, 2, 0, 1, 2, 0));
  ASSERT_TRUE(walks.reanalyzer->Search({}, *walks.replay, 0).ok());
  EXPECT_EQ(walks.reanalyzer->num_searches(), 3u);
}

TEST(ReanalyzerTest, RecycledPositionsArePassedOver) {
  ShownModelOptions other;
  other.value_scale = 0.5f;
  Walks walks(0.0, 1, 2, 77, other);
  walks.Collect(40);
  const std::vector<PositionHandle> positions = walks.Positions();
  ASSERT_TRUE(walks.reanalyzer->Search(positions, *walks.replay, 0).ok());
  walks.Collect(40);  // none of them is stored any more
  const auto before = walks.Content();
  walks.reanalyzer->WriteBack(walks.replay.get());
  EXPECT_TRUE(walks.Content() == before);
  const size_t num_seen = walks.model.seen.size();
  ASSERT_TRUE(walks.reanalyzer->Search(positions, *walks.replay, 0).ok());
  EXPECT_EQ(walks.model.seen.size(), num_seen);
}

TEST(ReanalyzerTest, WhatIsClearedIsNotWritten) {
  ShownModelOptions other;
  other.value_scale = 0.5f;
  Walks walks(0.0, 1, 2, 77, other);
  walks.Collect(30);
  const auto before = walks.Content();
  ASSERT_TRUE(walks.reanalyzer->Search(walks.Positions(), *walks.replay, 0).ok());
  walks.reanalyzer->Clear();
  walks.reanalyzer->WriteBack(walks.replay.get());
  EXPECT_TRUE(walks.Content() == before);
}

TEST(ReanalyzerTest, ErrorsOfTheModelArePassedOn) {
  Walks walks(0.0, 1, 2);
  walks.Collect(10);
  walks.model.failure = absl::InternalError("no weights");
  EXPECT_EQ(walks.reanalyzer->Search(walks.Positions(), *walks.replay, 0),
            absl::InternalError("no weights"));
}

}  // namespace
}  // namespace lzero::reanalyzer_test
