// The eager step: the numbers of a full pass, and the rules that every runner must keep (fixed
// addresses, idle rows, outputs written whole, rows that do not know each other, weights in place).
#include "lzero/family/unizero/runners/eager_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/nn/threads.h"
#include "tests/family/unizero/runners/random_model.h"

namespace lzero::eager_step_test {
namespace {

constexpr int kObservationSize = 3;
constexpr int kNumActions = 4;
constexpr int64_t kMaxBatch = 7;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

ModelConfig SmallConfig() {
  ModelConfig config;
  config.embed_dim = 16;
  config.num_heads = 2;
  config.num_layers = 2;
  config.context_length = 6;
  config.support_size = 21;
  config.encoder_width = 16;
  return config;
}

std::shared_ptr<WorldModel> SmallModel(uint64_t seed) {
  return RandomModel(SmallConfig(), {{kObservationSize}, kNumActions}, seed);
}

// An episode o_0 a_0 .. o_t and the action to imagine at its end.
struct Past {
  std::vector<std::vector<float>> observations;
  std::vector<int32_t> actions;
  int32_t imagined = 0;
};

std::vector<Past> RandomPasts(int count, uint64_t seed) {
  RandomStream random(seed, "pasts");
  std::vector<Past> pasts(count);
  for (int i = 0; i < count; ++i) {
    const int num_steps = i % 4;  // up to 7 tokens: longer than the window
    for (int t = 0; t <= num_steps; ++t) {
      std::vector<float> observation;
      for (int k = 0; k < kObservationSize; ++k) {
        observation.push_back(static_cast<float>(random.Normal()));
      }
      pasts[i].observations.push_back(observation);
      if (t < num_steps) {
        pasts[i].actions.push_back(static_cast<int32_t>(random.UniformInt(kNumActions)));
      }
    }
    pasts[i].imagined = static_cast<int32_t>(random.UniformInt(kNumActions));
  }
  return pasts;
}

at::Tensor EmbedAction(const WorldModel& model, int32_t action) {
  return model.EmbedActions(at::tensor({action})).squeeze(0);
}

// Puts the context of a past, from one full pass, and its action into row `row`.
void WriteRow(const WorldModel& model, const Past& past, int64_t row, StepBuffers& buffers) {
  const torch::NoGradGuard no_grad;
  std::vector<at::Tensor> tokens;
  for (size_t t = 0; t < past.observations.size(); ++t) {
    tokens.push_back(model.Encode(at::tensor(past.observations[t]).unsqueeze(0)).squeeze(0));
    if (t < past.actions.size()) tokens.push_back(EmbedAction(model, past.actions[t]));
  }
  at::Tensor keys_values;
  model.transformer().Forward(at::stack(tokens).unsqueeze(0), {}, &keys_values);
  const int64_t window = model.transformer().context_length() - 1;
  const int64_t length = std::min<int64_t>(window, keys_values.size(1));
  buffers.contexts.tokens[row].zero_();
  buffers.contexts.tokens[row]
      .narrow(0, window - length, length)
      .copy_(keys_values[0].narrow(0, keys_values.size(1) - length, length));
  buffers.contexts.lengths[row].fill_(length);
  buffers.actions[row].fill_(past.imagined);
}

void WriteRows(const WorldModel& model, const std::vector<Past>& pasts, StepBuffers& buffers) {
  for (size_t i = 0; i < pasts.size(); ++i) {
    WriteRow(model, pasts[i], static_cast<int64_t>(i), buffers);
  }
}

std::vector<at::Tensor> Outputs(const StepBuffers& buffers) {
  return {buffers.rewards, buffers.values, buffers.prior_logits, buffers.tokens};
}

// The first `num_rows` rows of all outputs, copied.
std::vector<at::Tensor> CopyOutputs(const StepBuffers& buffers, int64_t num_rows) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& output : Outputs(buffers)) {
    copies.push_back(output.narrow(0, 0, num_rows).clone());
  }
  return copies;
}

void Poison(StepBuffers& buffers) {
  for (at::Tensor& output : Outputs(buffers)) output.fill_(kNan);
}

float Distance(float got, float expected) {
  return std::abs(got - expected) / std::max(1.0f, std::abs(expected));
}

void ExpectFullPass(const WorldModel& model, const std::vector<Past>& pasts,
                    const StepBuffers& buffers) {
  for (size_t i = 0; i < pasts.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i);
    const FullPass expected =
        RunFullPass(model, pasts[i].observations, pasts[i].actions, {pasts[i].imagined});
    EXPECT_LE(Distance(buffers.rewards[row].item<float>(), expected.reward), 1e-5) << i;
    EXPECT_LE(Distance(buffers.values[row].item<float>(), expected.value), 1e-5) << i;
    for (int a = 0; a < kNumActions; ++a) {
      EXPECT_LE(Distance(buffers.prior_logits[row][a].item<float>(), expected.logits[a]), 1e-5)
          << i;
    }
  }
}

TEST(EagerStepTest, GivesTheNumbersOfAFullPass) {
  SetTensorThreads(1);
  const auto model = SmallModel(1);
  EagerStep step(*model, kMaxBatch);
  EXPECT_EQ(step.name(), "eager");
  for (const uint64_t seed : {1, 2, 3}) {
    const std::vector<Past> pasts = RandomPasts(kMaxBatch, seed);
    WriteRows(*model, pasts, step.buffers());
    Poison(step.buffers());
    ASSERT_TRUE(step.Run(kMaxBatch).ok());
    ExpectFullPass(*model, pasts, step.buffers());
  }
}

// The children's tokens: keys and values as a full pass over past, action and predicted latent has
// them at its last two places.
TEST(EagerStepTest, GivesTheTokensOfAFullPass) {
  SetTensorThreads(1);
  const torch::NoGradGuard no_grad;
  const auto model = SmallModel(4);
  EagerStep step(*model, 1);
  for (const Past& past : RandomPasts(4, 9)) {
    WriteRow(*model, past, 0, step.buffers());
    Poison(step.buffers());
    ASSERT_TRUE(step.Run(1).ok());
    std::vector<at::Tensor> tokens;
    for (size_t t = 0; t < past.observations.size(); ++t) {
      tokens.push_back(model->Encode(at::tensor(past.observations[t]).unsqueeze(0)).squeeze(0));
      const int32_t action = t < past.actions.size() ? past.actions[t] : past.imagined;
      tokens.push_back(EmbedAction(*model, action));
    }
    const at::Tensor at_action =
        model->transformer().Forward(at::stack(tokens).unsqueeze(0), {}, nullptr).select(1, -1);
    tokens.push_back(model->NextLatent(at_action).squeeze(0));
    at::Tensor keys_values;
    model->transformer().Forward(at::stack(tokens).unsqueeze(0), {}, &keys_values);
    const at::Tensor expected = keys_values.narrow(1, keys_values.size(1) - 2, 2);
    EXPECT_LE((step.buffers().tokens - expected).abs().max().item<float>(), 1e-5);
  }
}

TEST(EagerStepTest, BuffersStayWhereTheyAre) {
  SetTensorThreads(1);
  ModelConfig config = SmallConfig();
  config.embed_dim = 4;
  config.num_heads = 1;
  config.num_layers = 1;
  config.head_dim = 4;
  const auto model = RandomModel(config, {{kObservationSize}, kNumActions}, 1);
  EagerStep step(*model, kMaxBatch);
  const auto addresses = [&step] {
    const StepBuffers& buffers = step.buffers();
    return std::vector<const void*>{
        buffers.contexts.tokens.data_ptr(), buffers.contexts.lengths.data_ptr(),
        buffers.actions.data_ptr(),         buffers.rewards.data_ptr(),
        buffers.values.data_ptr(),          buffers.prior_logits.data_ptr(),
        buffers.tokens.data_ptr()};
  };
  const std::vector<const void*> before = addresses();
  RandomStream random(1, "batches");
  for (int run = 0; run < 1000; ++run) {
    if (run % 100 == 50) {
      model->CopyWeightsFrom(*RandomModel(config, {{kObservationSize}, kNumActions}, run));
      step.OnWeightsChanged();
    }
    ASSERT_TRUE(step.Run(1 + random.UniformInt(kMaxBatch)).ok());
    ASSERT_EQ(addresses(), before) << "run " << run;
  }
}

TEST(EagerStepTest, OutputsAreWrittenWhole) {
  SetTensorThreads(1);
  const auto model = SmallModel(2);
  EagerStep step(*model, kMaxBatch);
  WriteRows(*model, RandomPasts(kMaxBatch, 5), step.buffers());
  for (int64_t batch_size = 1; batch_size <= kMaxBatch; ++batch_size) {
    Poison(step.buffers());
    ASSERT_TRUE(step.Run(batch_size).ok());
    for (const at::Tensor& output : CopyOutputs(step.buffers(), batch_size)) {
      EXPECT_TRUE(at::isfinite(output).all().item<bool>()) << "batch of " << batch_size;
    }
  }
}

TEST(EagerStepTest, IdleRowsDoNotMatter) {
  SetTensorThreads(1);
  const auto model = SmallModel(3);
  EagerStep step(*model, kMaxBatch);
  StepBuffers& buffers = step.buffers();
  WriteRows(*model, RandomPasts(kMaxBatch, 6), buffers);
  for (const int64_t batch_size : {1, 3, 6}) {
    ASSERT_TRUE(step.Run(batch_size).ok());
    const std::vector<at::Tensor> expected = CopyOutputs(buffers, batch_size);
    const int64_t idle = kMaxBatch - batch_size;
    buffers.contexts.tokens.narrow(0, batch_size, idle).fill_(kNan);
    buffers.contexts.lengths.narrow(0, batch_size, idle).fill_(-99);
    buffers.actions.narrow(0, batch_size, idle).fill_(1000);
    Poison(buffers);
    ASSERT_TRUE(step.Run(batch_size).ok());
    const std::vector<at::Tensor> got = CopyOutputs(buffers, batch_size);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(at::equal(got[i], expected[i])) << i;
    WriteRows(*model, RandomPasts(kMaxBatch, 6), buffers);
  }
}

TEST(EagerStepTest, TheRestOfTheBatchDoesNotChangeARow) {
  SetTensorThreads(1);
  const auto model = SmallModel(5);
  EagerStep alone(*model, 1), together(*model, kMaxBatch);
  std::vector<Past> pasts = RandomPasts(kMaxBatch, 7);
  for (int rotation = 0; rotation < kMaxBatch; ++rotation) {
    std::rotate(pasts.begin(), pasts.begin() + 1, pasts.end());
    WriteRows(*model, pasts, together.buffers());
    ASSERT_TRUE(together.Run(kMaxBatch - rotation % 3).ok());
    WriteRow(*model, pasts[0], 0, alone.buffers());
    ASSERT_TRUE(alone.Run(1).ok());
    const std::vector<at::Tensor> got = CopyOutputs(together.buffers(), 1);
    const std::vector<at::Tensor> expected = CopyOutputs(alone.buffers(), 1);
    for (size_t i = 0; i < got.size(); ++i) {
      const at::Tensor scale = at::clamp_min(expected[i].abs(), 1.0);
      EXPECT_LE(((got[i] - expected[i]).abs() / scale).max().item<float>(), 1e-5) << i;
    }
  }
}

TEST(EagerStepTest, WeightsChangedInPlaceTakeEffectAtTheNextStep) {
  SetTensorThreads(1);
  const auto model = SmallModel(6);
  EagerStep step(*model, kMaxBatch);
  const std::vector<Past> pasts = RandomPasts(kMaxBatch, 8);
  WriteRows(*model, pasts, step.buffers());
  ASSERT_TRUE(step.Run(kMaxBatch).ok());
  const at::Tensor before = step.buffers().values.clone();
  const auto other = SmallModel(60);
  model->CopyWeightsFrom(*other);
  step.OnWeightsChanged();
  WriteRows(*model, pasts, step.buffers());
  ASSERT_TRUE(step.Run(kMaxBatch).ok());
  ExpectFullPass(*other, pasts, step.buffers());
  EXPECT_GT((step.buffers().values - before).abs().min().item<float>(), 1e-4);
}

TEST(EagerStepTest, ABufferOnAnotherDeviceIsNamedWithBothDevices) {
  const auto model = SmallModel(8);
  EagerStep step(*model, kMaxBatch);
  StepBuffers& buffers = step.buffers();
  const std::pair<at::Tensor*, std::string> inputs[] = {
      {&buffers.contexts.tokens, "contexts.tokens"},
      {&buffers.contexts.lengths, "contexts.lengths"},
      {&buffers.actions, "actions"}};
  for (const auto& [buffer, name] : inputs) {
    const at::Tensor right = *buffer;
    *buffer = right.to(at::kMeta);
    EXPECT_EQ(step.Run(1),
              absl::InvalidArgumentError(name + " of a step lies on device meta, expected cpu"));
    *buffer = right;
  }
  EXPECT_TRUE(step.Run(1).ok());
}

TEST(EagerStepTest, WhatLibtorchRefusesIsAStatus) {
  const auto model = SmallModel(7);
  EagerStep step(*model, kMaxBatch);
  EXPECT_FALSE(step.Run(kMaxBatch + 1).ok());
  step.buffers().actions[0].fill_(kNumActions);
  EXPECT_FALSE(step.Run(1).ok());
  step.buffers().actions[0].fill_(0);
  EXPECT_TRUE(step.Run(1).ok());
}

}  // namespace
}  // namespace lzero::eager_step_test
