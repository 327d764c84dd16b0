// One suite for every step runner of this machine: the numbers of `eager` for every batch bucket,
// ragged contexts and idle rows, over 1,000 steps; nothing allocated and every address kept once it
// is warm; weights changed in place take effect at the next step.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/inference/eager_step.h"
#include "lzero/inference/runners.h"
#include "tests/inference/counted_allocations.h"
#include "tests/inference/random_model.h"

namespace lzero {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kBuckets[] = {1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256};

struct Variant {
  const char* name;
  Runner runner;
  InferenceDtype dtype;
  int64_t num_threads;
  double tolerance;  // of LargestError
};

std::ostream& operator<<(std::ostream& out, const Variant& variant) { return out << variant.name; }

// E 64, L 2, H 2, W 8, S 101, A 6: the small preset.
ModelConfig SmallModelConfig() { return ModelConfig(); }

// Sizes that are no multiple of any register, SimNorm latents, a long window.
ModelConfig OddModelConfig() {
  ModelConfig config;
  config.embed_dim = 36;
  config.num_heads = 3;
  config.num_layers = 3;
  config.context_length = 19;
  config.support_size = 23;
  config.head_dim = 50;
  config.latent_norm = LatentNorm::kSimNorm;
  config.sim_norm_group = 6;
  return config;
}

std::shared_ptr<WorldModel> MakeModel(const ModelConfig& config, uint64_t seed) {
  return RandomModel(config, {{4}, 6}, seed);
}

std::unique_ptr<RecurrentStep> MakeStep(const Variant& variant, const WorldModel& model,
                                        int64_t max_batch) {
  InferenceConfig config;
  config.runner = variant.runner;
  config.dtype = variant.dtype;
  config.num_threads = variant.num_threads;
  return MakeRecurrentStep(config, model, max_batch).value();
}

// Random contexts of random lengths and random actions for the first rows; the idle ones hold what
// no step may read.
void FillInputs(RandomStream& random, int64_t batch, StepBuffers& buffers) {
  const int64_t window = buffers.contexts.tokens.size(1);
  const int64_t num_actions = buffers.prior_logits.size(1);
  const int64_t token_size = buffers.contexts.tokens[0][0].numel();
  float* tokens = buffers.contexts.tokens.mutable_data_ptr<float>();
  buffers.contexts.lengths.fill_(-99);
  buffers.actions.fill_(1000);
  buffers.contexts.tokens.fill_(kNan);
  for (int64_t row = 0; row < batch; ++row) {
    const int64_t length = random.UniformInt(window + 1);
    float* begin = tokens + row * window * token_size;
    float* valid = begin + (window - length) * token_size;
    std::fill(begin, valid, 0.0f);
    for (int64_t i = 0; i < length * token_size; ++i) {
      valid[i] = static_cast<float>(2.0 * random.Uniform() - 1.0);
    }
    buffers.contexts.lengths.mutable_data_ptr<int64_t>()[row] = length;
    buffers.actions.mutable_data_ptr<int64_t>()[row] = random.UniformInt(num_actions);
  }
}

void CopyInputs(const StepBuffers& from, int64_t batch, StepBuffers& to) {
  to.contexts.tokens.narrow(0, 0, batch).copy_(from.contexts.tokens.narrow(0, 0, batch));
  to.contexts.lengths.narrow(0, 0, batch).copy_(from.contexts.lengths.narrow(0, 0, batch));
  to.actions.narrow(0, 0, batch).copy_(from.actions.narrow(0, 0, batch));
}

std::vector<at::Tensor> Outputs(const StepBuffers& buffers) {
  return {buffers.rewards, buffers.values, buffers.prior_logits, buffers.tokens};
}

void Poison(StepBuffers& buffers) {
  for (at::Tensor& output : Outputs(buffers)) output.fill_(kNan);
}

// The largest error over the first rows, relative to the largest number of its output (at least 1);
// NaN counts as infinite. Number by number eager itself is 1e-5 off where a value is decoded: a sum
// of 101 atoms up to +-50 that nearly cancel, then squared.
double LargestError(const StepBuffers& got, const StepBuffers& expected, int64_t batch) {
  double largest = 0.0;
  const auto got_outputs = Outputs(got), expected_outputs = Outputs(expected);
  for (size_t i = 0; i < got_outputs.size(); ++i) {
    const at::Tensor g = got_outputs[i].narrow(0, 0, batch);
    const at::Tensor e = expected_outputs[i].narrow(0, 0, batch);
    const double scale = std::max(1.0, e.abs().max().item<double>());
    const at::Tensor errors = at::nan_to_num((g - e).abs(), 1e30);
    largest = std::max(largest, errors.max().item<double>() / scale);
  }
  return largest;
}

std::vector<const void*> Addresses(const StepBuffers& buffers) {
  std::vector<const void*> addresses = {buffers.contexts.tokens.const_data_ptr(),
                                        buffers.contexts.lengths.const_data_ptr(),
                                        buffers.actions.const_data_ptr()};
  for (const at::Tensor& output : Outputs(buffers)) addresses.push_back(output.const_data_ptr());
  return addresses;
}

class RunnerParity : public testing::TestWithParam<Variant> {
 protected:
  RunnerParity() { at::set_num_threads(1); }
};

TEST_P(RunnerParity, EveryBucketGivesTheNumbersOfEager) {
  for (const ModelConfig& config : {SmallModelConfig(), OddModelConfig()}) {
    const auto model = MakeModel(config, 3);
    const int64_t most = config.embed_dim == 64 ? 256 : 16;
    const auto step = MakeStep(GetParam(), *model, most);
    EagerStep eager(*model, most);
    RandomStream random(5, "parity");
    for (const int64_t batch : kBuckets) {
      if (batch > most) break;
      FillInputs(random, batch, step->buffers());
      CopyInputs(step->buffers(), batch, eager.buffers());
      Poison(step->buffers());
      ASSERT_TRUE(step->Run(batch).ok());
      ASSERT_TRUE(eager.Run(batch).ok());
      EXPECT_LE(LargestError(step->buffers(), eager.buffers(), batch), GetParam().tolerance)
          << "batch " << batch << ", E " << config.embed_dim;
    }
  }
}

TEST_P(RunnerParity, AThousandStepsWithChangingInputs) {
  ModelConfig config = OddModelConfig();
  config.num_layers = 1;
  config.context_length = 5;
  const auto model = MakeModel(config, 4);
  constexpr int64_t kMost = 9;
  const auto step = MakeStep(GetParam(), *model, kMost);
  EagerStep eager(*model, kMost);
  RandomStream random(6, "parity");
  double largest = 0.0;
  for (int i = 0; i < 1000; ++i) {
    const int64_t batch = 1 + random.UniformInt(kMost);
    FillInputs(random, batch, step->buffers());
    CopyInputs(step->buffers(), batch, eager.buffers());
    Poison(step->buffers());
    ASSERT_TRUE(step->Run(batch).ok());
    ASSERT_TRUE(eager.Run(batch).ok());
    largest = std::max(largest, LargestError(step->buffers(), eager.buffers(), batch));
  }
  EXPECT_LE(largest, GetParam().tolerance);
}

TEST_P(RunnerParity, AWarmStepKeepsItsAddressesAndAllocatesNothing) {
  CountTorchAllocations();
  const auto model = MakeModel(SmallModelConfig(), 7);
  constexpr int64_t kMost = 12;
  const auto step = MakeStep(GetParam(), *model, kMost);
  RandomStream random(8, "parity");
  FillInputs(random, kMost, step->buffers());
  ASSERT_TRUE(step->Run(kMost).ok());
  const auto addresses = Addresses(step->buffers());
  int64_t* lengths = step->buffers().contexts.lengths.mutable_data_ptr<int64_t>();
  int64_t* actions = step->buffers().actions.mutable_data_ptr<int64_t>();
  const int64_t before = NumAllocations();
  bool all_fine = true;
  for (int i = 0; i < 1000; ++i) {
    for (int64_t row = 0; row < kMost; ++row) {
      lengths[row] = (i + row) % 8;
      actions[row] = (i + row) % 6;
    }
    all_fine = step->Run(1 + i % kMost).ok() && all_fine;
  }
  const int64_t allocations = NumAllocations() - before;
  EXPECT_TRUE(all_fine);
  EXPECT_EQ(Addresses(step->buffers()), addresses);
  if (GetParam().runner != Runner::kEager) {
    EXPECT_EQ(allocations, 0);
  }
}

TEST_P(RunnerParity, WeightsChangedInPlaceTakeEffectAtTheNextStep) {
  const auto model = MakeModel(SmallModelConfig(), 9), other = MakeModel(SmallModelConfig(), 10);
  const auto step = MakeStep(GetParam(), *model, 4);
  EagerStep eager(*other, 4);
  RandomStream random(11, "parity");
  FillInputs(random, 4, step->buffers());
  CopyInputs(step->buffers(), 4, eager.buffers());
  ASSERT_TRUE(step->Run(4).ok());
  const auto addresses = Addresses(step->buffers());
  ASSERT_TRUE(eager.Run(4).ok());
  EXPECT_GT(LargestError(step->buffers(), eager.buffers(), 4), 0.1);
  model->CopyWeightsFrom(*other);
  step->OnWeightsChanged();
  Poison(step->buffers());
  ASSERT_TRUE(step->Run(4).ok());
  EXPECT_LE(LargestError(step->buffers(), eager.buffers(), 4), GetParam().tolerance);
  EXPECT_EQ(Addresses(step->buffers()), addresses);
}

// Bit for bit. Eager cannot promise it, its products choose their sums by the batch:
// eager_step_test.cc has its bound.
class BitExactRunner : public RunnerParity {};

TEST_P(BitExactRunner, TheRestOfTheBatchDoesNotChangeARow) {
  const auto model = MakeModel(SmallModelConfig(), 12);
  constexpr int64_t kMost = 40;
  const auto step = MakeStep(GetParam(), *model, kMost);
  RandomStream random(13, "parity");
  FillInputs(random, kMost, step->buffers());
  ASSERT_TRUE(step->Run(kMost).ok());
  std::vector<at::Tensor> whole;
  for (const at::Tensor& output : Outputs(step->buffers())) whole.push_back(output.clone());
  for (int64_t batch = 1; batch < kMost; ++batch) {
    Poison(step->buffers());
    ASSERT_TRUE(step->Run(batch).ok());
    const auto outputs = Outputs(step->buffers());
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_TRUE(at::equal(outputs[i].narrow(0, 0, batch), whole[i].narrow(0, 0, batch)))
          << "batch " << batch;
    }
  }
}

TEST_P(RunnerParity, AnActionThatCannotBeIsRefused) {
  const auto model = MakeModel(SmallModelConfig(), 14);
  const auto step = MakeStep(GetParam(), *model, 2);
  step->buffers().actions[1].fill_(6);
  EXPECT_TRUE(step->Run(1).ok());
  EXPECT_FALSE(step->Run(2).ok());
  EXPECT_FALSE(step->Run(3).ok());
}

constexpr Variant kEager = {"eager", Runner::kEager, InferenceDtype::kFp32, 1, 1e-5};
constexpr Variant kPacked = {"packed", Runner::kPacked, InferenceDtype::kFp32, 1, 1e-5};
constexpr Variant kTwoThreads = {"packed_2_threads", Runner::kPacked, InferenceDtype::kFp32, 2,
                                 1e-5};
// 8 bits of weights and inputs, and the decoded values multiply an error by up to 100.
constexpr Variant kBf16 = {"packed_bf16", Runner::kPacked, InferenceDtype::kBf16, 1, 0.1};

std::string NameOf(const testing::TestParamInfo<Variant>& variant) { return variant.param.name; }

INSTANTIATE_TEST_SUITE_P(Runners, RunnerParity,
                         testing::Values(kEager, kPacked, kTwoThreads, kBf16), NameOf);
INSTANTIATE_TEST_SUITE_P(Runners, BitExactRunner, testing::Values(kPacked, kTwoThreads, kBf16),
                         NameOf);

}  // namespace
}  // namespace lzero
