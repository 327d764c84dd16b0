// States reach the roots of models that ask for them, and of no others.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/mcts/search.h"
#include "lzero/worker/collector.h"
#include "lzero/worker/episode_tracker.h"
#include "tests/worker/worker_testing.h"

namespace lzero::root_states_test {
namespace {

ShownModel StateModel() {
  ShownModelOptions options;
  options.needs_state = true;
  return ShownModel(options);
}

std::vector<Root> RootsOf(std::vector<int> envs) {
  std::vector<Root> roots(envs.size());
  for (size_t i = 0; i < envs.size(); ++i) roots[i].env = EnvId(envs[i]);
  return roots;
}

TEST(RootStatesTest, EachRootGetsWhatItsEnvironmentSaves) {
  ThreadPool pool(1);
  const auto envs = MakeWalks(3, &pool);
  for (int i = 0; i < 3; ++i) envs->Reset(EnvId(i), 20 + static_cast<uint64_t>(i));
  std::vector<std::string> states;
  const ShownModel model = StateModel();
  std::vector<Root> roots = RootsOf({2, 0});
  ASSERT_TRUE(FillRootStates(model, *envs, absl::MakeSpan(roots), &states).ok());
  EXPECT_EQ(roots[0].state, envs->env(EnvId(2)).Save().value());
  EXPECT_EQ(roots[1].state, envs->env(EnvId(0)).Save().value());
  EXPECT_NE(roots[0].state, roots[1].state);
}

TEST(RootStatesTest, AModelThatDoesNotAskGetsNone) {
  ThreadPool pool(1);
  WalkOptions options;
  options.can_save = false;
  const auto envs = MakeWalks(1, &pool, nullptr, options);
  envs->Reset(EnvId(0), 1);
  std::vector<std::string> states;
  std::vector<Root> roots = RootsOf({0});
  ASSERT_TRUE(FillRootStates(ShownModel(), *envs, absl::MakeSpan(roots), &states).ok());
  EXPECT_TRUE(roots[0].state.empty());
}

// An environment that has no Save of its own.
class Forgetful : public Env {
 public:
  const EnvSpec& spec() const override { return spec_; }
  TimeStep Reset(uint64_t) override { return {}; }
  absl::StatusOr<TimeStep> Step(const Action&) override { return TimeStep(); }

 private:
  EnvSpec spec_;
};

TEST(RootStatesTest, AnEnvironmentThatCannotBeSavedIsNamed) {
  ThreadPool pool(1);
  std::vector<std::unique_ptr<Env>> made;
  made.push_back(std::make_unique<Forgetful>());
  const auto envs = VectorEnv::Create(std::move(made), &pool).value();
  std::vector<std::string> states;
  std::vector<Root> roots = RootsOf({0});
  const absl::Status refused = FillRootStates(StateModel(), *envs, absl::MakeSpan(roots), &states);
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(refused.message()), testing::StartsWith("environment 0: "));
}

// What a model that simulates with the environment gets: the environment as it stands at the root.
TEST(RootStatesTest, RootsOfACollectorCarryStatesForAModelThatAsks) {
  ThreadPool pool(1);
  ShownModelOptions options;
  options.needs_state = true;
  ShownModel model(options);
  Collector collector(CollectorOptions{9, 3, 0.5}, MakeWalks(2, &pool),
                      std::make_unique<Agent>(Search::Create({}, WalkEnv::kNumActions, 2).value(),
                                              AgentOptions{7, true}),
                      &model);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(collector.Step(0).ok());
  ASSERT_EQ(model.seen.size(), 12u);
  for (const SeenRoot& root : model.seen) {
    int64_t seed_step_action[3] = {};
    ASSERT_GE(root.state.size(), sizeof(seed_step_action));
    std::memcpy(seed_step_action, root.state.data(), sizeof(seed_step_action));
    const size_t newest = root.observations.size() - 3;
    EXPECT_EQ(root.observations[newest], ToUnit(static_cast<uint64_t>(seed_step_action[0])));
    EXPECT_EQ(root.observations[newest + 1], static_cast<float>(seed_step_action[1]));
    EXPECT_EQ(root.observations[newest + 2], static_cast<float>(seed_step_action[2]));
  }
}

}  // namespace
}  // namespace lzero::root_states_test
