// Two tasks of one model search in turn, each with its own cache: identical latents, other windows
// and numbers of actions, an episode that ends early, new weights between two searches. Each sees
// what it sees when it searches alone, to the last bit.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/update/task_weights.h"
#include "tests/family/unizero/any_engine.h"
#include "tests/train/train_testing.h"

namespace lzero::task_contexts_test {
namespace {

constexpr int64_t kObservationSize = 3;
constexpr int kNumEnvs = 2;
constexpr int kNumNodes = 6;
constexpr int kNumSteps = 8;  // of an episode; longer than either window

std::vector<ExperimentConfig> Tasks() {
  ExperimentConfig config = TinyConfig(), narrow = config, wide = config;
  narrow.name = "narrow";
  wide.name = "wide";
  wide.model.context_length = 10;
  config.tasks = {narrow, wide};
  return TaskConfigs(config);
}

WorldModelShape ShapeOf(size_t task) {
  return {{kObservationSize}, task == 0 ? int64_t{2} : int64_t{5}};
}

// Weights whose encoders are equal: the same observation has the same latent in both tasks.
TaskWeights MakeWeights(uint64_t seed) {
  TaskWeights weights = *TaskWeights::Create(
      Tasks(), std::vector<WorldModelShape>{ShapeOf(0), ShapeOf(1)}, seed, at::kCPU);
  const torch::NoGradGuard no_grad;
  torch::manual_seed(seed);
  for (const OwnedWeight& weight : weights.weights()) {
    at::Tensor tensor = weight.tensor;
    tensor.add_(at::randn_like(tensor), 0.1);  // heads begin at 0, and would tell nothing apart
  }
  for (const auto& entry : weights.view(0).named_parameters()) {
    if (!entry.key().starts_with("encoder.")) continue;
    weights.view(1).named_parameters()[entry.key()].copy_(entry.value());
  }
  return weights;
}

// Plays one task with an engine of its own, an operation a call: searches of two environments on
// the way through an episode, of which the first ends early, and new weights half-way.
class Player {
 public:
  Player(size_t task, TaskWeights* first, TaskWeights* second)
      : task_(task), shape_(ShapeOf(task)), second_(second), random_(7, "player") {
    EngineOptions options;
    options.model = Tasks()[task].model;
    options.shape = shape_;
    options.num_envs = kNumEnvs;
    options.search.num_simulations = kNumNodes;
    engine_ = AnyUniZero(options).value();
    EXPECT_TRUE(engine_->CopyWeightsFrom(NetworkWeights(first->view(task))).ok());
    for (int env = 0; env < kNumEnvs; ++env) Begin(env);
  }

  bool is_over() const { return operation_ == kNumSteps * (kNumNodes + 1); }

  void Next() {
    const int node = operation_++ % (kNumNodes + 1);
    if (node > 0) return Expand(node);
    const int step = operation_ / (kNumNodes + 1);
    if (step > 0) Advance();
    if (step == 3) Begin(0);
    if (step == 5) {
      ASSERT_TRUE(engine_->CopyWeightsFrom(NetworkWeights(second_->view(task_))).ok());
    }
    SearchRoots();
  }

  const std::vector<float>& seen() const { return seen_; }
  const std::vector<float>& root_values() const { return root_values_; }
  const KVCacheStats& stats() const { return engine_->cache().stats(); }

 private:
  struct Episode {
    std::vector<float> observations;
    std::vector<int32_t> actions;
  };

  void Observe(int env) {
    for (int64_t i = 0; i < kObservationSize; ++i) {
      episodes_[env].observations.push_back(static_cast<float>(random_.Normal()));
    }
  }
  void Begin(int env) {
    engine_->EndEpisode(EnvId(env));
    episodes_[env] = {};
    Observe(env);
  }
  void Advance() {
    for (int env = 0; env < kNumEnvs; ++env) {
      episodes_[env].actions.push_back(static_cast<int32_t>(random_.UniformInt(2)));
      Observe(env);
    }
  }

  void SearchRoots() {
    std::vector<Root> roots(kNumEnvs);
    for (int env = 0; env < kNumEnvs; ++env) {
      const Episode& episode = episodes_[env];
      const size_t past = std::min<size_t>(
          episode.actions.size(), static_cast<size_t>(NumRootPastSteps(Tasks()[task_].model)));
      roots[env].env = EnvId(env);
      roots[env].observations =
          absl::MakeConstSpan(episode.observations).last((past + 1) * kObservationSize);
      roots[env].actions = absl::MakeConstSpan(episode.actions).last(past);
      roots[env].step = static_cast<int64_t>(episode.actions.size());
    }
    std::vector<float> logits(kNumEnvs * shape_.num_actions), values(kNumEnvs);
    ASSERT_TRUE(
        engine_->InitialInference(roots, absl::MakeSpan(logits), absl::MakeSpan(values)).ok());
    Record({logits, values});
    root_values_ = values;
  }

  void Expand(int node) {
    const std::vector<NodeId> parents(kNumEnvs, NodeId(node - 1)), children(kNumEnvs, NodeId(node));
    std::vector<int32_t> actions;
    for (int env = 0; env < kNumEnvs; ++env) {
      actions.push_back(static_cast<int32_t>(random_.UniformInt(2)));
    }
    std::vector<float> rewards(kNumEnvs), discounts(kNumEnvs), values(kNumEnvs);
    std::vector<float> logits(kNumEnvs * shape_.num_actions);
    ASSERT_TRUE(engine_
                    ->RecurrentInference(parents, actions, children, absl::MakeSpan(rewards),
                                         absl::MakeSpan(discounts), absl::MakeSpan(values),
                                         absl::MakeSpan(logits))
                    .ok());
    Record({rewards, values, logits});
  }

  void Record(const std::vector<std::vector<float>>& outputs) {
    for (const auto& output : outputs) seen_.insert(seen_.end(), output.begin(), output.end());
  }

  size_t task_;
  WorldModelShape shape_;
  TaskWeights* second_;
  RandomStream random_;
  std::unique_ptr<UniZeroInference> engine_;
  Episode episodes_[kNumEnvs];
  int operation_ = 0;
  std::vector<float> seen_, root_values_;
};

void ExpectSameStats(const KVCacheStats& got, const KVCacheStats& expected) {
  EXPECT_EQ(got.stores, expected.stores);
  EXPECT_EQ(got.clones, expected.clones);
  EXPECT_EQ(got.hits, expected.hits);
  EXPECT_EQ(got.misses, expected.misses);
  EXPECT_EQ(got.stale_reads, expected.stale_reads);
  EXPECT_EQ(got.path_hops, expected.path_hops);
  EXPECT_EQ(got.bytes, expected.bytes);
}

TEST(TaskContextsTest, ContextsOfTasksNeverCross) {
  TaskWeights first = MakeWeights(1), second = MakeWeights(2);
  std::vector<std::unique_ptr<Player>> alone;
  for (size_t task : {0, 1}) {
    alone.push_back(std::make_unique<Player>(task, &first, &second));
    while (!alone[task]->is_over()) alone[task]->Next();
  }
  EXPECT_NE(alone[0]->stats().bytes, alone[1]->stats().bytes);  // each by its own sizes
  for (uint64_t trial = 0; trial < 5; ++trial) {
    RandomStream order(trial, "order");
    Player players[] = {{0, &first, &second}, {1, &first, &second}};
    while (!players[0].is_over() || !players[1].is_over()) {
      Player& next = players[order.UniformInt(2)];
      if (!next.is_over()) next.Next();
    }
    for (size_t task : {0, 1}) {
      EXPECT_EQ(players[task].seen(), alone[task]->seen()) << trial;
      ExpectSameStats(players[task].stats(), alone[task]->stats());
    }
  }
}

// The same observations, the same weights of everything shared: what differs is the window, once an
// episode is longer than the narrow one.
TEST(TaskContextsTest, TheLatentsAreTheSameAndTheWindowsAreNot) {
  TaskWeights weights = MakeWeights(3);
  const at::Tensor observation = at::randn({4, kObservationSize});
  EXPECT_TRUE(at::equal(dynamic_cast<WorldModel&>(weights.view(0)).Encode(observation),
                        dynamic_cast<WorldModel&>(weights.view(1)).Encode(observation)));
  {
    const torch::NoGradGuard no_grad;  // the same actions mean the same
    const at::Tensor actions = weights.view(0).named_parameters()["action_embedding"];
    weights.view(1).named_parameters()["action_embedding"].narrow(0, 0, 2).copy_(
        actions.narrow(0, 0, 2));
  }
  Player narrow(0, &weights, &weights), wide(1, &weights, &weights);
  const int64_t window = Tasks()[0].model.context_length;
  bool differs = false;
  for (int64_t step = 0; step < kNumSteps; ++step) {
    for (int i = 0; i <= kNumNodes; ++i) {
      narrow.Next();
      wide.Next();
    }
    const float got = narrow.root_values()[1], other = wide.root_values()[1];
    if (2 * step + 1 <= window) {  // tokens so far
      EXPECT_FLOAT_EQ(got, other) << step;
    } else {
      differs = differs || got != other;
    }
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace lzero::task_contexts_test
