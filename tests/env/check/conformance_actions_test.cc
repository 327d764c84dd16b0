#include "lzero/env/check/conformance_actions.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/episode_env.h"

namespace lzero::conformance_actions_test {
namespace {

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
ConformanceFactory Make(Fault fault) {
  return [fault]() -> absl::StatusOr<std::unique_ptr<Env>> { return std::make_unique<E>(fault); };
}

template <typename E, typename Check>
std::string ProblemOf(Check check, Fault fault = {}) {
  const ConformanceFactory factory = Make<E>(fault);
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
}  // namespace lzero::conformance_actions_test
