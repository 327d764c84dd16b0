// The engine of AlphaZero: what the network says of positions reaches the search under their rules,
// and what stands behind the end of an episode. See also alphazero_search_test.cc.
#include "lzero/family/alphazero/packed/alphazero_engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/family/alphazero/alphazero_network.h"
#include "lzero/family/alphazero/packed/env_simulator.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/mcts/search.h"
#include "lzero/tensor/torch.h"
#include "tests/family/alphazero/env_scene.h"

namespace lzero::alphazero_engine_test {
namespace {

using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Every weight drawn anew: fresh ones have last layers of zero.
std::shared_ptr<AlphaZeroNetwork> RandomNetwork(const EngineOptions& options, uint64_t seed) {
  auto network = AlphaZeroNetwork::Create(options.model, options.shape, seed).value();
  const torch::NoGradGuard no_grad;
  torch::manual_seed(seed);
  for (at::Tensor& weight : network->parameters()) weight.add_(at::randn_like(weight), 0.3);
  return network;
}

struct Said {
  float value;
  std::vector<float> logits;
};

// What `network` says of one position alone.
Said Ask(const AlphaZeroNetwork& network, const TimeStep& position) {
  const torch::NoGradGuard no_grad;
  const at::Tensor latent = network.Encode(at::tensor(position.observation).unsqueeze(0));
  const at::Tensor logits = network.PolicyLogits(latent).contiguous();
  Said said = {network.DecodeValues(network.ValueLogits(latent)).item<float>(), {}};
  said.logits.assign(logits.const_data_ptr<float>(),
                     logits.const_data_ptr<float>() + logits.numel());
  for (size_t a = 0; a < said.logits.size(); ++a) {
    if (position.legal_action_mask[a] == 0) said.logits[a] = -kInfinity;
  }
  return said;
}

void ExpectSame(const Said& got, const Said& expected) {
  EXPECT_NEAR(got.value, expected.value, 1e-5f);
  for (size_t a = 0; a < expected.logits.size(); ++a) {
    if (std::isinf(expected.logits[a])) {
      EXPECT_EQ(got.logits[a], -kInfinity) << a;
    } else {
      EXPECT_NEAR(got.logits[a], expected.logits[a], 1e-5f) << a;
    }
  }
}

// Outputs of one row of a step.
struct StepOutputs {
  float reward = 0.0f, discount = 0.0f;
  Said said;
};

StepOutputs StepOne(InferenceEngine& engine, int parent, int32_t action, int child) {
  StepOutputs outputs;
  outputs.said.logits.resize(static_cast<size_t>(engine.num_actions()));
  const absl::Status status = engine.RecurrentInference(
      {NodeId(parent)}, {action}, {NodeId(child)}, absl::MakeSpan(&outputs.reward, 1),
      absl::MakeSpan(&outputs.discount, 1), absl::MakeSpan(&outputs.said.value, 1),
      absl::MakeSpan(outputs.said.logits));
  EXPECT_TRUE(status.ok()) << status;
  return outputs;
}

int32_t LastLegal(const TimeStep& step) {
  const std::vector<uint8_t>& mask = step.legal_action_mask;
  return static_cast<int32_t>(std::find(mask.rbegin(), mask.rend(), 1).base() - mask.begin()) - 1;
}

class RootsAndChildren : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(All, RootsAndChildren,
                         testing::Values("tictactoe", "connect4", "othello", "cartpole"));

// Three roots, and two steps down from each.
TEST_P(RootsAndChildren, AreWhatTheNetworkSaysOfThem) {
  const auto env = NativeFactory(GetParam())().value();
  Positions positions;
  std::vector<TimeStep> last;
  TimeStep step = env->Reset(3);
  for (int i = 0; i < 3; ++i) {
    positions.Add(*env, step);
    last.push_back(step);
    step = env->Step(Action::Discrete(LastLegal(step))).value();
  }
  const EngineOptions options = SmallOptions(env->spec(), 5, 9);
  const auto engine = MakePackedAlphaZero(options, NativeFactory(GetParam())).value();
  const auto network = RandomNetwork(options, 7);
  ASSERT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*network)).ok());
  const size_t width = static_cast<size_t>(options.shape.num_actions);
  std::vector<float> logits(3 * width), values(3), rewards(3), discounts(3);
  const auto said = [&](size_t row) {
    return Said{values[row], {&logits[row * width], &logits[row * width] + width}};
  };
  const std::vector<Root> roots = positions.Roots();
  ASSERT_TRUE(engine->InitialInference(roots, absl::MakeSpan(logits), absl::MakeSpan(values)).ok());
  for (size_t i = 0; i < 3; ++i) ExpectSame(said(i), Ask(*network, positions.step(i)));

  std::vector<std::string> states;
  for (const Root& root : roots) states.emplace_back(root.state);
  for (int depth = 0; depth < 2; ++depth) {
    std::vector<int32_t> actions;
    for (const TimeStep& at : last) actions.push_back(LastLegal(at));
    ASSERT_TRUE(engine
                    ->RecurrentInference(std::vector<NodeId>(3, NodeId(depth)), actions,
                                         std::vector<NodeId>(3, NodeId(depth + 1)),
                                         absl::MakeSpan(rewards), absl::MakeSpan(discounts),
                                         absl::MakeSpan(values), absl::MakeSpan(logits))
                    .ok());
    for (size_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(env->Load(states[i]).ok());
      last[i] = env->Step(Action::Discrete(actions[i])).value();
      states[i] = env->Save().value();
      EXPECT_EQ(rewards[i], last[i].reward);
      EXPECT_EQ(discounts[i], env->spec().num_players == 2 ? -0.9f : 0.9f);
      ExpectSame(said(i), Ask(*network, last[i]));
    }
  }
}

TEST(AlphaZeroEngineTest, AsksForStatesAndKeepsNoContexts) {
  const auto env = NativeFactory("tictactoe")().value();
  const auto engine =
      MakePackedAlphaZero(SmallOptions(env->spec(), 2, 3), NativeFactory("tictactoe")).value();
  EXPECT_TRUE(engine->NeedsState());
  EXPECT_EQ(engine->runner_name(), "packed");
  EXPECT_EQ(engine->num_actions(), 9);
  EXPECT_TRUE(engine->ExportRoots().value().empty());
}

// X X . / O O . / . . .: X wins at 2. Nothing happens behind it.
TEST(AlphaZeroEngineTest, BehindATerminationThereIsNothing) {
  const auto env = NativeFactory("tictactoe")().value();
  Positions positions;
  TimeStep step = env->Reset(0);
  for (const int32_t action : {0, 3, 1, 4}) step = env->Step(Action::Discrete(action)).value();
  positions.Add(*env, step);
  const EngineOptions options = SmallOptions(env->spec(), 1, 9);
  const auto engine = MakePackedAlphaZero(options, NativeFactory("tictactoe")).value();
  ASSERT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*RandomNetwork(options, 7))).ok());
  std::vector<float> logits(9), value(1);
  ASSERT_TRUE(
      engine->InitialInference(positions.Roots(), absl::MakeSpan(logits), absl::MakeSpan(value))
          .ok());
  const StepOutputs won = StepOne(*engine, 0, 2, 1);
  EXPECT_EQ(won.reward, 1.0f);
  EXPECT_EQ(won.discount, 0.0f);
  EXPECT_EQ(won.said.value, 0.0f);
  EXPECT_EQ(won.said.logits, std::vector<float>(9, 0.0f));
  const StepOutputs behind = StepOne(*engine, 1, 2, 2);
  EXPECT_EQ(behind.reward, 1.0f) << "a Q that the tree holds already";
  EXPECT_EQ(behind.discount, 0.0f);
  EXPECT_EQ(behind.said.value, 0.0f);
  EXPECT_EQ(behind.said.logits, std::vector<float>(9, 0.0f));
  // The parent is still there.
  EXPECT_EQ(StepOne(*engine, 0, 5, 3).reward, 0.0f);
}

// A cap is no end of the task: the network's value stands behind it, however often it is visited.
TEST(AlphaZeroEngineTest, AStepCapIsALeafWithTheValueOfTheNetwork) {
  const auto env = NativeFactory("cartpole", 2)().value();
  Positions positions;
  positions.Add(*env, env->Reset(4));
  const EngineOptions options = SmallOptions(env->spec(), 1, 9);
  const auto engine = MakePackedAlphaZero(options, NativeFactory("cartpole", 2)).value();
  const auto network = RandomNetwork(options, 8);
  ASSERT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*network)).ok());
  std::vector<float> logits(2), value(1);
  ASSERT_TRUE(
      engine->InitialInference(positions.Roots(), absl::MakeSpan(logits), absl::MakeSpan(value))
          .ok());
  StepOne(*engine, 0, 1, 1);
  ASSERT_TRUE(env->Step(Action::Discrete(1)).ok());
  const TimeStep capped = env->Step(Action::Discrete(0)).value();
  ASSERT_TRUE(capped.truncated);
  const StepOutputs at_cap = StepOne(*engine, 1, 0, 2);
  EXPECT_EQ(at_cap.reward, 1.0f);
  EXPECT_EQ(at_cap.discount, 0.9f);
  EXPECT_NEAR(at_cap.said.value, Ask(*network, capped).value, 1e-5f);
  EXPECT_NE(at_cap.said.value, 0.0f);
  EXPECT_EQ(at_cap.said.logits, std::vector<float>(2, 0.0f));
  for (int child = 3; child < 6; ++child) {
    const StepOutputs behind = StepOne(*engine, child - 1, child % 2, child);
    EXPECT_EQ(behind.reward, 0.0f);
    EXPECT_EQ(behind.discount, 1.0f);
    EXPECT_EQ(behind.said.value, at_cap.said.value);
  }
}

TEST(AlphaZeroEngineTest, WithoutStatesThePolicyAnswersAndASearchSaysWhatItLacks) {
  const auto env = NativeFactory("tictactoe")().value();
  Positions positions;
  positions.Add(*env, env->Reset(0));
  std::vector<Root> roots = positions.Roots();
  roots[0].state = {};
  const EngineOptions options = SmallOptions(env->spec(), 1, 4);
  const auto engine = MakePackedAlphaZero(options, NativeFactory("tictactoe")).value();
  std::vector<float> logits(9), value(1);
  EXPECT_TRUE(engine->InitialInference(roots, absl::MakeSpan(logits), absl::MakeSpan(value)).ok());
  const auto search = Search::Create(options.search, 9, 1).value();
  SearchResult result;
  EXPECT_THAT(std::string(search->Run(*engine, roots, {}, &result).message()),
              HasSubstr("environment 0: the root of a search that simulates"));
}

// Four moves are left, of which a search without noise takes the three most probable ones.
TEST(AlphaZeroEngineTest, SlotsOfASampledSearchStandForLegalMoves) {
  const auto env = NativeFactory("tictactoe")().value();
  TimeStep step = env->Reset(0);
  for (int i = 0; i < 5; ++i) step = env->Step(Action::Discrete(LastLegal(step))).value();
  Positions positions;
  positions.Add(*env, step);
  const std::vector<Root> roots = positions.Roots();
  EngineOptions options = SmallOptions(env->spec(), 1, 9);
  const auto network = RandomNetwork(options, 7);
  const auto ask = [&](InferenceEngine& engine) {
    Said said = {0.0f, std::vector<float>(static_cast<size_t>(engine.num_actions()))};
    EXPECT_TRUE(engine.CopyWeightsFrom(NetworkWeights(*network)).ok());
    engine.BeginSearch(SearchRequest());
    EXPECT_TRUE(
        engine.InitialInference(roots, absl::MakeSpan(said.logits), absl::MakeSpan(&said.value, 1))
            .ok());
    return said;
  };
  const auto whole = MakePackedAlphaZero(options, NativeFactory("tictactoe")).value();
  options.search.num_sampled_actions = 3;
  const auto sampled = MakePackedAlphaZero(options, NativeFactory("tictactoe")).value();
  const Said all = ask(*whole), some = ask(*sampled);
  const std::vector<int32_t> actions = sampled->sampled_actions()->indices;
  EXPECT_EQ(some.value, all.value);
  for (int32_t slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(some.logits[slot], all.logits[actions[slot]]);
    const StepOutputs got = StepOne(*sampled, 0, slot, slot + 1);
    const StepOutputs expected = StepOne(*whole, 0, actions[slot], slot + 1);
    EXPECT_EQ(got.said.value, expected.said.value);
    // Three moves are left: the slots, in their order.
    std::vector<float> legal = expected.said.logits;
    legal.erase(std::remove(legal.begin(), legal.end(), -kInfinity), legal.end());
    EXPECT_EQ(got.said.logits, legal);
  }
  for (int32_t action = 0; action < 4; ++action) {
    if (std::count(actions.begin(), actions.end(), action) > 0) continue;
    EXPECT_LE(all.logits[action], *std::min_element(some.logits.begin(), some.logits.end()));
  }
}

TEST(AlphaZeroEngineTest, AnEncoderThatDoesNotFitIsRefused) {
  EngineOptions options = SmallOptions(NativeFactory("connect4")().value()->spec(), 1, 1);
  options.model.encoder = EncoderKind::kImage;
  EXPECT_FALSE(PackedAlphaZeroBytes(options, NativeFactory("connect4")).ok());
  EXPECT_FALSE(MakePackedAlphaZero(options, NativeFactory("connect4")).ok());
}

}  // namespace
}  // namespace lzero::alphazero_engine_test
