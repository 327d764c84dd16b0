// The world model: starting weights as a function of the seed, copies and averages in place, sizes
// worked out by hand, and every forward function against plain loops in double.
#include "lzero/family/unizero/world_model.h"

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/model/reference_model.h"

namespace lzero::world_model_test {
namespace {

using reference::RelativeError;
using reference::Row;
using reference::Rows;
using reference::RowsOf;
using reference::Weights;

constexpr int64_t kObservationSize = 5;
constexpr int64_t kNumActions = 3;

ModelConfig TinyConfig() {
  ModelConfig config;
  config.encoder_width = 12;
  config.embed_dim = 16;
  config.num_layers = 2;
  config.num_heads = 2;
  config.context_length = 4;
  config.support_size = 21;
  return config;
}

std::shared_ptr<WorldModel> Make(const ModelConfig& config, uint64_t seed) {
  torch::set_num_threads(1);
  absl::StatusOr<std::shared_ptr<WorldModel>> model =
      WorldModel::Create(config, {{kObservationSize}, kNumActions}, seed);
  EXPECT_TRUE(model.ok()) << model.status();
  return *model;
}

bool SameWeights(const WorldModel& a, const WorldModel& b) {
  const std::vector<at::Tensor> left = a.parameters(), right = b.parameters();
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (!at::equal(left[i], right[i])) return false;
  }
  return true;
}

TEST(WorldModel, StartIsAFunctionOfTheSeedAlone) {
  torch::manual_seed(1);
  const std::shared_ptr<WorldModel> first = Make(TinyConfig(), 7);
  torch::manual_seed(2);
  torch::randn({1001});
  const std::shared_ptr<WorldModel> second = Make(TinyConfig(), 7);
  EXPECT_TRUE(SameWeights(*first, *second));
  torch::set_num_threads(2);
  EXPECT_TRUE(SameWeights(*first, *Make(TinyConfig(), 7)));
  EXPECT_FALSE(SameWeights(*first, *Make(TinyConfig(), 8)));
}

TEST(WorldModel, EveryStartingMatrixDependsOnTheSeedButTheZeroHeads) {
  const Weights first = reference::WeightsOf(*Make(TinyConfig(), 7));
  const Weights second = reference::WeightsOf(*Make(TinyConfig(), 8));
  for (const auto& [name, array] : first) {
    if (array.shape.size() < 2) continue;
    const bool zero = name == "policy_head.last.weight" || name == "value_head.last.weight" ||
                      name == "reward_head.last.weight";
    EXPECT_EQ(array.values == second.at(name).values, zero) << name;
    EXPECT_EQ(array.values == Row(array.values.size(), 0.0), zero) << name;
  }
}

TEST(WorldModel, FreshModelPredictsNothingButTellsNodesApart) {
  const std::shared_ptr<WorldModel> model = Make(TinyConfig(), 3);
  const at::Tensor y = torch::randn({6, 16});
  EXPECT_EQ(torch::count_nonzero(model->PolicyLogits(y)).item<int64_t>(), 0);
  EXPECT_EQ(torch::count_nonzero(model->ValueLogits(y)).item<int64_t>(), 0);
  EXPECT_EQ(torch::count_nonzero(model->RewardLogits(y)).item<int64_t>(), 0);
  EXPECT_LT(model->DecodeValues(model->ValueLogits(y)).abs().max().item<double>(), 1e-5);
  const at::Tensor latents = model->NextLatent(y);
  for (int64_t i = 1; i < 6; ++i) EXPECT_FALSE(at::allclose(latents[i], latents[0]));
  const Row spread = reference::WeightsOf(*model).at("latent_head.last.weight").values;
  double square = 0.0;
  for (const double weight : spread) square += weight * weight / static_cast<double>(spread.size());
  EXPECT_NEAR(std::sqrt(square), 0.02, 0.002);
}

TEST(WorldModel, ParametersOfTheSmallPresetForCartPole) {
  // Defaults are the small preset: E 64, L 2, S 101, heads of 256, one hidden layer of 128.
  // Encoder: 4*128 + 128, LN 256, 128*64 + 64 = 9152. Actions: 2*64 = 128.
  // Block: LN 128, QKV 64*192 + 192, projection 64*64 + 64, LN 128, 64*256 + 256, 256*64 + 64 =
  // 49984; two of them 99968. Head without its last linear: LN 128, 64*256 + 256, LN 512 = 17280;
  // last: 257 * outputs; 4 * 17280 + 257 * (2 + 101 + 101 + 64) = 137996.
  absl::StatusOr<std::shared_ptr<WorldModel>> model =
      WorldModel::Create(ModelConfig(), {{4}, 2}, 0);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ((*model)->num_parameters(), 9152 + 128 + 99968 + 137996);
}

TEST(WorldModel, HeadDimIsAnOption) {
  ModelConfig config = TinyConfig();
  config.head_dim = 10;
  const Weights weights = reference::WeightsOf(*Make(config, 0));
  EXPECT_EQ(weights.at("value_head.first.weight").shape, (std::vector<int64_t>{10, 16}));
  EXPECT_EQ(weights.at("value_head.last.weight").shape, (std::vector<int64_t>{21, 10}));
  EXPECT_EQ(weights.at("policy_head.last.weight").shape, (std::vector<int64_t>{3, 10}));
  EXPECT_EQ(weights.at("latent_head.last.weight").shape, (std::vector<int64_t>{16, 10}));
}

TEST(WorldModel, CopiesWeightsInPlace) {
  const std::shared_ptr<WorldModel> source = Make(TinyConfig(), 1);
  reference::Scatter(*source, 0.1, 2);
  const std::shared_ptr<WorldModel> copy = Make(TinyConfig(), 3);
  const std::vector<at::Tensor> before = copy->parameters();
  std::vector<const void*> addresses;
  for (const at::Tensor& weight : before) addresses.push_back(weight.const_data_ptr());
  copy->CopyWeightsFrom(*source);
  EXPECT_TRUE(SameWeights(*copy, *source));
  const std::vector<at::Tensor> after = copy->parameters();
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].const_data_ptr(), addresses[i]);
    EXPECT_NE(after[i].const_data_ptr(), source->parameters()[i].const_data_ptr());
    EXPECT_TRUE(at::equal(before[i], after[i])) << "tensors taken before see the new weights";
  }
  const at::Tensor observations = torch::randn({2, kObservationSize});
  EXPECT_TRUE(at::equal(copy->Encode(observations), source->Encode(observations)));
}

TEST(WorldModel, MovesTowardsAnotherByTheRate) {
  const std::shared_ptr<WorldModel> online = Make(TinyConfig(), 1);
  const std::shared_ptr<WorldModel> target = Make(TinyConfig(), 3);
  reference::Scatter(*online, 0.3, 4);
  const Weights goal = reference::WeightsOf(*online);
  Weights expected = reference::WeightsOf(*target);
  const void* address = target->parameters()[0].const_data_ptr();
  for (const double rate : {0.05, 0.3}) {
    MoveTensorsTowards(target->parameters(), online->parameters(), rate, {});
    for (auto& [name, array] : expected) {
      for (size_t i = 0; i < array.values.size(); ++i) {
        array.values[i] = (1.0 - rate) * array.values[i] + rate * goal.at(name).values[i];
      }
    }
  }
  for (const auto& item : target->named_parameters()) {
    EXPECT_LT(RelativeError(item.value(), expected.at(item.key()).values), 1e-6) << item.key();
  }
  EXPECT_EQ(target->parameters()[0].const_data_ptr(), address);
  EXPECT_EQ(reference::WeightsOf(*online).at("encoder.last.weight").values,
            goal.at("encoder.last.weight").values);
  MoveTensorsTowards(target->parameters(), online->parameters(), 1.0, {});
  EXPECT_TRUE(SameWeights(*target, *online));
}

TEST(WorldModel, DoesNotMoveWhereAStepIsLeftOut) {
  const std::shared_ptr<WorldModel> online = Make(TinyConfig(), 1);
  const std::shared_ptr<WorldModel> target = Make(TinyConfig(), 3);
  const std::shared_ptr<WorldModel> same = Make(TinyConfig(), 3);
  reference::Scatter(*online, 0.3, 4);
  MoveTensorsTowards(target->parameters(), online->parameters(), 0.25, at::ones({}));
  EXPECT_TRUE(SameWeights(*target, *same));
  MoveTensorsTowards(target->parameters(), online->parameters(), 0.25, at::zeros({}));
  MoveTensorsTowards(same->parameters(), online->parameters(), 0.25, {});
  EXPECT_TRUE(SameWeights(*target, *same));
}

TEST(WorldModelDeathTest, CopyRefusesAnotherNumberOfTensors) {
  const std::shared_ptr<WorldModel> model = Make(TinyConfig(), 1);
  ModelConfig deeper = TinyConfig();
  deeper.num_layers = 3;
  const std::shared_ptr<WorldModel> other = Make(deeper, 1);
  EXPECT_DEATH(model->CopyWeightsFrom(*other), "against [0-9]+ tensors");
  EXPECT_DEATH(MoveTensorsTowards(model->parameters(), other->parameters(), 0.1, {}),
               "against [0-9]+ tensors");
}

TEST(WorldModel, EmbedsActionsOfBothIntegerTypes) {
  const std::shared_ptr<WorldModel> model = Make(TinyConfig(), 1);
  const Row table = reference::WeightsOf(*model).at("action_embedding").values;
  const at::Tensor actions = torch::tensor({{2, 0}, {1, 1}}, at::kLong);
  const at::Tensor wide = model->EmbedActions(actions);
  ASSERT_EQ(wide.sizes(), at::IntArrayRef({2, 2, 16}));
  EXPECT_TRUE(at::equal(wide, model->EmbedActions(actions.to(at::kInt))));
  Row expected;
  for (const size_t action : {2, 0, 1, 1}) {
    const Row row = reference::Slice(table, action * 16, 16);
    expected.insert(expected.end(), row.begin(), row.end());
  }
  EXPECT_EQ(reference::FlatValues(wide), expected);
}

class WorldModelNorms : public testing::TestWithParam<LatentNorm> {};

INSTANTIATE_TEST_SUITE_P(All, WorldModelNorms,
                         testing::Values(LatentNorm::kLayerNorm, LatentNorm::kSimNorm));

TEST_P(WorldModelNorms, ForwardFunctionsMatchLoops) {
  ModelConfig config = TinyConfig();
  config.latent_norm = GetParam();
  const std::shared_ptr<WorldModel> model = Make(config, 5);
  reference::Scatter(*model, 0.2, 6);
  const Weights weights = reference::WeightsOf(*model);
  const at::Tensor observations = torch::randn({4, kObservationSize});
  const at::Tensor y = torch::randn({4, 16});
  Rows latents, policy, value, reward, next, decoded;
  for (int64_t i = 0; i < 4; ++i) {
    latents.push_back(reference::Encode(config, weights, reference::FlatValues(observations[i])));
    const Row row = reference::FlatValues(y[i]);
    policy.push_back(reference::Head(weights, "policy_head", row));
    value.push_back(reference::Head(weights, "value_head", row));
    reward.push_back(reference::Head(weights, "reward_head", row));
    next.push_back(reference::FinalNorm(config, reference::Head(weights, "latent_head", row)));
    decoded.push_back({reference::DecodeLogits(value.back())});
  }
  EXPECT_LT(RelativeError(model->Encode(observations), latents), 1e-5);
  EXPECT_LT(RelativeError(model->PolicyLogits(y), policy), 1e-5);
  EXPECT_LT(RelativeError(model->ValueLogits(y), value), 1e-5);
  EXPECT_LT(RelativeError(model->RewardLogits(y), reward), 1e-5);
  EXPECT_LT(RelativeError(model->NextLatent(y), next), 1e-5);
  EXPECT_LT(RelativeError(model->DecodeValues(model->ValueLogits(y)), decoded), 1e-5);
}

// One recurrent inference after one initial inference, put together from the cached step, against
// the full pass in loops: the tokens are z_0 a_0 z'_1.
TEST_P(WorldModelNorms, TokensOfOneUnrolledStepMatchLoops) {
  ModelConfig config = TinyConfig();
  config.latent_norm = GetParam();
  const std::shared_ptr<WorldModel> model = Make(config, 7);
  reference::Scatter(*model, 0.2, 8);
  const Weights weights = reference::WeightsOf(*model);
  const at::Tensor observation = torch::randn({1, kObservationSize});
  const int action = 2;

  const Transformer& transformer = model->transformer();
  at::Tensor context = torch::zeros({1, 3, 2, 2, 16}), fresh;
  const auto step = [&](const at::Tensor& token, int64_t length) {
    const at::Tensor mask = transformer.StepMask(torch::tensor({length}, at::kLong));
    const at::Tensor y = transformer.Step(token, context, mask, &fresh);
    context = at::cat({context, fresh.unsqueeze(1)}, 1).slice(1, 1);
    return y;
  };
  step(model->Encode(observation), 0);
  const at::Tensor at_action = step(model->EmbedActions(torch::tensor({action}, at::kLong)), 1);
  const at::Tensor child = model->NextLatent(at_action);
  const at::Tensor at_child = step(child, 2);

  Rows tokens = {reference::Encode(config, weights, reference::FlatValues(observation)),
                 reference::EmbedAction(config, weights, action)};
  const reference::TransformerShape shape = reference::ShapeOf(config);
  const Row y = reference::TransformerPass(weights, "transformer.", shape, tokens)[1];
  tokens.push_back(reference::FinalNorm(config, reference::Head(weights, "latent_head", y)));
  const Row z = reference::TransformerPass(weights, "transformer.", shape, tokens)[2];
  EXPECT_LT(
      RelativeError(model->RewardLogits(at_action), reference::Head(weights, "reward_head", y)),
      1e-5);
  EXPECT_LT(RelativeError(child, tokens[2]), 1e-5);
  EXPECT_LT(RelativeError(model->ValueLogits(at_child), reference::Head(weights, "value_head", z)),
            1e-5);
  EXPECT_LT(
      RelativeError(model->PolicyLogits(at_child), reference::Head(weights, "policy_head", z)),
      1e-5);
}

TEST(WorldModel, RefusesAnEncoderThatDoesNotFit) {
  ModelConfig config = TinyConfig();
  config.encoder = EncoderKind::kBoard;
  const absl::StatusOr<std::shared_ptr<WorldModel>> model =
      WorldModel::Create(config, {{kObservationSize}, kNumActions}, 0);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(model.status().message()),
              testing::HasSubstr("model.encoder: board needs observations"));
}

TEST(WorldModel, TakesABoard) {
  ModelConfig config = TinyConfig();
  config.encoder = EncoderKind::kBoard;
  config.encoder_channels = 4;
  absl::StatusOr<std::shared_ptr<WorldModel>> model = WorldModel::Create(config, {{2, 3, 3}, 9}, 0);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->Encode(torch::randn({5, 18})).sizes(), at::IntArrayRef({5, 16}));
  EXPECT_EQ((*model)->PolicyLogits(torch::randn({5, 16})).size(1), 9);
  EXPECT_EQ((*model)->shape().num_actions, 9);
  EXPECT_EQ((*model)->config().embed_dim, 16);
}

}  // namespace
}  // namespace lzero::world_model_test
