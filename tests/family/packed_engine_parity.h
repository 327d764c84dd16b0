// Packed engines beside eager ones, for the tests of each family: the same numbers for roots and
// along random paths, with any number of threads, and without an allocation once warm.
#ifndef LZERO_TESTS_FAMILY_PACKED_ENGINE_PARITY_H_
#define LZERO_TESTS_FAMILY_PACKED_ENGINE_PARITY_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/family/tensor_families.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/tensor/torch.h"
#include "tests/family/alphazero/env_scene.h"
#include "tests/support/torch/counted_allocations.h"

namespace lzero::packed_engine_parity {

inline constexpr int kNumEnvs = 5;
inline constexpr int kNumNodes = 12;

struct Case {
  std::string name;
  Family family;
  EncoderKind encoder;
  std::vector<int64_t> observation;
  int64_t channels = 16;
  int64_t action_dim = 0;
  LatentNorm latent_norm = LatentNorm::kLayerNorm;
  bool head_pooling = false;
  std::vector<int32_t> places = {};  // of actions, for a policy read cell by cell
};

inline EngineOptions OptionsOf(const Case& each) {
  EngineOptions options;
  options.model.family = each.family;
  options.model.encoder = each.encoder;
  options.model.encoder_channels = each.channels;
  options.model.head_pooling = each.head_pooling;
  options.model.policy_cells = !each.places.empty();
  options.model.encoder_width = 20;
  options.model.encoder_layers = 2;
  options.model.embed_dim = 16;
  options.model.head_dim = 24;
  options.model.support_size = 21;
  options.model.reward_support = {{"min", "-1"}, {"max", "2"}, {"bins", "16"}};
  options.model.latent_norm = each.latent_norm;
  options.model.latent_loss = LatentLoss::kNone;
  const bool is_box = each.action_dim > 0;
  options.shape = {each.observation, is_box ? 0 : 4, each.action_dim};
  if (each.family == Family::kAlphaZero) {
    options.shape.num_actions = each.observation[1] * each.observation[2];
  }
  options.shape.action_places = each.places;
  if (each.family == Family::kStochasticMuZero) options.shape.num_chance_outcomes = 6;
  if (is_box) options.search.num_sampled_actions = 7;
  options.num_envs = kNumEnvs;
  options.search.num_simulations = kNumNodes - 1;
  options.discount = 0.9;
  options.num_players = each.family == Family::kAlphaZero ? 2 : 1;
  return options;
}

inline std::shared_ptr<Network> RandomNetwork(const EngineOptions& options, int seed) {
  auto network =
      TensorFamilyOf(options.model).make_network(options.model, options.shape, 7, at::kCPU).value();
  const torch::NoGradGuard no_grad;
  torch::manual_seed(seed);
  for (at::Tensor& weight : network->parameters()) weight.add_(torch::randn_like(weight), 0.2);
  return network;
}

// TicTacToe or gomoku, by the size of the board: what AlphaZero simulates with.
inline EnvFactory BoardFactory(const EngineOptions& options) {
  const int64_t side = options.shape.observation_shape[1];
  if (side == 3) return NativeFactory("tictactoe");
  return [side] {
    EnvRegistry registry;
    RegisterAllEnvs(registry);
    EnvOptions env;
    env.board_size = side;
    return registry.Make("gomoku", env);
  };
}

inline std::unique_ptr<InferenceEngine> MakeEngine(EngineOptions options, Runner runner,
                                                   int64_t num_threads = 1) {
  options.inference.runner = runner;
  options.inference.num_threads = num_threads;
  const bool is_alphazero = options.model.family == Family::kAlphaZero;
  return lzero::MakeEngine(options, is_alphazero ? BoardFactory(options) : nullptr).value();
}

// Roots of a search: boards for AlphaZero, else random numbers.
class Scene {
 public:
  explicit Scene(const EngineOptions& options) : legal_(options.shape.num_actions, 1) {
    const auto size = static_cast<size_t>(options.shape.observation_size());
    RandomStream random(3, "scene");
    observations_.resize(kNumEnvs * size);
    for (float& number : observations_) number = static_cast<float>(random.Normal());
    if (options.model.family == Family::kAlphaZero) {
      const auto env = BoardFactory(options)().value();
      for (int i = 0; i < kNumEnvs; ++i) {
        const TimeStep step = env->Reset(1);
        positions_.Add(*env, i == 0 ? step : env->Step(Action::Discrete(i)).value());
      }
      roots_ = positions_.Roots();
      return;
    }
    for (int i = 0; i < kNumEnvs; ++i) {
      Root root;
      root.env = EnvId(i);
      root.observations = absl::MakeConstSpan(observations_).subspan(i * size, size);
      root.legal_action_mask = legal_;
      roots_.push_back(root);
    }
  }
  absl::Span<const Root> roots() const { return roots_; }

 private:
  std::vector<uint8_t> legal_;
  std::vector<float> observations_;
  Positions positions_;
  std::vector<Root> roots_;
};

// What an engine says of roots and along random paths; outputs are poisoned before every call.
struct Player {
  Player(InferenceEngine* engine, const EngineOptions& options)
      : engine(engine),
        width(std::max(engine->num_actions(), engine->num_chance_outcomes())),
        num_actions(NumSlots(options.search, options.shape)),
        logits(kNumEnvs * width),
        values(kNumEnvs),
        rewards(kNumEnvs),
        discounts(kNumEnvs),
        parents(kNumEnvs, kRootNode),
        children(kNumEnvs, kRootNode),
        actions(kNumEnvs) {}

  void Poison() {
    for (std::vector<float>* each : {&logits, &values, &rewards, &discounts}) {
      std::fill(each->begin(), each->end(), std::numeric_limits<float>::quiet_NaN());
    }
  }
  void RunRoots(absl::Span<const Root> roots) {
    Poison();
    engine->BeginSearch({});
    ASSERT_TRUE(
        engine->InitialInference(roots, absl::MakeSpan(logits), absl::MakeSpan(values)).ok());
  }
  // Actions that lead to it from nodes before it.
  void ChooseNode(int node) {
    for (int i = 0; i < kNumEnvs; ++i) {
      const int parent = (node * 7 + i * 3) % node / 2;
      parents[i] = NodeId(parent);
      children[i] = NodeId(node);
      depths[i][node] = depths[i][parent] + 1;
      // Along a path all differ, so that they are legal on a board.
      actions[i] = (i + depths[i][node]) % (num_actions < 9 ? 4 : 9);
    }
  }
  void RunNode(int node) {
    Poison();
    ChooseNode(node);
    ASSERT_TRUE(engine
                    ->RecurrentInference(parents, actions, children, absl::MakeSpan(rewards),
                                         absl::MakeSpan(discounts), absl::MakeSpan(values),
                                         absl::MakeSpan(logits))
                    .ok());
  }
  void Append(bool has_rewards, std::vector<float>* all) const {
    all->insert(all->end(), logits.begin(), logits.end());
    all->insert(all->end(), values.begin(), values.end());
    if (!has_rewards) return;
    all->insert(all->end(), rewards.begin(), rewards.end());
    all->insert(all->end(), discounts.begin(), discounts.end());
  }
  std::vector<float> Run(absl::Span<const Root> roots) {
    std::vector<float> all;
    RunRoots(roots);
    Append(false, &all);
    for (int node = 1; node < kNumNodes; ++node) {
      RunNode(node);
      Append(true, &all);
    }
    return all;
  }

  InferenceEngine* engine;
  int width, num_actions;
  std::vector<float> logits, values, rewards, discounts;
  std::vector<NodeId> parents, children;
  std::vector<int32_t> actions;
  int depths[kNumEnvs][kNumNodes] = {};
};

inline std::vector<float> RunOn(const EngineOptions& options, const Network& network, Runner runner,
                                int64_t num_threads = 1) {
  const auto engine = MakeEngine(options, runner, num_threads);
  EXPECT_EQ(engine->runner_name(), runner == Runner::kEager ? "eager" : "packed");
  const Scene scene(options);
  // Other weights first: they are replaced in place, and what they said must be forgotten.
  EXPECT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*RandomNetwork(options, 1))).ok());
  Player(engine.get(), options).Run(scene.roots());
  EXPECT_TRUE(engine->CopyWeightsFrom(NetworkWeights(network)).ok());
  return Player(engine.get(), options).Run(scene.roots());
}

inline void ExpectNumbersOfEager(const Case& each) {
  const EngineOptions options = OptionsOf(each);
  const auto network = RandomNetwork(options, 8);
  const std::vector<float> expected = RunOn(options, *network, Runner::kEager);
  const std::vector<float> packed = RunOn(options, *network, Runner::kAuto);
  ASSERT_EQ(packed.size(), expected.size());
  for (size_t i = 0; i < packed.size(); ++i) {
    if (std::isinf(expected[i])) {
      ASSERT_EQ(packed[i], expected[i]) << i;
    } else {
      ASSERT_NEAR(packed[i], expected[i], 2e-4 * std::max(1.0f, std::abs(expected[i]))) << i;
    }
  }
}

inline void ExpectThreadsChangeNoBit(const Case& each) {
  const EngineOptions options = OptionsOf(each);
  const auto network = RandomNetwork(options, 8);
  EXPECT_EQ(RunOn(options, *network, Runner::kPacked, 2),
            RunOn(options, *network, Runner::kPacked, 1));
}

inline void ExpectNoAllocationOnceWarm(const Case& each) {
  CountTorchAllocations();
  const EngineOptions options = OptionsOf(each);
  const Scene scene(options);
  for (const int64_t threads : {1, 2}) {
    const auto engine = MakeEngine(options, Runner::kPacked, threads);
    ASSERT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*RandomNetwork(options, 1))).ok());
    Player player(engine.get(), options);
    player.Run(scene.roots());
    const int64_t before = NumAllocations();
    player.RunRoots(scene.roots());
    for (int node = 1; node < kNumNodes; ++node) player.RunNode(node);
    EXPECT_EQ(NumAllocations() - before, 0) << threads << " threads";
  }
}

}  // namespace lzero::packed_engine_parity

#endif  // LZERO_TESTS_FAMILY_PACKED_ENGINE_PARITY_H_
