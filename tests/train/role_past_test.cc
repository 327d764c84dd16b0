// The roles that build.cc puts together keep as many past steps as a rebuilt root needs: after
// every change of weights what they do equals what a search does that sees the whole episode and
// passes it through the transformer anew for every node.
#include <map>

#include "gtest/gtest.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/mcts/search.h"
#include "lzero/nn/threads.h"
#include "lzero/train/build.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/train/train_testing.h"

namespace lzero::role_past_test {
namespace {

constexpr int kObservationSize = 3;
constexpr int kNumActions = 2;
constexpr int kEpisodeSteps = 20;

// Every observation is drawn from the seed and all actions so far; the return of an episode tells
// its actions apart.
class WanderingEnv : public EpisodeEnv {
 public:
  WanderingEnv() : EpisodeEnv(Spec()) {}

 protected:
  void StartGame(uint64_t seed) override {
    place_ = StreamKey(seed, "wandering");
    pay_ = 1.0f;
  }
  Outcome Advance(const Action& action) override {
    place_ = StreamKey(place_, "step", static_cast<uint64_t>(action.index));
    pay_ /= 2.0f;
    return {pay_ * static_cast<float>(action.index), false};
  }
  void Observe(absl::Span<float> observation) const override {
    RandomStream random(place_, "observation");
    for (float& value : observation) value = static_cast<float>(random.Normal());
  }

 private:
  static EnvSpec Spec() {
    EnvSpec spec;
    spec.id = "wandering";
    spec.observation = {{kObservationSize}, {-100.0f}, {100.0f}};
    spec.action.num_actions = kNumActions;
    spec.max_episode_steps = kEpisodeSteps;
    return spec;
  }
  uint64_t place_ = 0;
  float pay_ = 1.0f;
};

EnvRegistry WanderingRegistry() {
  EnvRegistry registry;
  registry.Register(
      {"wandering", "for tests", [](const EnvOptions&) -> absl::StatusOr<std::unique_ptr<Env>> {
         return std::make_unique<WanderingEnv>();
       }});
  return registry;
}

ExperimentConfig WanderingConfig() {
  ExperimentConfig config = TinyConfig();
  config.env.id = "wandering";
  config.env.max_episode_steps = 0;
  config.model.num_layers = 3;  // L (W - 1) / 2 = 4.5 past steps count, W / 2 = 2 are in a window
  config.model.context_length = 4;
  return config;
}

// Answers a search by full passes over the roots' whole pasts: no cache, no window of its own.
class FullPassModel : public InferenceModel {
 public:
  explicit FullPassModel(double discount) : discount_(discount) {}
  void SetWeights(std::shared_ptr<WorldModel> model) { model_ = std::move(model); }

  int num_actions() const override { return kNumActions; }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    histories_.clear();
    for (size_t i = 0; i < roots.size(); ++i) {
      EXPECT_EQ(static_cast<int64_t>(roots[i].actions.size()), roots[i].step);
      longest_ = std::max(longest_, roots[i].step);
      History history;
      history.actions.assign(roots[i].actions.begin(), roots[i].actions.end());
      for (size_t begin = 0; begin < roots[i].observations.size(); begin += kObservationSize) {
        const auto observation = roots[i].observations.subspan(begin, kObservationSize);
        history.observations.emplace_back(observation.begin(), observation.end());
      }
      history.imagined[0] = {};
      histories_.push_back(std::move(history));
      value[i] = Answer(i, 0, &prior_logits[i * kNumActions]).value;
    }
    return absl::OkStatus();
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    for (size_t i = 0; i < parents.size(); ++i) {
      std::vector<int32_t> path = histories_[i].imagined.at(parents[i].value);
      path.push_back(actions[i]);
      histories_[i].imagined[children[i].value] = std::move(path);
      const FullPass pass = Answer(i, children[i].value, &prior_logits[i * kNumActions]);
      rewards[i] = pass.reward;
      values[i] = pass.value;
      discounts[i] = static_cast<float>(discount_);
    }
    return absl::OkStatus();
  }
  int64_t longest() const { return longest_; }

 private:
  struct History {
    std::vector<std::vector<float>> observations;
    std::vector<int32_t> actions;
    std::map<int64_t, std::vector<int32_t>> imagined;  // by node
  };

  FullPass Answer(size_t row, int64_t node, float* logits) const {
    const History& history = histories_[row];
    FullPass pass =
        RunFullPass(*model_, history.observations, history.actions, history.imagined.at(node));
    std::copy(pass.logits.begin(), pass.logits.end(), logits);
    return pass;
  }

  double discount_;
  std::shared_ptr<WorldModel> model_;
  std::vector<History> histories_;
  int64_t longest_ = 0;
};

std::unique_ptr<VectorEnv> WanderingEnvs(int64_t num_envs, ThreadPool* pool) {
  std::vector<std::unique_ptr<Env>> envs;
  for (int64_t i = 0; i < num_envs; ++i) envs.push_back(std::make_unique<WanderingEnv>());
  return VectorEnv::Create(std::move(envs), pool).value();
}

std::unique_ptr<Agent> MakeAgent(const ExperimentConfig& config, int64_t num_envs, uint64_t seed) {
  return std::make_unique<Agent>(
      Search::Create(config.search, kNumActions, static_cast<int>(num_envs)).value(),
      AgentOptions{seed, true});
}

std::vector<NamedArray> TakeSteps(Collector& collector, const ExperimentConfig& config) {
  const EnvSpec spec = BuildEnvSpec(config, WanderingRegistry()).value();
  const auto replay = ReplayBuffer::Create(config.replay, BuildReplayShape(config, spec)).value();
  EXPECT_TRUE(collector.staged().MoveTo(*replay).ok());
  return replay->Export();
}

TEST(RolePastTest, ACollectorKeepsThePastThatItsRootsNeed) {
  SetTensorThreads(1);
  const ExperimentConfig config = WanderingConfig();
  const EnvRegistry registry = WanderingRegistry();
  ThreadPool pool(1);
  const CollectorRole role = BuildCollector(config, registry, &pool).value();
  FullPassModel model(config.replay.discount);
  const uint64_t seed = StreamKey(static_cast<uint64_t>(config.seed), "collector");
  const int64_t num_envs = config.env.num_collectors;
  Collector expected({seed, kEpisodeSteps}, WanderingEnvs(num_envs, &pool),
                     MakeAgent(config, num_envs, seed), &model);
  for (uint64_t step = 0; step < 15; ++step) {
    const auto weights = RandomModel(config.model, {{kObservationSize}, kNumActions}, step);
    // So that every root is rebuilt from its past.
    EXPECT_TRUE(role.inference->CopyWeightsFrom(NetworkWeights(*weights)).ok());
    model.SetWeights(weights);
    ASSERT_TRUE(role.collector->Step(0).ok());
    ASSERT_TRUE(expected.Step(0).ok());
  }
  EXPECT_EQ(model.longest(), 14);
  EXPECT_EQ(UniZeroOf(role).root_stats().continued, 0);
  const auto got = TakeSteps(*role.collector, config), wanted = TakeSteps(expected, config);
  EXPECT_EQ(*ReadArray<int32_t>(got, "replay.actions"),
            *ReadArray<int32_t>(wanted, "replay.actions"));
  for (const char* name : {"replay.root_values", "replay.policies"}) {
    const std::vector<float> a = *ReadArray<float>(got, name), b = *ReadArray<float>(wanted, name);
    ASSERT_EQ(a.size(), b.size());
    // Weights that differ by one unit in the last place move the most sensitive of them by 8e-5.
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4) << name << " " << i;
  }
}

TEST(RolePastTest, AnEvaluatorKeepsThePastThatItsRootsNeed) {
  SetTensorThreads(1);
  const ExperimentConfig config = WanderingConfig();
  const EnvRegistry registry = WanderingRegistry();
  ThreadPool pool(1);
  const int64_t simulations = config.search.num_simulations;
  const EvaluatorRole role = BuildEvaluator(config, registry, 2, simulations, &pool).value();
  FullPassModel model(config.replay.discount);
  Evaluator expected(
      kEpisodeSteps, config.replay.discount, WanderingEnvs(2, &pool),
      MakeAgent(config, 2, StreamKey(static_cast<uint64_t>(config.seed), "evaluator")), &model);
  for (uint64_t round = 0; round < 3; ++round) {
    const auto weights = RandomModel(config.model, {{kObservationSize}, kNumActions}, 50 + round);
    EXPECT_TRUE(role.inference->CopyWeightsFrom(NetworkWeights(*weights)).ok());
    model.SetWeights(weights);
    const auto forget = [&role](Env&, const TimeStep&) { UniZeroOf(role).cache().Reset(); };
    const std::vector<uint64_t> seeds = {round, round + 10};
    const auto got = role.evaluator->Run(seeds, forget).value();
    const auto wanted = expected.Run(seeds).value();
    for (size_t i = 0; i < seeds.size(); ++i) {
      EXPECT_EQ(got[i].episode_return, wanted[i].episode_return) << "round " << round;
    }
  }
  EXPECT_EQ(model.longest(), kEpisodeSteps - 1);
  EXPECT_EQ(UniZeroOf(role).root_stats().continued, 0);
}

}  // namespace
}  // namespace lzero::role_past_test
