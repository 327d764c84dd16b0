// The evaluator against episodes played one by one by hand, and its choices at single positions.
#include "lzero/worker/evaluator.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "envs/boards/tictactoe.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/worker_testing.h"

namespace lzero {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kMaxPast = 3;

std::unique_ptr<Agent> MakeAgent(int num_actions, int num_envs) {
  SearchConfig config;
  config.num_simulations = 8;
  auto agent = Agent::Create(config, num_actions, num_envs, AgentOptions{3, true});
  EXPECT_TRUE(agent.ok()) << agent.status();
  return std::move(agent).value();
}

// An evaluator of walks with everything it needs.
struct Walks {
  explicit Walks(int num_envs, const ShownModelOptions& options = {}, WalkOptions walk = {},
                 KVCacheManager* cache = nullptr)
      : model(options) {
    evaluator =
        std::make_unique<Evaluator>(kMaxPast, MakeWalks(num_envs, &pool, &logs, walk),
                                    MakeAgent(WalkEnv::kNumActions, num_envs), &model, cache);
  }

  std::vector<EvaluatedEpisode> Run(absl::Span<const uint64_t> seeds) {
    auto episodes = evaluator->Run(seeds);
    EXPECT_TRUE(episodes.ok()) << episodes.status();
    return std::move(episodes).value();
  }

  ThreadPool pool{1};
  ShownModel model;
  std::vector<std::vector<EnvCall>> logs;
  std::unique_ptr<Evaluator> evaluator;
};

// One episode by hand: whole history, greedy actions.
EvaluatedEpisode PlayByHand(uint64_t seed) {
  WalkEnv env({});
  ShownModel model;
  const auto agent = MakeAgent(WalkEnv::kNumActions, 1);
  TimeStep last = env.Reset(seed);
  std::vector<std::vector<float>> observations = {last.observation};
  std::vector<int32_t> actions;
  double sum = 0.0;
  while (!last.ended()) {
    const size_t num_past = std::min<size_t>(actions.size(), kMaxPast);
    std::vector<float> past;
    for (size_t t = observations.size() - 1 - num_past; t < observations.size(); ++t) {
      past.insert(past.end(), observations[t].begin(), observations[t].end());
    }
    Root root;
    root.observations = past;
    root.actions = absl::MakeConstSpan(actions).last(num_past);
    root.step = static_cast<int64_t>(actions.size());
    root.legal_action_mask = last.legal_action_mask;
    Decision decision;
    EXPECT_TRUE(agent->Act(model, {root}, ActMode::kEvaluate, 0, &decision).ok());
    last = env.Step(Action::Discrete(decision.actions[0])).value();
    actions.push_back(decision.actions[0]);
    observations.push_back(last.observation);
    sum += last.reward;
  }
  return {seed, sum, static_cast<int64_t>(actions.size()), last.terminated, last.truncated};
}

void ExpectSame(const std::vector<EvaluatedEpisode>& got,
                const std::vector<EvaluatedEpisode>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].seed, expected[i].seed) << i;
    EXPECT_EQ(got[i].episode_return, expected[i].episode_return) << i;
    EXPECT_EQ(got[i].length, expected[i].length) << i;
    EXPECT_EQ(got[i].terminated, expected[i].terminated) << i;
    EXPECT_EQ(got[i].truncated, expected[i].truncated) << i;
  }
}

const std::vector<uint64_t>& Seeds() {
  static const auto* seeds = new std::vector<uint64_t>{5, 3, 3, 99, 12, 7, 1, 0, 1000000007, 4, 6};
  return *seeds;
}

TEST(EvaluatorTest, OneEpisodeASeedInSeedOrderWhateverTheNumberOfEnvironments) {
  std::vector<EvaluatedEpisode> expected;
  for (const uint64_t seed : Seeds()) expected.push_back(PlayByHand(seed));
  EXPECT_TRUE(
      std::any_of(expected.begin(), expected.end(), [](const auto& e) { return e.terminated; }));
  EXPECT_TRUE(
      std::any_of(expected.begin(), expected.end(), [](const auto& e) { return e.truncated; }));
  for (const int num_envs : {1, 2, 3, 11, 16}) {
    Walks walks(num_envs);
    ExpectSame(walks.Run(Seeds()), expected);
    size_t num_resets = 0;
    for (const auto& log : walks.logs) {
      num_resets +=
          std::count_if(log.begin(), log.end(), [](const EnvCall& c) { return c.is_reset; });
    }
    EXPECT_EQ(num_resets, Seeds().size());
  }
}

TEST(EvaluatorTest, AnInterruptedEpisodeIsPlayedAgainFromItsSeed) {
  std::vector<EvaluatedEpisode> expected;
  for (const uint64_t seed : Seeds()) expected.push_back(PlayByHand(seed));
  for (const int64_t call : {0, 1, 6}) {
    WalkOptions options;
    options.interrupt_at_call = call;
    Walks walks(2, {}, options);
    ExpectSame(walks.Run(Seeds()), expected);
    size_t num_resets = 0;
    for (const auto& log : walks.logs) {
      num_resets +=
          std::count_if(log.begin(), log.end(), [](const EnvCall& c) { return c.is_reset; });
    }
    EXPECT_EQ(num_resets, Seeds().size() + 2);
  }
}

TEST(EvaluatorTest, TheSameSeedsGiveTheSameEpisodesEveryTime) {
  Walks walks(3);
  const std::vector<EvaluatedEpisode> first = walks.Run(Seeds());
  walks.Run({8, 9});  // something else in between
  ExpectSame(walks.Run(Seeds()), first);
}

// Notes the numbers of the searches, which key what a model draws.
class NumberedModel : public InferenceModel {
 public:
  int num_actions() const override { return shown_.num_actions(); }
  void BeginSearch(const SearchRequest& request) override {
    numbers.push_back(request.search_index);
  }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    return shown_.InitialInference(roots, prior_logits, value);
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    return shown_.RecurrentInference(parents, actions, children, rewards, discounts, values,
                                     prior_logits);
  }

  std::vector<uint64_t> numbers;

 private:
  ShownModel shown_;
};

TEST(EvaluatorTest, SearchesAreCountedFromTheStartOfEveryRun) {
  ThreadPool pool(1);
  NumberedModel model;
  Evaluator evaluator(kMaxPast, MakeWalks(2, &pool), MakeAgent(WalkEnv::kNumActions, 2), &model,
                      nullptr);
  ASSERT_TRUE(evaluator.Run({5, 6, 7}).ok());
  const std::vector<uint64_t> first = std::exchange(model.numbers, {});
  ASSERT_GT(first.size(), 2u);
  EXPECT_EQ(first.front(), 0u);
  ASSERT_TRUE(evaluator.Run({5, 6, 7}).ok());
  EXPECT_EQ(model.numbers, first);
}

TEST(EvaluatorTest, NoSeedsNoEpisodes) {
  Walks walks(2);
  EXPECT_THAT(walks.Run({}), IsEmpty());
  EXPECT_THAT(walks.model.seen, IsEmpty());
}

TEST(EvaluatorTest, ReturnsOfGamesAreFromPlayerZerosView) {
  ThreadPool pool(1);
  std::vector<std::unique_ptr<Env>> envs;
  envs.push_back(TicTacToeBoard::CreateEnv(EnvOptions{}).value());
  ShownModel model({9, 1.0f, -1.0f});
  Evaluator evaluator(kMaxPast, VectorEnv::Create(std::move(envs), &pool).value(), MakeAgent(9, 1),
                      &model, nullptr);
  double sum = 0.0;  // of player 0, from the rewards of whoever moved
  int mover = 0;
  const auto on_step = [&](Env&, const TimeStep& step) {
    sum += mover == 0 ? step.reward : -step.reward;
    mover = step.to_play;
  };
  const auto episodes = evaluator.Run({1}, on_step);
  ASSERT_TRUE(episodes.ok()) << episodes.status();
  EXPECT_EQ(episodes->at(0).episode_return, sum);
  EXPECT_GE(episodes->at(0).length, 5);
}

TEST(EvaluatorTest, OnStepSeesEnvironmentZeroAfterItsResetsAndSteps) {
  Walks walks(2);
  std::vector<float> shown_steps;  // the step is the second number of an observation
  const auto on_step = [&](Env& env, const TimeStep& step) {
    EXPECT_EQ(env.spec().id, "walk");
    shown_steps.push_back(step.observation[1]);
  };
  ASSERT_TRUE(walks.evaluator->Run(Seeds(), on_step).ok());
  std::vector<float> expected;
  for (const EnvCall& call : walks.logs[0]) {
    expected.push_back(call.is_reset ? 0.0f : expected.back() + 1.0f);
  }
  EXPECT_EQ(shown_steps, expected);
}

TEST(EvaluatorTest, OnEpisodeSeesEveryEpisodeOnceAsItEnds) {
  Walks walks(3);
  std::vector<uint64_t> ended;
  int64_t num_steps = 0;
  std::vector<int64_t> at_step;
  const auto stop = [&] {
    ++num_steps;
    return false;
  };
  const auto on_episode = [&](const EvaluatedEpisode& episode) {
    EXPECT_TRUE(episode.terminated || episode.truncated);
    ended.push_back(episode.seed);
    at_step.push_back(num_steps);
  };
  const auto episodes = walks.evaluator->Run(Seeds(), {}, stop, on_episode);
  ASSERT_TRUE(episodes.ok());
  EXPECT_LT(at_step.front(), at_step.back());  // while the run goes on
  std::sort(ended.begin(), ended.end());
  std::vector<uint64_t> seeds = Seeds();
  std::sort(seeds.begin(), seeds.end());
  EXPECT_EQ(ended, seeds);
}

TEST(EvaluatorTest, StopEndsARunAndTheNextOneIsWhole) {
  Walks walks(2), undisturbed(2);
  int num_asked = 0;
  const auto stopped = walks.evaluator->Run(Seeds(), {}, [&num_asked] { return ++num_asked == 6; });
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(stopped.status().message(), "evaluation interrupted");
  EXPECT_EQ(num_asked, 6);
  ExpectSame(walks.Run(Seeds()), undisturbed.Run(Seeds()));
}

TEST(EvaluatorTest, AnErrorNamesTheEnvironmentAndItsCause) {
  Walks walks(1, {}, WalkOptions{true, 3});
  const auto failed = walks.evaluator->Run(Seeds());
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(failed.status().message(), "environment 0: the motor is stuck");
  Walks modelless(1);
  modelless.model.failure = absl::UnavailableError("no model today");
  EXPECT_EQ(modelless.evaluator->Run(Seeds()).status().code(), absl::StatusCode::kUnavailable);
}

// Single positions with nothing before them, of many walks at many steps.
std::vector<TimeStep> Positions(int count) {
  std::vector<TimeStep> positions;
  for (uint64_t seed = 0; static_cast<int>(positions.size()) < count; ++seed) {
    WalkEnv env({});
    TimeStep last = env.Reset(seed);
    for (size_t step = 0; step < seed % 3 && !last.ended(); ++step) {
      const auto legal = std::find(last.legal_action_mask.begin(), last.legal_action_mask.end(), 1);
      last =
          env.Step(Action::Discrete(static_cast<int32_t>(legal - last.legal_action_mask.begin())))
              .value();
    }
    if (!last.ended()) positions.push_back(last);
  }
  return positions;
}

TEST(EvaluatorTest, ThePolicyAloneChoosesTheLegalActionOfTheLargestLogit) {
  const std::vector<TimeStep> positions = Positions(50);
  Walks walks(4);
  const auto chosen = walks.evaluator->ChooseActions(positions, /*with_search=*/false);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  ASSERT_EQ(chosen->size(), positions.size());
  int num_overruled = 0;  // the largest logit of all is illegal
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::vector<float> logits = walks.model.Logits(positions[i].observation);
    int best = -1;
    for (int a = 0; a < WalkEnv::kNumActions; ++a) {
      if (positions[i].legal_action_mask[a] == 0) continue;
      if (best == -1 || logits[a] > logits[best]) best = a;
    }
    EXPECT_EQ(chosen->at(i), best) << i;
    num_overruled += *std::max_element(logits.begin(), logits.end()) > logits[best] ? 1 : 0;
  }
  EXPECT_GT(num_overruled, 5);
}

TEST(EvaluatorTest, SearchChoosesAtManyPositionsAsAtEachAlone) {
  const std::vector<TimeStep> positions = Positions(23);
  Walks walks(4);
  const auto chosen = walks.evaluator->ChooseActions(positions, /*with_search=*/true);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  ASSERT_EQ(chosen->size(), positions.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    ShownModel model;
    Root root;
    root.observations = positions[i].observation;
    root.legal_action_mask = positions[i].legal_action_mask;
    Decision decision;
    ASSERT_TRUE(MakeAgent(WalkEnv::kNumActions, 1)
                    ->Act(model, {root}, ActMode::kEvaluate, 0, &decision)
                    .ok());
    EXPECT_EQ(chosen->at(i), decision.actions[0]) << i;
    EXPECT_EQ(positions[i].legal_action_mask[chosen->at(i)], 1) << i;
  }
  for (const SeenRoot& root : walks.model.seen) {
    EXPECT_EQ(root.step, 0);
    EXPECT_THAT(root.actions, IsEmpty());
  }
}

// Five roots with pasts of their own, in batches of two.
TEST(EvaluatorTest, RootsMayBringTheirPast) {
  const std::vector<TimeStep> positions = Positions(5);
  std::vector<std::vector<float>> observations(5);
  std::vector<std::vector<int32_t>> actions(5);
  std::vector<Root> roots(5);
  for (int i = 0; i < 5; ++i) {
    for (int t = 0; t < i % 3; ++t) {
      observations[i].insert(observations[i].end(), {0.5f, static_cast<float>(t), 1.0f});
      actions[i].push_back(t);
    }
    observations[i].insert(observations[i].end(), positions[i].observation.begin(),
                           positions[i].observation.end());
    roots[i].env = EnvId(77);  // has no meaning
    roots[i].observations = observations[i];
    roots[i].actions = actions[i];
    roots[i].step = i % 3;
    roots[i].legal_action_mask = positions[i].legal_action_mask;
  }
  for (const bool with_search : {false, true}) {
    Walks walks(2);
    const auto chosen = walks.evaluator->ChooseRootActions(roots, with_search);
    ASSERT_TRUE(chosen.ok()) << chosen.status();
    // The answers of this model depend on the newest observation alone.
    EXPECT_EQ(*chosen, walks.evaluator->ChooseActions(positions, with_search).value());
    ASSERT_EQ(walks.model.seen.size(), 10u);
    for (int i = 0; i < 5; ++i) {
      const SeenRoot& root = walks.model.seen[i];
      EXPECT_EQ(root.env, i % 2);
      EXPECT_EQ(root.step, i % 3);
      EXPECT_EQ(root.observations, observations[i]);
      EXPECT_EQ(root.actions, actions[i]);
    }
  }
}

// Where values and rewards say nothing, search has only the prior to go by.
TEST(EvaluatorTest, SearchAndPolicyAgreeWhereAllValuesAreEqual) {
  const std::vector<TimeStep> positions = Positions(40);
  Walks walks(4, ShownModelOptions{WalkEnv::kNumActions, 0.0f, 0.9f});
  const auto by_search = walks.evaluator->ChooseActions(positions, true);
  const auto by_policy = walks.evaluator->ChooseActions(positions, false);
  ASSERT_TRUE(by_search.ok() && by_policy.ok());
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::vector<float> logits = walks.model.Logits(positions[i].observation);
    std::vector<float> legal;
    for (int a = 0; a < WalkEnv::kNumActions; ++a) {
      if (positions[i].legal_action_mask[a] != 0) legal.push_back(logits[a]);
    }
    std::sort(legal.rbegin(), legal.rend());
    // Near ties are left to the order of the visits.
    if (legal.size() > 1 && legal[0] - legal[1] < 0.6f) continue;
    EXPECT_EQ(by_search->at(i), by_policy->at(i)) << i;
  }
}

TEST(EvaluatorTest, NoPositionsNoActions) {
  Walks walks(2);
  EXPECT_THAT(walks.evaluator->ChooseActions({}, true).value(), IsEmpty());
  EXPECT_THAT(walks.evaluator->ChooseActions({}, false).value(), IsEmpty());
}

ShownModelOptions WithStates() {
  ShownModelOptions options;
  options.needs_state = true;
  return options;
}

// Each root of an episode carries what its environment saved there: the seed comes first in it.
TEST(EvaluatorTest, RootsCarryStatesForAModelThatAsks) {
  Walks with(2, WithStates()), without(2);
  ExpectSame(with.Run({4, 5, 6}), without.Run({4, 5, 6}));
  ASSERT_EQ(with.model.seen.size(), without.model.seen.size());
  for (const SeenRoot& root : with.model.seen) {
    WalkEnv env({});
    ASSERT_TRUE(env.Load(root.state).ok());
    uint64_t seed = 0;
    std::memcpy(&seed, root.state.data(), sizeof(seed));
    EXPECT_EQ(root.observations[root.observations.size() - 3], ToUnit(seed));
  }
  for (const SeenRoot& root : without.model.seen) EXPECT_EQ(root.state, "");
}

TEST(EvaluatorTest, PositionsBringTheirStateOrTheSearchSaysWhatItLacks) {
  Walks walks(2, WithStates());
  std::vector<TimeStep> positions = Positions(5);
  const auto refused = walks.evaluator->ChooseActions(positions, /*with_search=*/true);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.status().message(),
            "position 0 of 'walk' has no state, and this model searches with the environment "
            "itself; allowed: positions with what Env::Save gives there (TimeStep::state), or the "
            "policy alone");
  EXPECT_TRUE(walks.evaluator->ChooseActions(positions, /*with_search=*/false).ok());
  for (size_t i = 0; i < positions.size(); ++i) positions[i].state = absl::StrCat("state ", i);
  walks.model.seen.clear();
  ASSERT_TRUE(walks.evaluator->ChooseActions(positions, true).ok());
  ASSERT_EQ(walks.model.seen.size(), 5u);
  EXPECT_EQ(walks.model.seen[3].state, "state 3");
}

TEST(EvaluatorTest, AnErrorOfTheModelReachesTheCallerOfChooseActions) {
  Walks walks(2);
  walks.model.failure = absl::UnavailableError("no model today");
  for (const bool with_search : {false, true}) {
    const auto chosen = walks.evaluator->ChooseActions(Positions(3), with_search);
    EXPECT_THAT(std::string(chosen.status().message()), HasSubstr("no model today"));
  }
}

TEST(EvaluatorTest, TheCacheForgetsEveryEnvironmentThatIsUsedAnew) {
  KVCacheManagerConfig config;
  config.shape = {1, 4};
  config.context_length = 4;
  config.num_envs = 3;
  config.nodes_per_env = 9;
  const auto cache = KVCacheManager::Create(config).value();
  const KVCache empty = KVCache::Create(CacheStorage::kStatic, config.shape, 4, at::kCPU).value();
  const auto store_all = [&] {
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(cache->StoreInit(EnvId(i), 0, empty).ok());
  };
  const auto stored = [&] {
    std::vector<bool> found;
    for (int i = 0; i < 3; ++i) found.push_back(cache->HasInit(EnvId(i), 0));
    return found;
  };
  Walks walks(3, {}, {}, cache.get());
  store_all();
  walks.Run({4, 5});  // two seeds: the third environment stays out
  EXPECT_THAT(stored(), ElementsAre(false, false, true));
  for (const bool with_search : {false, true}) {
    store_all();
    ASSERT_TRUE(walks.evaluator->ChooseActions(Positions(1), with_search).ok());
    EXPECT_THAT(stored(), ElementsAre(false, true, true));
  }
}

}  // namespace
}  // namespace lzero
