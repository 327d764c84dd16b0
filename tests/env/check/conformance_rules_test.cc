#include "lzero/env/check/conformance_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/episode_env.h"
#include "tests/env/walk_env.h"

namespace lzero::conformance_rules_test {
namespace {

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

// A recording of two steps, good by every rule.
EpisodeRecord Good() {
  TimeStep step;
  step.observation = {0.0f, 1.0f};
  step.legal_action_mask = {0, 1, 1};
  EpisodeRecord record;
  record.seed = 3;
  record.actions = {Action::Discrete(1), Action::Discrete(2)};
  record.steps = {step, step, step};
  record.steps[2].reward = 1.0f;
  record.steps[2].episode_return = 1.0;
  record.steps[2].terminated = true;
  record.steps[2].legal_action_mask = {0, 0, 0};
  return record;
}

TEST(ConformanceRulesTest, AGoodRecordingPasses) {
  const std::vector<EpisodeRecord> episodes = {Good()};
  EXPECT_TRUE(CheckSpec(WalkSpec()).ok());
  EXPECT_TRUE(CheckObservations(WalkSpec(), episodes).ok());
  EXPECT_TRUE(CheckMasksAndFlags(WalkSpec(), episodes).ok());
  EXPECT_TRUE(CheckStepCaps(WalkSpec(), episodes).ok());
  EXPECT_TRUE(CheckReturns(episodes).ok());
}

TEST(ConformanceRulesTest, SpecsMustMakeSense) {
  const auto message = [](auto&& change) {
    EnvSpec spec = WalkSpec();
    change(spec);
    return MessageOf(CheckSpec(spec));
  };
  EXPECT_EQ(message([](EnvSpec& spec) { spec.id.clear(); }), "the id is empty");
  EXPECT_EQ(message([](EnvSpec& spec) { spec.num_players = 0; }), "num_players is 0");
  EXPECT_EQ(message([](EnvSpec& spec) { spec.max_episode_steps = -2; }), "max_episode_steps is -2");
  EXPECT_EQ(message([](EnvSpec& spec) {
              spec.observation.shape = {2, 0};
            }),
            "the observation has an axis of length 0");
  EXPECT_EQ(message([](EnvSpec& spec) {
              spec.observation.low = {0, 0, 0};
            }),
            "observation has 3 low and 2 high bounds for 2 elements");
  EXPECT_EQ(message([](EnvSpec& spec) { spec.observation.low[1] = 2; }),
            "observation bound 1 is 2 .. 1");
  EXPECT_EQ(message([](EnvSpec& spec) { spec.observation.frame_stack = 0; }),
            "frame_stack is 0, no divisor of the observation's 2 elements");
  EXPECT_EQ(message([](EnvSpec& spec) { spec.observation.frame_stack = 3; }),
            "frame_stack is 3, no divisor of the observation's 2 elements");
  EXPECT_EQ(message([](EnvSpec& spec) { spec.observation.frame_stack = 2; }), "");
  EXPECT_EQ(message([](EnvSpec& spec) { spec.action.kind = ActionKind::kBox; }),
            "the action has no elements");
  EXPECT_EQ(message([](EnvSpec& spec) { spec.action.places = {0, 1}; }), "2 places for 3 actions");
  EXPECT_EQ(message([](EnvSpec& spec) { spec.symmetries = {Symmetry{{1, 0}, {2, 1, 0}}}; }), "");
  EXPECT_EQ(message([](EnvSpec& spec) {
              spec.symmetries = {Symmetry{{1, 0}, {2, 1, 0}}, Symmetry{{1, 0}, {2, 1, 1}}};
            }),
            "symmetry 1: action_image is no permutation: entry 2 is 1");
  EXPECT_EQ(message([](EnvSpec& spec) {
              spec.action = {ActionKind::kBox, 0, {1}, {}};
            }),
            "action has 1 low and 0 high bounds for 1 elements");
  EXPECT_EQ(message([](EnvSpec& spec) {
              spec.observation.low = {-1};
              spec.observation.high = {5};
            }),
            "");
}

TEST(ConformanceRulesTest, ObservationsMustFit) {
  const auto message = [](auto&& change) {
    EpisodeRecord record = Good();
    change(record.steps[1].observation);
    return MessageOf(CheckObservations(WalkSpec(), {record}));
  };
  EXPECT_EQ(message([](std::vector<float>& values) { values.push_back(0); }),
            "seed 3, step 1: the observation has 3 elements, the spec says 2");
  EXPECT_EQ(message([](std::vector<float>& values) { values[1] = -1.5f; }),
            "seed 3, step 1: observation[1] is -1.5, outside -1 .. 1");
  EXPECT_EQ(message([](std::vector<float>& values) { values[0] = std::nanf(""); }),
            "seed 3, step 1: observation[0] is nan");
}

TEST(ConformanceRulesTest, PicturesAreMadeOfBytes) {
  EnvSpec spec = WalkSpec();
  spec.observation.type = ObservationType::kUint8;
  EpisodeRecord record = Good();
  record.steps[2].observation = {3.0f / 255.0f, 1.0f};
  EXPECT_TRUE(CheckObservations(spec, {record}).ok());
  record.steps[2].observation[1] = 0.5f;
  EXPECT_EQ(MessageOf(CheckObservations(spec, {record})),
            "seed 3, step 2: observation[1] is 0.5, but the spec says uint8: k / 255, k of 0 to "
            "255");
}

TEST(ConformanceRulesTest, StackedFramesMoveOn) {
  EnvSpec spec = WalkSpec();
  EpisodeRecord record = Good();
  record.steps[0].observation = {7.0f, 1.0f};
  record.steps[1].observation = {1.0f, 3.0f};
  record.steps[2].observation = {3.0f, 3.0f};
  spec.observation.frame_stack = 2;
  EXPECT_TRUE(CheckFrameStack(spec, {record}).ok());
  record.steps[2].observation = {1.0f, 3.0f};
  EXPECT_EQ(MessageOf(CheckFrameStack(spec, {record})),
            "seed 3, step 2: the spec says frame_stack 2, but the first 1 frames of the "
            "observation are not the last 1 of the one before");
  spec.observation.frame_stack = 1;
  EXPECT_TRUE(CheckFrameStack(spec, {record}).ok());
  spec.observation.frame_stack = 2;
  record.steps[2].observation = {3.0f};  // another check says so
  EXPECT_TRUE(CheckFrameStack(spec, {record}).ok());
}

TEST(ConformanceRulesTest, MasksAndFlagsMustFit) {
  const auto message = [](size_t t, auto&& change) {
    EpisodeRecord record = Good();
    change(record.steps[t]);
    return MessageOf(CheckMasksAndFlags(WalkSpec(), {record}));
  };
  EXPECT_EQ(message(1, [](TimeStep& step) { step.legal_action_mask.pop_back(); }),
            "seed 3, step 1: the mask has 2 elements for 3 actions");
  EXPECT_EQ(message(1, [](TimeStep& step) { step.legal_action_mask[1] = 255; }),
            "seed 3, step 1: the mask holds something else than 0 and 1");
  EXPECT_EQ(message(1,
                    [](TimeStep& step) {
                      step.legal_action_mask = {0, 0, 0};
                    }),
            "seed 3, step 1: no action is legal");
  EXPECT_EQ(message(2,
                    [](TimeStep& step) {
                      step.legal_action_mask = {0, 1, 1};
                    }),
            "seed 3, step 2: 2 actions are legal after the end");
  EXPECT_EQ(message(1, [](TimeStep& step) { step.to_play = 1; }),
            "seed 3, step 1: to_play is 1 of 1 players");
  EXPECT_EQ(message(1, [](TimeStep& step) { step.reward = std::nanf(""); }),
            "seed 3, step 1: the reward is not a finite number");
  EXPECT_EQ(message(0, [](TimeStep& step) { step.truncated = true; }),
            "seed 3, step 0: Reset gives an episode that has ended");
  EXPECT_EQ(message(0, [](TimeStep& step) { step.episode_return = 1.0; }),
            "seed 3, step 0: Reset gives a reward or a return");
}

TEST(ConformanceRulesTest, ReturnsAreFromTheViewOfPlayerZero) {
  EpisodeRecord record = Good();
  record.steps[1].to_play = 1;  // player 1 made the last move
  EXPECT_EQ(MessageOf(CheckReturns({record})),
            "seed 3, step 2: episode_return is 1, the rewards sum to -1");
  record.steps[2].episode_return = -1.0;
  EXPECT_TRUE(CheckReturns({record}).ok());
}

TEST(ConformanceRulesTest, CapsAreExact) {
  EnvSpec spec = WalkSpec();
  EpisodeRecord record = Good();
  spec.max_episode_steps = 1;
  EXPECT_EQ(MessageOf(CheckStepCaps(spec, {record})), "seed 3, step 1: goes on at the step cap 1");
  spec.max_episode_steps = 9;
  record.steps[2].truncated = true;
  EXPECT_EQ(MessageOf(CheckStepCaps(spec, {record})),
            "seed 3, step 2: truncated away from the step cap 9");
  spec.max_episode_steps = 0;  // a worker may truncate after a crash
  EXPECT_TRUE(CheckStepCaps(spec, {record}).ok());
  spec.longest_episode = 1;
  EXPECT_EQ(MessageOf(CheckStepCaps(spec, {record})),
            "seed 3, step 1: goes on after 1 steps, its longest_episode");
}

TEST(ConformanceRulesTest, OfVeryManyActionsSomeAreTried) {
  EnvSpec spec = WalkSpec();
  spec.action.num_actions = 1000;
  TimeStep step;
  step.legal_action_mask.assign(1000, 0);
  step.legal_action_mask[3] = 1;
  const std::vector<Action> bad = BadActionsFor(spec, step);
  ASSERT_EQ(bad.size(), 5 + 334 - 1u);  // every third
  EXPECT_EQ(bad[5].index, 0);
  EXPECT_EQ(bad[6].index, 6);
  EXPECT_EQ(bad.back().index, 999);
}

TEST(ConformanceRulesTest, BadActionsCoverRangeKindAndLegality) {
  std::vector<int32_t> indices;
  for (const Action& action : BadActionsFor(WalkSpec(), Good().steps[0])) {
    if (action.values.empty()) indices.push_back(action.index);
  }
  EXPECT_EQ(indices, (std::vector<int32_t>{-1, 3, std::numeric_limits<int32_t>::min(),
                                           std::numeric_limits<int32_t>::max(), 0}));
  EnvSpec box = WalkSpec();
  box.action = {ActionKind::kBox, 0, {-1.0f, 2.0f}, {1.0f, 3.0f}};
  const std::vector<Action> bad = BadActionsFor(box, TimeStep());
  EXPECT_EQ(bad.size(), 4u);
  for (const Action& action : bad) EXPECT_FALSE(CheckAction(box, action, {}).ok());
}

using testing::HasSubstr;

// What a faulty environment does wrong.
struct Fault {
  double first_probability = 0.25;
  int32_t listed = 1;  // the second outcome of the list
  bool forgets_outcome = false;
  float beyond_shift = 0.0f;  // added to the position by an action beyond its bound
};

// A walk pushed on by chance: outcome 0 (a quarter) adds 1, outcome 1 adds 2; five steps.
class Drift : public EpisodeEnv {
 public:
  explicit Drift(Fault fault = {}) : EpisodeEnv(MakeSpec()), fault_(fault) {}

  static EnvSpec MakeSpec() {
    EnvSpec spec;
    spec.id = "drift";
    spec.observation = {{1}, {0.0f}, {100.0f}};
    spec.action.num_actions = 2;
    spec.max_episode_steps = 5;
    spec.deterministic = false;
    spec.num_chance_outcomes = 3;
    return spec;
  }

 protected:
  void StartGame(uint64_t seed) override {
    position_ = 0;
    random_ = std::make_unique<RandomStream>(seed, "drift");
  }
  Outcome Advance(const Action& action) override {
    return AdvanceWith(action, random_->Uniform() < 0.25 ? 0 : 1);
  }
  Outcome AdvanceWith(const Action& action, int32_t chance_outcome) override {
    position_ += static_cast<float>(action.index + 1 + chance_outcome);
    return {0.0f, false, fault_.forgets_outcome ? -1 : chance_outcome};
  }
  std::vector<ChanceOutcome> GameChances(const Action&) const override {
    return {{0, fault_.first_probability}, {fault_.listed, 0.75}};
  }
  void Observe(absl::Span<float> observation) const override { observation[0] = position_; }

 private:
  Fault fault_;
  float position_ = 0;
  std::unique_ptr<RandomStream> random_;
};

// A point pushed by a number from -1 to 1, two values.
class Push : public EpisodeEnv {
 public:
  explicit Push(Fault fault = {}) : EpisodeEnv(MakeSpec()), fault_(fault) {}

  static EnvSpec MakeSpec() {
    EnvSpec spec;
    spec.id = "push";
    spec.observation = {{1}, {-100.0f}, {100.0f}};
    spec.action = {ActionKind::kBox, 0, {-1.0f, 0.0f}, {1.0f, 2.0f}};
    spec.max_episode_steps = 5;
    return spec;
  }

 protected:
  void StartGame(uint64_t) override { position_ = 0; }
  Outcome Advance(const Action& action) override {
    position_ += ClippedValue(action, 0) + ClippedValue(action, 1);
    if (action.values[1] > 2.0f) position_ += fault_.beyond_shift;
    return {-action.values[0] * action.values[0], false};
  }
  void Observe(absl::Span<float> observation) const override { observation[0] = position_; }

 private:
  Fault fault_;
  float position_ = 0;
};

template <typename E>
EnvFactory Make(Fault fault) {
  return [fault]() -> absl::StatusOr<std::unique_ptr<Env>> { return std::make_unique<E>(fault); };
}

template <typename E, typename Check>
std::string ProblemOf(Check check, Fault fault = {}) {
  const EnvFactory factory = Make<E>(fault);
  const auto env = *factory();
  std::vector<EpisodeRecord> episodes;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    episodes.push_back(*PlayRandomEpisode(*env, seed, 100));
  }
  return std::string(check(factory, env->spec(), episodes).message());
}

TEST(ConformanceActionsTest, TakesChanceThatHolds) {
  EXPECT_EQ(ProblemOf<Drift>(CheckChanceOutcomes), "");
  EXPECT_EQ(ProblemOf<Push>(CheckChanceOutcomes), "");  // has none
}

TEST(ConformanceActionsTest, FindsChanceThatDoesNot) {
  Fault fault;
  fault.first_probability = 0.5;
  EXPECT_THAT(ProblemOf<Drift>(CheckChanceOutcomes, fault), HasSubstr("sum to 1.25"));
  fault = {};
  fault.listed = 0;
  EXPECT_THAT(ProblemOf<Drift>(CheckChanceOutcomes, fault), HasSubstr("listed twice"));
  fault.listed = 2;
  EXPECT_THAT(ProblemOf<Drift>(CheckChanceOutcomes, fault), HasSubstr("which is not listed"));
  fault.listed = 3;
  EXPECT_THAT(ProblemOf<Drift>(CheckChanceOutcomes, fault), HasSubstr("chance outcome 3 of 3"));
  fault = {};
  fault.forgets_outcome = true;
  EXPECT_THAT(ProblemOf<Drift>(CheckChanceOutcomes, fault), HasSubstr("drew outcome -1"));
}

TEST(ConformanceActionsTest, TakesClippingWhateverTheRewardCounts) {
  EXPECT_EQ(ProblemOf<Push>(CheckClipping), "");
  EXPECT_EQ(ProblemOf<Drift>(CheckClipping), "");  // discrete
}

// 2.4e-7 is one unit in the last place of a position from 2 to 4.
TEST(ConformanceActionsTest, TakesAnotherRoundingOfAClippedAction) {
  Fault fault;
  fault.beyond_shift = 2.4e-7f;
  EXPECT_EQ(ProblemOf<Push>(CheckClipping, fault), "");
}

TEST(ConformanceActionsTest, FindsAnActionThatIsNotClipped) {
  for (const float shift : {0.5f, -0.5f, 1e-5f}) {
    Fault fault;
    fault.beyond_shift = shift;
    EXPECT_THAT(ProblemOf<Push>(CheckClipping, fault),
                HasSubstr("seed 0, step 1: an action beyond its bound: observation[0] is "));
  }
}

}  // namespace
}  // namespace lzero::conformance_rules_test
