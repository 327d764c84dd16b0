// The evaluator against episodes played one by one by hand.
#include "lzero/worker/evaluator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "envs/entries.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/evaluator_testing.h"

namespace lzero::evaluator_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Root values against the returns after them, term by term. In an episode that was cut short the
// last root value stands for the rest.
ValueSums CompareByHand(const std::vector<double>& rewards, const std::vector<double>& root_values,
                        bool terminated) {
  ValueSums sums;
  const size_t end = terminated ? rewards.size() : rewards.size() - 1;
  for (size_t t = 0; t < end; ++t) {
    double followed = 0.0;
    for (size_t i = t; i < end; ++i) followed += std::pow(kDiscount, i - t) * rewards[i];
    if (!terminated) followed += std::pow(kDiscount, end - t) * root_values[end];
    ++sums.count;
    sums.error += std::abs(root_values[t] - followed);
    sums.value += root_values[t];
    sums.followed += followed;
  }
  return sums;
}

// One episode by hand: whole history, greedy actions.
EvaluatedEpisode PlayByHand(uint64_t seed) {
  WalkEnv env({});
  ShownModel model;
  const auto agent = MakeAgent(WalkEnv::kNumActions, 1);
  TimeStep last = env.Reset(seed);
  std::vector<std::vector<float>> observations = {last.observation};
  std::vector<int32_t> actions;
  std::vector<double> rewards, root_values;
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
    rewards.push_back(last.reward);
    root_values.push_back(decision.search.root_values[0]);
    sum += last.reward;
  }
  return {seed,
          sum,
          static_cast<int64_t>(actions.size()),
          last.terminated,
          last.truncated,
          CompareByHand(rewards, root_values, last.terminated)};
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

TEST(EvaluatorTest, ALongEvaluationSaysHowFarItIs) {
  for (const int64_t cap : {0, 9}) {
    WalkOptions options;
    options.max_episode_steps = cap;
    Walks walks(2, {}, options);
    walks.evaluator->set_quiet_seconds(-1.0);  // a word at every step
    testing::internal::CaptureStderr();
    walks.Run({5, 3, 7});
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_THAT(told,
                HasSubstr("evaluation: 0 of 3 episodes played, the longest under way at step 1"));
    EXPECT_THAT(told, HasSubstr("evaluation: 2 of 3 episodes played"));
    EXPECT_EQ(told.find("env.max_episode_steps=N would end it") != told.npos, cap == 0);
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
  Evaluator evaluator(kMaxPast, kDiscount, MakeWalks(2, &pool), MakeAgent(WalkEnv::kNumActions, 2),
                      &model);
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
  envs.push_back(TicTacToeEntry().factory(EnvOptions{}).value());
  ShownModel model({9, 1.0f, -1.0f});
  Evaluator evaluator(kMaxPast, kDiscount, VectorEnv::Create(std::move(envs), &pool).value(),
                      MakeAgent(9, 1), &model);
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

}  // namespace
}  // namespace lzero::evaluator_test
