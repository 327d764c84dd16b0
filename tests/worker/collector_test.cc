// The collector against a loop written by hand: own environments, own histories, the same agent.
#include "lzero/worker/collector.h"

#include <cmath>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "envs/entries.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/mcts/search.h"
#include "tests/worker/worker_testing.h"

namespace lzero::collector_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kNumEnvs = 3;
constexpr int64_t kMaxPast = 3;
constexpr double kDiscount = 0.5;

SearchConfig SmallSearch() {
  SearchConfig config;
  config.num_simulations = 6;
  config.temperature = 1.0;
  config.temperature_final = 0.0;
  config.temperature_decay_env_steps = 60;  // from drawn actions to the best ones within a test
  return config;
}

std::unique_ptr<Agent> MakeAgent(int num_actions, int num_envs = kNumEnvs) {
  return std::make_unique<Agent>(Search::Create(SmallSearch(), num_actions, num_envs).value(),
                                 AgentOptions{77, true});
}

std::unique_ptr<ReplayBuffer> MakeReplay(int observation_size, int num_actions) {
  ReplayConfig config;
  config.capacity = 2000;
  config.segment_length = 20;
  config.num_unroll_steps = 2;
  config.td_steps = 3;
  ReplayShape shape;
  shape.observation_size = observation_size;
  shape.num_actions = num_actions;
  shape.num_envs = kNumEnvs;
  auto made = ReplayBuffer::Create(config, shape);
  EXPECT_TRUE(made.ok()) << made.status();
  return std::move(made).value();
}

void ExpectEqualArrays(const std::vector<NamedArray>& got,
                       const std::vector<NamedArray>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].name, expected[i].name);
    EXPECT_EQ(got[i].bytes, expected[i].bytes) << got[i].name;
  }
}

// A collector of walks with everything it needs.
struct Walks {
  explicit Walks(uint64_t seed = 9, WalkOptions options = {}, int num_envs = kNumEnvs) {
    auto envs = MakeWalks(num_envs, &pool, &logs, options);
    collector =
        std::make_unique<Collector>(CollectorOptions{seed, kMaxPast, kDiscount}, std::move(envs),
                                    MakeAgent(WalkEnv::kNumActions, num_envs), &model);
  }

  void Run(int num_steps, int64_t env_steps = 0) {
    for (int i = 0; i < num_steps; ++i) {
      const absl::Status status = collector->Step(env_steps);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(collector->staged().MoveTo(*replay).ok());
    }
  }

  ThreadPool pool{1};
  ShownModel model;
  std::vector<std::vector<EnvCall>> logs;
  std::unique_ptr<Collector> collector;
  std::unique_ptr<ReplayBuffer> replay = MakeReplay(3, WalkEnv::kNumActions);
};

// The seeds of the episodes of one environment, in their order.
std::vector<uint64_t> SeedsOf(const std::vector<EnvCall>& log) {
  std::vector<uint64_t> seeds;
  for (const EnvCall& call : log) {
    if (call.is_reset) seeds.push_back(call.seed);
  }
  return seeds;
}

// Plays environments by hand with the seeds that a collector used: whole histories are kept and
// cut for every root.
class HandLoop {
 public:
  HandLoop(std::vector<std::unique_ptr<Env>> envs, std::vector<std::vector<uint64_t>> seeds,
           InferenceModel* model, ReplayBuffer* replay)
      : envs_(std::move(envs)),
        seeds_(std::move(seeds)),
        model_(model),
        replay_(replay),
        episodes_(envs_.size()),
        lasts_(envs_.size()),
        histories_(envs_.size()),
        actions_(envs_.size()),
        moves_(envs_.size()),
        agent_(MakeAgent(model->num_actions())) {
    for (size_t i = 0; i < envs_.size(); ++i) Begin(i);
  }

  void Step(int64_t env_steps) {
    std::vector<Root> roots;
    std::vector<std::vector<float>> pasts(envs_.size());
    for (size_t i = 0; i < envs_.size(); ++i) roots.push_back(MakeRoot(i, &pasts[i]));
    Decision decision;
    ASSERT_TRUE(agent_->Act(*model_, roots, ActMode::kCollect, env_steps, &decision).ok());
    for (size_t i = 0; i < envs_.size(); ++i) Advance(i, decision);
    stats.num_searches += static_cast<int64_t>(envs_.size());
    stats.depth_sum += decision.search.mean_depth * static_cast<double>(envs_.size());
  }

  CollectStats stats;

 private:
  struct Move {
    double root_value, reward;
    int to_play;
  };

  void Begin(size_t i) {
    const size_t episode = static_cast<size_t>(episodes_[i]++);
    ASSERT_LT(episode, seeds_[i].size()) << "the collector began no such episode";
    lasts_[i] = envs_[i]->Reset(seeds_[i][episode]);
    histories_[i] = {lasts_[i].observation};
    actions_[i].clear();
    moves_[i].clear();
    EXPECT_TRUE(replay_
                    ->BeginEpisode(EnvId(static_cast<int>(i)), lasts_[i].observation,
                                   lasts_[i].legal_action_mask, lasts_[i].to_play)
                    .ok());
  }

  Root MakeRoot(size_t i, std::vector<float>* past) {
    const size_t num_past = std::min<size_t>(actions_[i].size(), kMaxPast);
    for (size_t t = histories_[i].size() - 1 - num_past; t < histories_[i].size(); ++t) {
      past->insert(past->end(), histories_[i][t].begin(), histories_[i][t].end());
    }
    Root root;
    root.env = EnvId(static_cast<int>(i));
    root.observations = *past;
    root.actions = absl::MakeConstSpan(actions_[i]).last(num_past);
    root.step = static_cast<int64_t>(actions_[i].size());
    root.to_play = lasts_[i].to_play;
    root.legal_action_mask = lasts_[i].legal_action_mask;
    return root;
  }

  void Advance(size_t i, const Decision& decision) {
    const size_t num_actions = static_cast<size_t>(model_->num_actions());
    const auto policy =
        absl::MakeConstSpan(decision.search.action_weights).subspan(i * num_actions, num_actions);
    const auto next = envs_[i]->Step(Action::Discrete(decision.actions[i]));
    ASSERT_TRUE(next.ok()) << next.status();
    moves_[i].push_back({decision.search.root_values[i], next->reward, lasts_[i].to_play});
    lasts_[i] = *next;
    histories_[i].push_back(next->observation);
    actions_[i].push_back(decision.actions[i]);
    stats.root_value_sum += decision.search.root_values[i];
    for (const float share : policy) {
      if (share > 0.0f) stats.policy_entropy_sum -= share * std::log(static_cast<double>(share));
    }
    EXPECT_TRUE(
        replay_
            ->Append(EnvId(static_cast<int>(i)),
                     {decision.actions[i], next->reward, policy, decision.search.root_values[i],
                      next->observation, next->legal_action_mask, next->to_play, next->terminated,
                      next->truncated})
            .ok());
    if (!next->ended()) return;
    stats.episodes.push_back({next->episode_return, static_cast<int64_t>(actions_[i].size())});
    AddValueErrors(moves_[i], next->terminated);
    Begin(i);
  }

  // Every step against the whole sum of the rewards after it; where the episode was cut short,
  // against those before its last step and the value of that.
  void AddValueErrors(const std::vector<Move>& moves, bool terminated) {
    const size_t end = terminated ? moves.size() : moves.size() - 1;
    for (size_t t = 0; t < end; ++t) {
      double followed = 0.0;
      for (size_t s = t; s < moves.size(); ++s) {
        const double sign = moves[s].to_play == moves[t].to_play ? 1.0 : -1.0;
        followed += sign * std::pow(kDiscount, static_cast<double>(s - t)) *
                    (s < end ? moves[s].reward : moves[s].root_value);
      }
      stats.values.error += std::abs(moves[t].root_value - followed);
      ++stats.values.count;
    }
  }

  std::vector<std::unique_ptr<Env>> envs_;
  std::vector<std::vector<uint64_t>> seeds_;
  InferenceModel* model_;
  ReplayBuffer* replay_;
  std::vector<int64_t> episodes_;
  std::vector<TimeStep> lasts_;
  std::vector<std::vector<std::vector<float>>> histories_;
  std::vector<std::vector<int32_t>> actions_;
  std::vector<std::vector<Move>> moves_;
  std::unique_ptr<Agent> agent_;
};

void ExpectSameRoots(const std::vector<SeenRoot>& got, const std::vector<SeenRoot>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string where = absl::StrCat("root ", i);
    EXPECT_EQ(got[i].env, expected[i].env) << where;
    EXPECT_EQ(got[i].step, expected[i].step) << where;
    EXPECT_EQ(got[i].to_play, expected[i].to_play) << where;
    EXPECT_EQ(got[i].observations, expected[i].observations) << where;
    EXPECT_EQ(got[i].actions, expected[i].actions) << where;
    EXPECT_EQ(got[i].legal_action_mask, expected[i].legal_action_mask) << where;
  }
}

TEST(CollectorTest, StagesWhatEnvironmentsSteppedByHandGive) {
  constexpr int kNumSteps = 40;
  Walks walks;
  for (int i = 0; i < kNumSteps; ++i) walks.Run(1, i * kNumEnvs);

  std::vector<std::unique_ptr<Env>> envs;
  std::vector<std::vector<uint64_t>> seeds;
  for (int i = 0; i < kNumEnvs; ++i) {
    envs.push_back(std::make_unique<WalkEnv>(WalkOptions{}));
    seeds.push_back(SeedsOf(walks.logs[i]));
  }
  ShownModel model;
  const auto expected = MakeReplay(3, WalkEnv::kNumActions);
  HandLoop hand(std::move(envs), seeds, &model, expected.get());
  for (int i = 0; i < kNumSteps; ++i) hand.Step(i * kNumEnvs);

  ExpectSameRoots(walks.model.seen, model.seen);
  ExpectEqualArrays(walks.replay->Export(), expected->Export());
  const CollectStats stats = walks.collector->TakeStats();
  EXPECT_GT(stats.episodes.size(), 10u);
  ASSERT_EQ(stats.episodes.size(), hand.stats.episodes.size());
  for (size_t i = 0; i < stats.episodes.size(); ++i) {
    EXPECT_EQ(stats.episodes[i].episode_return, hand.stats.episodes[i].episode_return);
    EXPECT_EQ(stats.episodes[i].length, hand.stats.episodes[i].length);
  }
  EXPECT_EQ(stats.num_searches, kNumSteps * kNumEnvs);
  EXPECT_NEAR(stats.root_value_sum, hand.stats.root_value_sum, 1e-6);
  EXPECT_NEAR(stats.depth_sum, hand.stats.depth_sum, 1e-6);
  EXPECT_NEAR(stats.policy_entropy_sum, hand.stats.policy_entropy_sum, 1e-5);
  // Some episodes were truncated: not their last steps.
  EXPECT_EQ(stats.values.count, hand.stats.values.count);
  EXPECT_GT(stats.values.count, 20);
  EXPECT_LT(stats.values.count, kNumSteps * kNumEnvs);
  EXPECT_NEAR(stats.values.error, hand.stats.values.error, 1e-9);
  EXPECT_GT(stats.values.error, 1.0);
}

TEST(CollectorTest, PlaysTwoPlayerGamesFromTheMoversView) {
  constexpr int kNumSteps = 30;
  ThreadPool pool(1);
  const auto make_envs = [] {
    std::vector<std::unique_ptr<Env>> envs;
    for (int i = 0; i < kNumEnvs; ++i) {
      envs.push_back(TicTacToeEntry().factory(EnvOptions{}).value());
    }
    return envs;
  };
  const int observation_size = static_cast<int>(make_envs()[0]->spec().observation.size());
  ShownModel model({9, 1.0f, -1.0f});
  Collector collector({1, kMaxPast, kDiscount}, VectorEnv::Create(make_envs(), &pool).value(),
                      MakeAgent(9), &model);
  const auto replay = MakeReplay(observation_size, 9), expected = MakeReplay(observation_size, 9);
  ShownModel hand_model({9, 1.0f, -1.0f});
  // Seeds change nothing here: no random openings.
  HandLoop hand(make_envs(), std::vector(kNumEnvs, std::vector<uint64_t>(40, 5)), &hand_model,
                expected.get());
  for (int i = 0; i < kNumSteps; ++i) {
    ASSERT_TRUE(collector.Step(0).ok());
    hand.Step(0);
  }
  EXPECT_TRUE(collector.staged().MoveTo(*replay).ok());
  ExpectSameRoots(model.seen, hand_model.seen);
  ExpectEqualArrays(replay->Export(), expected->Export());
  EXPECT_GT(collector.stats().values.count, 40);
  EXPECT_EQ(collector.stats().values.count, hand.stats.values.count);
  EXPECT_NEAR(collector.stats().values.error, hand.stats.values.error, 1e-9);
}

TEST(CollectorTest, UnfinishedEpisodesSurviveFromCallToCall) {
  Walks together, apart;
  together.Run(25);
  for (int i = 0; i < 25; ++i) {
    apart.Run(1);
    apart.collector->TakeStats();
  }
  ExpectSameRoots(apart.model.seen, together.model.seen);
  // A root's step grows by one each call, and begins at 0 only where an episode ended.
  std::vector<int64_t> steps(kNumEnvs, -1);
  int num_begun = 0;
  for (const SeenRoot& root : apart.model.seen) {
    if (root.step != 0) {
      EXPECT_EQ(root.step, steps[root.env] + 1);
    } else {
      ++num_begun;
    }
    steps[root.env] = root.step;
  }
  const int num_ended = static_cast<int>(together.collector->stats().episodes.size());
  EXPECT_GE(num_begun, num_ended);
  EXPECT_LE(num_begun, num_ended + kNumEnvs);
}

TEST(CollectorTest, EveryEpisodeOfEveryEnvironmentHasItsOwnSeed) {
  std::set<uint64_t> seeds;
  size_t num_episodes = 0;
  for (const uint64_t seed : {1, 2}) {
    Walks walks(seed), again(seed);
    walks.Run(60);
    again.Run(60);
    for (int i = 0; i < kNumEnvs; ++i) {
      const std::vector<uint64_t> used = SeedsOf(walks.logs[i]);
      EXPECT_EQ(used, SeedsOf(again.logs[i]));
      seeds.insert(used.begin(), used.end());
      num_episodes += used.size();
    }
  }
  EXPECT_EQ(seeds.size(), num_episodes);
  EXPECT_GT(num_episodes, 40u);
}

TEST(CollectorTest, StatisticsBeginAnewWhenTheyAreTaken) {
  Walks walks;
  walks.Run(20);
  EXPECT_EQ(walks.collector->TakeStats().num_searches, 20 * kNumEnvs);
  const CollectStats rest = walks.collector->TakeStats();
  EXPECT_EQ(rest.num_searches, 0);
  EXPECT_THAT(rest.episodes, IsEmpty());
  EXPECT_EQ(rest.root_value_sum, 0.0);
  EXPECT_EQ(rest.depth_sum, 0.0);
  EXPECT_EQ(rest.policy_entropy_sum, 0.0);
  EXPECT_EQ(rest.values.error, 0.0);
  EXPECT_EQ(rest.values.count, 0);
}

TEST(CollectorTest, AnErrorNamesTheEnvironmentAndItsCause) {
  ThreadPool pool(1);
  std::vector<std::unique_ptr<Env>> envs;
  for (int i = 0; i < kNumEnvs; ++i) {
    envs.push_back(std::make_unique<WalkEnv>(WalkOptions{true, i == 1 ? 4 : -1}));
  }
  ShownModel model;
  Collector collector({0, kMaxPast}, VectorEnv::Create(std::move(envs), &pool).value(),
                      MakeAgent(WalkEnv::kNumActions), &model);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(collector.Step(0).ok());
  const absl::Status status = collector.Step(0);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(), "environment 1: the motor is stuck");
}

TEST(CollectorTest, AnInterruptedEpisodeIsCountedAndItsLastActionForgotten) {
  WalkOptions options;
  options.interrupt_at_call = 4;
  ThreadPool pool(1);
  std::vector<std::vector<EnvCall>> logs;
  ShownModel model;
  Collector collector({0, kMaxPast}, MakeWalks(2, &pool, &logs, options),
                      MakeAgent(WalkEnv::kNumActions), &model);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(collector.Step(0).ok());
  // Two environments, five calls each, the last one of each interrupted.
  EXPECT_EQ(collector.staged().num_steps(), 8);
  for (const auto& log : logs) EXPECT_TRUE(log.back().is_reset);
  const CollectStats stats = collector.TakeStats();
  EXPECT_EQ(stats.num_interrupted, 2);
  for (const FinishedEpisode& episode : stats.episodes) EXPECT_LT(episode.length, 5);
  ASSERT_TRUE(collector.Step(0).ok());
  EXPECT_EQ(collector.staged().num_steps(), 10);
  EXPECT_EQ(collector.TakeStats().num_interrupted, 0);
}

TEST(CollectorTest, AnErrorOfTheModelIsPassedOnAndNothingIsStaged) {
  Walks walks;
  walks.Run(1);
  walks.model.failure = absl::UnavailableError("no model today");
  const absl::Status status = walks.collector->Step(0);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no model today"));
  EXPECT_EQ(walks.collector->staged().num_steps(), 0);
}

}  // namespace
}  // namespace lzero::collector_test
