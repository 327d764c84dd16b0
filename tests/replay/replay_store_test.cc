#include "lzero/replay/replay_store.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::replay_store_test {
namespace {

using ::testing::ElementsAre;

// One number an observation, one action; U 2, td 1: targets known 2 steps later.
struct Fixture {
  ReplayConfig config;
  ReplayShape shape{{1, 1}, 2, TerminalMode::kAbsorb};
  Fixture() {
    config.capacity = 12;
    config.max_mebibytes = 1;
    config.segment_length = 3;
    config.num_unroll_steps = 2;
    config.td_steps = 1;
  }
};

void Begin(ReplayStore* store, int env) {
  EXPECT_TRUE(store->BeginEpisode(EnvId(env), {0.0f}, {1}, 0).ok());
}

void Append(ReplayStore* store, int env, int num_steps, bool terminated = false,
            bool truncated = false) {
  const std::vector<float> numbers = {1.0f};
  const std::vector<uint8_t> legal = {1};
  for (int i = 0; i < num_steps; ++i) {
    Transition step;
    step.policy = numbers;
    step.observation = numbers;
    step.legal_action_mask = legal;
    step.terminated = terminated && i == num_steps - 1;
    step.truncated = truncated && i == num_steps - 1;
    EXPECT_TRUE(store->Append(EnvId(env), step).ok());
  }
}

std::vector<int> Lengths(const ReplayStore& store) {
  std::vector<int> lengths;
  for (const auto& segment : store.finished()) lengths.push_back(segment->num_steps());
  return lengths;
}

// |V - (r + discount * the next root value)|; at the end of an episode no root value.
TEST(ReplayStore, FirstPrioritiesAreErrorsOfTheNetwork) {
  Fixture fixture;
  fixture.config.prioritized = true;
  fixture.config.priority_exponent = 1.0;
  fixture.config.discount = 0.5;
  fixture.config.initial_priority = InitialPriority::kOwnError;
  fixture.shape.has_network_values = true;
  ReplayStore store(fixture.config, fixture.shape);
  Begin(&store, 0);
  const std::vector<float> numbers = {1.0f};
  const std::vector<uint8_t> legal = {1};
  for (int t = 0; t < 4; ++t) {
    Transition step;
    step.policy = numbers;
    step.observation = numbers;
    step.legal_action_mask = legal;
    step.reward = static_cast<float>(t);
    step.root_value = 10.0f * static_cast<float>(t);
    step.network_value = 1.0f;
    step.terminated = t == 3;
    ASSERT_TRUE(store.Append(EnvId(0), step).ok());
  }
  // Targets 0 + 5, 1 + 10, 2 + 15 and 3.
  const std::vector<double> expected = {4.0, 10.0, 16.0, 2.0};
  for (int t = 0; t < 4; ++t) EXPECT_EQ(store.index().weight(t), expected[t]) << t;
}

TEST(ReplayStore, CutsEpisodesIntoAChain) {
  const Fixture fixture;
  ReplayStore store(fixture.config, fixture.shape);
  Begin(&store, 0);
  Append(&store, 0, 7);
  EXPECT_THAT(Lengths(store), ElementsAre(3, 3));
  const GameSegment* first = store.finished()[0].get();
  const GameSegment* second = store.finished()[1].get();
  const GameSegment* open = store.open()[0].get();
  EXPECT_EQ(first->next(), second);
  EXPECT_EQ(second->next(), open);
  EXPECT_EQ(open->previous(), second);
  EXPECT_EQ(open->first_step(), 6);
  EXPECT_EQ(open->num_steps(), 1);
  EXPECT_EQ(store.num_segments(), 3);
  EXPECT_EQ(store.index().num_eligible(), 6);  // 0 .. 7 - 2
  Append(&store, 0, 1, true);
  EXPECT_EQ(store.index().num_eligible(), 8);
  EXPECT_EQ(store.finished()[2]->end(), SegmentEnd::kTerminated);
  EXPECT_EQ(store.finished()[2]->max_steps(), 2);  // shrunk
  EXPECT_EQ(store.counters().num_episodes_ended, 1);
}

TEST(ReplayStore, EvictsTheOldestFinishedSegment) {
  const Fixture fixture;
  ReplayStore store(fixture.config, fixture.shape);
  Begin(&store, 0);
  Begin(&store, 1);
  Append(&store, 0, 3);
  Append(&store, 1, 2);
  Append(&store, 0, 7);
  EXPECT_EQ(store.num_transitions(), 12);
  EXPECT_THAT(Lengths(store), ElementsAre(3, 3, 3));
  Append(&store, 0, 1);
  EXPECT_EQ(store.num_transitions(), 10);
  EXPECT_THAT(Lengths(store), ElementsAre(3, 3));
  EXPECT_EQ(store.finished()[0]->first_step(), 3);
  EXPECT_EQ(store.finished()[0]->previous(), nullptr);
  EXPECT_EQ(store.open()[1]->num_steps(), 2);  // unfinished ones stay, however old
}

TEST(ReplayStore, AbandonedEpisodesKeepTheirCompletePositions) {
  const Fixture fixture;
  ReplayStore store(fixture.config, fixture.shape);
  Begin(&store, 0);
  Append(&store, 0, 4);
  EXPECT_EQ(store.index().num_eligible(), 3);
  Begin(&store, 0);
  EXPECT_EQ(store.index().num_eligible(), 3);
  EXPECT_EQ(store.finished()[1]->end(), SegmentEnd::kAbandoned);
  // Just after a cut the empty segment goes and the last full one ends the episode.
  Append(&store, 0, 3);
  ASSERT_EQ(store.open()[0]->num_steps(), 0);
  Begin(&store, 0);
  EXPECT_EQ(store.finished()[2]->end(), SegmentEnd::kAbandoned);
  EXPECT_EQ(store.finished()[2]->next(), nullptr);
  EXPECT_EQ(store.index().num_eligible(), 5);
  Begin(&store, 0);  // one without steps leaves nothing
  EXPECT_EQ(store.num_segments(), 4);
  EXPECT_EQ(store.counters().num_episodes_ended, 0);
}

TEST(ReplayStore, TerminationWinsOverTruncation) {
  const Fixture fixture;
  ReplayStore store(fixture.config, fixture.shape);
  Begin(&store, 0);
  Append(&store, 0, 1, true, true);
  Begin(&store, 0);
  Append(&store, 0, 1, false, true);
  EXPECT_EQ(store.finished()[0]->end(), SegmentEnd::kTerminated);
  EXPECT_EQ(store.finished()[1]->end(), SegmentEnd::kTruncated);
}

TEST(ReplayStore, WeightsOfPriorities) {
  Fixture fixture;
  EXPECT_EQ(ReplayStore(fixture.config, fixture.shape).WeightOf(5.0), 1.0);
  fixture.config.prioritized = true;
  fixture.config.priority_exponent = 0.5;
  const ReplayStore store(fixture.config, fixture.shape);
  EXPECT_DOUBLE_EQ(store.WeightOf(9.0), 3.0);
  EXPECT_DOUBLE_EQ(store.WeightOf(0.0), 1e-3);
  fixture.config.priority_exponent = 10.0;
  EXPECT_EQ(ReplayStore(fixture.config, fixture.shape).WeightOf(3e38), 1e200);
}

TEST(ReplayStore, BytesCountOpenSegmentsFromTheStart) {
  const Fixture fixture;
  ReplayStore store(fixture.config, fixture.shape);
  const int64_t open = GameSegment::BytesFor({1, 1}, 3, 0);
  const int64_t empty = PositionIndex::BytesFor(12) + 2 * open;
  EXPECT_EQ(store.bytes(), empty);
  Begin(&store, 0);
  Append(&store, 0, 2);
  EXPECT_EQ(store.bytes(), empty);
  Append(&store, 0, 1);
  EXPECT_EQ(store.bytes(), empty + open);
  Append(&store, 0, 1, true);
  EXPECT_EQ(store.bytes(), empty + open + GameSegment::BytesFor({1, 1}, 1, 0));
}

// A step of context takes 4 bytes of observation and 4 of action; segments at steps 0, 3, 6, ...
TEST(ReplayStore, BytesCountTheContextOfEverySegment) {
  Fixture fixture;
  fixture.config.num_context_steps = 5;
  ReplayStore store(fixture.config, fixture.shape);
  const int64_t full = GameSegment::BytesFor({1, 1}, 3, 0);
  const int64_t empty = PositionIndex::BytesFor(12) + 2 * (full + 5 * 8);
  EXPECT_EQ(store.bytes(), empty);
  Begin(&store, 0);
  Append(&store, 0, 3);
  EXPECT_EQ(store.bytes(), empty + full);
  Append(&store, 0, 3);
  EXPECT_EQ(store.bytes(), empty + 2 * full + 3 * 8);
  Append(&store, 0, 3);
  EXPECT_EQ(store.bytes(), empty + 3 * full + 8 * 8);
  Append(&store, 0, 4);  // the first is evicted
  EXPECT_EQ(store.num_transitions(), 10);
  EXPECT_EQ(store.bytes(), empty + 3 * full + 13 * 8);
  EXPECT_EQ(store.finished()[0]->num_context_steps(), 3);
  EXPECT_EQ(store.open()[0]->num_context_steps(), 5);
  EXPECT_EQ(store.index().num_eligible(), 9);
}

TEST(ReplayStoreDeathTest, RefusesWrongCalls) {
  const Fixture fixture;
  ReplayStore store(fixture.config, fixture.shape);
  EXPECT_DEATH(Append(&store, 0, 1), "environment 0 has no episode");
  EXPECT_DEATH(Begin(&store, 2), "environment 2 of 2");
  EXPECT_DEATH(Append(&store, -1, 1), "environment -1 of 2");
  Begin(&store, 0);
  Append(&store, 0, 1, true);
  EXPECT_DEATH(Append(&store, 0, 1), "environment 0 has no episode");
}

TEST(ReplayStore, OnlyEpisodeStartsMayBeSampledWhereAskedFor) {
  Fixture fixture;
  fixture.config.sample_from = SampleFrom::kEpisodeStarts;
  ReplayStore store(fixture.config, fixture.shape);
  Begin(&store, 0);
  Append(&store, 0, 1);
  EXPECT_EQ(store.index().num_eligible(), 0);  // its targets are not known yet
  Append(&store, 0, 4, /*terminated=*/true);
  EXPECT_EQ(store.index().num_eligible(), 1);
  Begin(&store, 1);
  Append(&store, 1, 1, /*terminated=*/true);
  EXPECT_EQ(store.index().num_eligible(), 2);
  EXPECT_TRUE(store.IsEligible(0, 5, SegmentEnd::kTerminated));
  EXPECT_FALSE(store.IsEligible(1, 5, SegmentEnd::kTerminated));
}

}  // namespace
}  // namespace lzero::replay_store_test
