// The collector's state in a checkpoint: what is restored goes on exactly; what cannot be saved
// starts again and is counted; what does not fit is refused.
#include <map>
#include <numeric>
#include <set>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/mcts/search.h"
#include "lzero/worker/collector.h"
#include "tests/worker/worker_testing.h"

namespace lzero::collector_state_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kMaxPast = 3;

struct Walks {
  explicit Walks(bool can_save = true, int num_envs = 3, const SearchConfig& explored = {},
                 double count_bonus = 0.0) {
    SearchConfig search = explored;
    search.num_simulations = 5;
    auto envs = MakeWalks(num_envs, &pool, &logs, WalkOptions{can_save});
    CollectorOptions options{9, kMaxPast};
    options.count_bonus = count_bonus;
    collector = std::make_unique<Collector>(
        options, std::move(envs),
        std::make_unique<Agent>(Search::Create(search, WalkEnv::kNumActions, num_envs).value(),
                                AgentOptions{4, true}),
        &model);
    ReplayConfig config;
    config.capacity = 2000;
    config.segment_length = 20;
    config.num_unroll_steps = 2;
    config.td_steps = 3;
    replay = ReplayBuffer::Create(config, {{3, WalkEnv::kNumActions}, num_envs}).value();
  }

  void Run(int num_steps) {
    for (int i = 0; i < num_steps; ++i) {
      const absl::Status status = collector->Step(0);
      ASSERT_TRUE(status.ok()) << status;
    }
    EXPECT_TRUE(collector->staged().MoveTo(*replay).ok());
  }

  std::vector<NamedArray> Export() const {
    auto arrays = collector->Export();
    EXPECT_TRUE(arrays.ok()) << arrays.status();
    return std::move(arrays).value();
  }

  ThreadPool pool{1};
  ShownModel model;
  std::vector<std::vector<EnvCall>> logs;
  std::unique_ptr<Collector> collector;
  std::unique_ptr<ReplayBuffer> replay;
};

std::map<std::string, std::string> BytesByName(const std::vector<NamedArray>& arrays) {
  std::map<std::string, std::string> bytes;
  for (const NamedArray& array : arrays) bytes[array.name] = array.bytes;
  EXPECT_EQ(bytes.size(), arrays.size()) << "two arrays of one name";
  return bytes;
}

TEST(CollectorStateTest, ARestoredCollectorStagesTheSameSteps) {
  for (const int num_before : {0, 1, 2, 7, 20}) {
    Walks straight;
    straight.Run(num_before);
    const std::vector<NamedArray> saved = straight.Export();

    Walks restored;
    const auto num_restarted = restored.collector->Import(saved);
    ASSERT_TRUE(num_restarted.ok()) << num_restarted.status();
    EXPECT_EQ(*num_restarted, 0);
    ASSERT_TRUE(restored.replay->Import(straight.replay->Export()).ok());
    EXPECT_EQ(BytesByName(restored.Export()), BytesByName(saved));

    straight.collector->TakeStats();
    straight.Run(25);
    restored.Run(25);
    EXPECT_EQ(BytesByName(restored.replay->Export()), BytesByName(straight.replay->Export()));
    EXPECT_EQ(BytesByName(restored.Export()), BytesByName(straight.Export()));
    const CollectStats got = restored.collector->TakeStats();
    const CollectStats expected = straight.collector->TakeStats();
    EXPECT_EQ(got.episodes.size(), expected.episodes.size());
    EXPECT_EQ(got.root_value_sum, expected.root_value_sum);
    EXPECT_GT(got.values.count, 0);
    EXPECT_EQ(got.values.count, expected.values.count);
    EXPECT_EQ(got.values.error, expected.values.error);
  }
}

// Also in the middle of held actions, which replay then holds in place of those that search chose.
TEST(CollectorStateTest, ExplorationGoesOnExactly) {
  SearchConfig search;
  search.epsilon = 0.5;
  search.epsilon_max_hold = 5;
  for (const int num_before : {1, 2, 3, 8}) {
    Walks straight(true, 3, search), restored(true, 3, search), greedy;
    straight.Run(num_before);
    ASSERT_TRUE(restored.collector->Import(straight.Export()).ok());
    ASSERT_TRUE(restored.replay->Import(straight.replay->Export()).ok());
    EXPECT_EQ(BytesByName(restored.Export()), BytesByName(straight.Export()));
    straight.Run(25);
    restored.Run(25);
    greedy.Run(num_before + 25);
    const auto stored = BytesByName(straight.replay->Export());
    EXPECT_EQ(BytesByName(restored.replay->Export()), stored);
    EXPECT_NE(BytesByName(greedy.replay->Export()), stored);
    const CollectStats stats = straight.collector->TakeStats();
    EXPECT_GT(stats.num_explored, stats.num_searches / 3);
    EXPECT_LT(stats.num_explored, stats.num_searches);
    EXPECT_EQ(greedy.collector->TakeStats().num_explored, 0);
  }
}

double SumOfRewards(const Walks& walks) {
  const auto rewards = ReadArray<float>(walks.replay->Export(), "replay.rewards");
  return std::accumulate(rewards->begin(), rewards->end(), 0.0);
}

// The bonus is in what replay stores and in no return; it goes on exactly.
TEST(CollectorStateTest, RewardsHoldTheBonusAndReturnsDoNot) {
  Walks straight(true, 3, {}, 0.5), plain;
  for (Walks* walks : {&straight, &plain}) walks->Run(30);
  Walks restored(true, 3, {}, 0.5);
  ASSERT_TRUE(restored.collector->Import(straight.Export()).ok());
  ASSERT_TRUE(restored.replay->Import(straight.replay->Export()).ok());
  for (Walks* walks : {&straight, &plain}) walks->Run(30);
  const CollectStats stats = straight.collector->TakeStats();
  EXPECT_GT(stats.bonus_sum, 1.0);
  EXPECT_NEAR(SumOfRewards(straight) - SumOfRewards(plain), stats.bonus_sum, 1e-3);
  const CollectStats plain_stats = plain.collector->TakeStats();
  ASSERT_EQ(stats.episodes.size(), plain_stats.episodes.size());
  for (size_t i = 0; i < stats.episodes.size(); ++i) {
    EXPECT_EQ(stats.episodes[i].episode_return, plain_stats.episodes[i].episode_return);
  }
  restored.Run(30);
  EXPECT_EQ(BytesByName(restored.Export()), BytesByName(straight.Export()));
  EXPECT_EQ(BytesByName(restored.replay->Export()), BytesByName(straight.replay->Export()));
}

// A state from before values were kept: episodes that were under way then are left out.
TEST(CollectorStateTest, EpisodesWhoseFirstValuesAreLostDoNotCount) {
  int64_t num_lost = 0;
  for (const int num_before : {1, 2, 3, 7}) {
    Walks straight, restored;
    straight.Run(num_before);
    std::vector<NamedArray> saved = straight.Export();
    std::erase_if(saved, [](const NamedArray& array) {
      return absl::EndsWith(array.name, ".root_values") || absl::EndsWith(array.name, ".rewards") ||
             absl::EndsWith(array.name, ".players");
    });
    ASSERT_TRUE(restored.collector->Import(saved).ok());
    straight.collector->TakeStats();
    // The longest walk has 9 steps.
    for (int i = 0; i < 9; ++i) {
      ASSERT_TRUE(straight.collector->Step(0).ok());
      ASSERT_TRUE(restored.collector->Step(0).ok());
    }
    const CollectStats whole = straight.collector->TakeStats();
    const CollectStats partial = restored.collector->TakeStats();
    EXPECT_EQ(partial.episodes.size(), whole.episodes.size());
    EXPECT_LE(partial.values.count, whole.values.count);
    num_lost += whole.values.count - partial.values.count;
    straight.Run(20);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(restored.collector->Step(0).ok());
    EXPECT_EQ(restored.collector->TakeStats().values.error,
              straight.collector->TakeStats().values.error);
  }
  EXPECT_GT(num_lost, 0);
}

TEST(CollectorStateTest, ImportReplacesWhatTheCollectorDidBefore) {
  Walks straight, other;
  straight.Run(6);
  other.Run(11);
  ASSERT_TRUE(other.collector->Step(0).ok());  // staged, and forgotten by the import
  ASSERT_TRUE(other.collector->Import(straight.Export()).ok());
  EXPECT_EQ(other.collector->staged().num_steps(), 0);
  ASSERT_TRUE(other.replay->Import(straight.replay->Export()).ok());
  straight.Run(9);
  other.Run(9);
  EXPECT_EQ(BytesByName(other.replay->Export()), BytesByName(straight.replay->Export()));
}

// A roll-back may lead to a checkpoint that was written before the first step.
TEST(CollectorStateTest, ImportOfAStateBeforeTheFirstStepBeginsEveryEpisodeAnew) {
  Walks fresh, used;
  const std::vector<NamedArray> saved = fresh.Export();
  used.Run(7);
  ASSERT_TRUE(used.collector->Import(saved).ok());
  ASSERT_TRUE(used.replay->Import(fresh.replay->Export()).ok());
  EXPECT_EQ(BytesByName(used.Export()), BytesByName(saved));
  fresh.Run(9);
  used.Run(9);
  EXPECT_EQ(BytesByName(used.replay->Export()), BytesByName(fresh.replay->Export()));
}

TEST(CollectorStateTest, EnvironmentsThatCannotBeSavedStartAgainAndAreCounted) {
  Walks before(/*can_save=*/false), after(/*can_save=*/false);
  before.Run(6);
  const auto num_restarted = after.collector->Import(before.Export());
  ASSERT_TRUE(num_restarted.ok()) << num_restarted.status();
  EXPECT_EQ(*num_restarted, 3);
  after.Run(1);
  std::set<uint64_t> used;
  for (const auto& log : before.logs) {
    for (const EnvCall& call : log) {
      if (call.is_reset) used.insert(call.seed);
    }
  }
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(after.logs[i][0].is_reset);
    EXPECT_FALSE(used.contains(after.logs[i][0].seed)) << "the same episode again";
    EXPECT_EQ(after.model.seen[i].step, 0);
  }
  // The replay buffer sees the new episodes begin.
  EXPECT_EQ(after.replay->stats().num_appended, 3);
}

TEST(CollectorStateTest, AnotherNumberOfEnvironmentsIsRefused) {
  Walks three, two(true, 2);
  three.Run(2);
  const auto imported = two.collector->Import(three.Export());
  EXPECT_EQ(imported.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(imported.status().message(),
            "the collector's state holds 3 environments, the config says env.num_collectors: 2");
}

TEST(CollectorStateTest, ArraysThatAreMissingOrDamagedAreNamed) {
  Walks before;
  before.Run(3);
  const std::vector<NamedArray> saved = before.Export();
  for (const char* name : {"counters", "episode_counts", "env1.step", "env2.actions"}) {
    std::vector<NamedArray> fewer = saved;
    std::erase_if(fewer, [&](const NamedArray& array) { return array.name == name; });
    const auto imported = Walks().collector->Import(fewer);
    EXPECT_EQ(imported.status().code(), absl::StatusCode::kNotFound) << name;
    EXPECT_THAT(std::string(imported.status().message()), HasSubstr(name));
  }
  std::vector<NamedArray> damaged = saved;
  for (NamedArray& array : damaged) {
    if (array.name != "env1.state") continue;
    array.bytes.resize(5);
    array.shape = {5};
  }
  const auto imported = Walks().collector->Import(damaged);
  EXPECT_EQ(imported.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(imported.status().message()), HasSubstr("environment 1"));
}

TEST(CollectorStateDeathTest, ExportWithStagedStepsIsACallersBug) {
  Walks walks;
  ASSERT_TRUE(walks.collector->Step(0).ok());
  EXPECT_DEATH(walks.collector->Export().IgnoreError(), "staged");
}

// What it keeps of an episode that is over, or of the time before an import, must not be read
// again.
TEST(CollectorStateTest, TheModelForgetsAnEnvironmentWhoseEpisodeBegins) {
  const std::set<int32_t> all = {0, 1, 2};
  Walks walks;
  walks.model.kept = all;
  walks.Run(1);
  EXPECT_THAT(walks.model.kept, IsEmpty());
  const std::vector<NamedArray> saved = walks.Export();

  std::set<int32_t> ended;
  for (int step = 0; step < 12; ++step) {
    walks.model.kept = all;
    walks.Run(1);
    for (int i = 0; i < 3; ++i) {
      const bool began = walks.logs[i].back().is_reset;
      EXPECT_EQ(walks.model.kept.contains(i), !began) << "environment " << i;
      if (began) ended.insert(i);
    }
  }
  EXPECT_EQ(ended, all);

  walks.model.kept = all;
  ASSERT_TRUE(walks.collector->Import(saved).ok());
  EXPECT_THAT(walks.model.kept, IsEmpty());
}

}  // namespace
}  // namespace lzero::collector_state_test
