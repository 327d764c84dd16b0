// One suite for every step runner of this machine: the numbers of `eager` on the CPU for every
// batch bucket, ragged contexts and idle rows, over 1,000 steps; nothing allocated and every
// address kept once it is warm; weights changed in place take effect at the next step. A test
// program includes this once and instantiates the suites with its variants.
#ifndef LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_RUNNER_PARITY_H_
#define LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_RUNNER_PARITY_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/runners/eager_step.h"
#include "lzero/family/unizero/runners/runners.h"
#include "lzero/nn/threads.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/support/torch/counted_allocations.h"

namespace lzero {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kBuckets[] = {1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256};

using MakeDevice = absl::StatusOr<EngineDevice> (*)();

struct Variant {
  const char* name;
  Runner runner;
  InferenceDtype dtype;
  int64_t num_threads;
  double tolerance;          // of LargestError
  MakeDevice make_device;    // null: the CPU without graphs
  bool allocates_when_warm;  // eager operations, replayed on the CPU too
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
  config.value_support = {{"min", "-1"}, {"max", "2"}, {"bins", "14"}};
  config.head_dim = 50;
  config.latent_norm = LatentNorm::kSimNorm;
  config.sim_norm_group = 6;
  return config;
}

// Random contexts of random lengths and random actions for the first rows of buffers on the CPU;
// the idle ones hold what must not reach them.
void FillInputs(RandomStream& random, int64_t batch, int64_t idle_action, StepBuffers& buffers) {
  const int64_t window = buffers.contexts.tokens.size(1);
  const int64_t num_actions = buffers.prior_logits.size(1);
  const int64_t token_size = buffers.contexts.tokens[0][0].numel();
  float* tokens = buffers.contexts.tokens.mutable_data_ptr<float>();
  buffers.contexts.lengths.fill_(-99);
  buffers.contexts.tokens.fill_(kNan);
  buffers.actions.fill_(idle_action);
  for (int64_t row = 0; row < batch; ++row) {
    const int64_t length = random.UniformInt(window + 1);
    float* begin = tokens + row * window * token_size;
    float* valid = begin + (window - length) * token_size;
    std::fill(begin, valid, 0.0f);
    for (int64_t i = 0; i < length * token_size; ++i) {
      valid[i] = static_cast<float>(2.0 * random.Uniform() - 1.0);
    }
    buffers.contexts.lengths.mutable_data_ptr<int64_t>()[row] = length;
    if (buffers.actions.scalar_type() == at::kFloat) {
      for (int64_t d = 0; d < buffers.actions.size(1); ++d) {
        buffers.actions[row][d].fill_(2.0 * random.Uniform() - 1.0);
      }
    } else {
      buffers.actions.mutable_data_ptr<int64_t>()[row] = random.UniformInt(num_actions);
    }
  }
}

// All rows of the first, which may have more.
void CopyInputs(const StepBuffers& from, StepBuffers& to) {
  const int64_t rows = from.actions.size(0);
  to.contexts.tokens.narrow(0, 0, rows).copy_(from.contexts.tokens);
  to.contexts.lengths.narrow(0, 0, rows).copy_(from.contexts.lengths);
  to.actions.narrow(0, 0, rows).copy_(from.actions);
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
    const at::Tensor g = got_outputs[i].narrow(0, 0, batch).cpu();
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

// Other lengths and actions for all rows of buffers on the CPU.
void ChangeInputs(int seed, StepBuffers& buffers) {
  if (!buffers.actions.is_cpu()) return;
  auto lengths = buffers.contexts.lengths.accessor<int64_t, 1>();
  auto actions = buffers.actions.accessor<int64_t, 1>();
  for (int64_t row = 0; row < buffers.actions.size(0); ++row) {
    lengths[row] = (seed + row) % 8;
    actions[row] = (seed + row) % 6;
  }
}

class RunnerParity : public testing::TestWithParam<Variant> {
 protected:
  RunnerParity() { SetTensorThreads(1); }
  void SetUp() override {
    if (GetParam().make_device == nullptr) return;
    auto made = GetParam().make_device();
    if (!made.ok()) GTEST_SKIP() << made.status().message();
    device_ = *std::move(made);
    backend_ = device_.backend.get();
  }

  // On the device of the variant.
  std::shared_ptr<WorldModel> MakeModel(const ModelConfig& config, uint64_t seed) const {
    auto model = RandomModel(config, {{4}, 6}, seed);
    if (backend_ != nullptr && !backend_->device().is_cpu()) model->to(backend_->device());
    return model;
  }

  std::unique_ptr<RecurrentStep> MakeStep(const WorldModel& model, int64_t max_batch) const {
    InferenceConfig config;
    config.runner = GetParam().runner;
    config.dtype = GetParam().dtype;
    config.num_threads = GetParam().num_threads;
    if (backend_ != nullptr) config.device = Device::kCuda;
    // Else a capture that fails leaves an eager step, which would pass.
    if (config.runner == Runner::kCudaGraph) config.graphs = Graphs::kRequired;
    return MakeRecurrentStep(config, model, max_batch, device_).value();
  }

  // A graph computes idle rows too, so that these hold an action that exists.
  int64_t IdleAction() const { return backend_ == nullptr ? 1000 : 0; }

  // Work on other streams comes before, and the step is over afterwards.
  absl::Status Run(RecurrentStep& step, int64_t batch) const {
    if (backend_ == nullptr) return step.Run(batch);
    LZ_RETURN_IF_ERROR(backend_->Synchronize());
    LZ_RETURN_IF_ERROR(step.Run(batch));
    return backend_->Wait();
  }

  // Both with the same random inputs: the largest error of the step.
  double CompareOnce(RandomStream& random, int64_t batch, RecurrentStep& step, EagerStep& eager) {
    FillInputs(random, batch, IdleAction(), eager.buffers());
    CopyInputs(eager.buffers(), step.buffers());
    Poison(step.buffers());
    EXPECT_TRUE(Run(step, batch).ok());
    EXPECT_TRUE(eager.Run(batch).ok());
    return LargestError(step.buffers(), eager.buffers(), batch);
  }

  EngineDevice device_;
  GraphBackend* backend_ = nullptr;  // of the device
};

TEST_P(RunnerParity, EveryBucketGivesTheNumbersOfEager) {
  for (const ModelConfig& config : {SmallModelConfig(), OddModelConfig()}) {
    const auto model = MakeModel(config, 3), on_cpu = RandomModel(config, {{4}, 6}, 3);
    const int64_t most = config.embed_dim == 64 ? 256 : 16;
    const auto step = MakeStep(*model, most);
    EagerStep eager(*on_cpu, most);
    RandomStream random(5, "parity");
    for (const int64_t batch : kBuckets) {
      if (batch > most) break;
      EXPECT_LE(CompareOnce(random, batch, *step, eager), GetParam().tolerance)
          << "batch " << batch << ", E " << config.embed_dim;
      // And one row less: a bucket that is not full.
      if (batch < 2) continue;
      EXPECT_LE(CompareOnce(random, batch - 1, *step, eager), GetParam().tolerance)
          << "batch " << batch - 1 << ", E " << config.embed_dim;
    }
  }
}

TEST_P(RunnerParity, BoxActionsGiveTheNumbersOfEager) {
  const WorldModelShape shape{{4}, 0, 3};
  const auto on_cpu = RandomModel(OddModelConfig(), shape, 3);
  auto model = RandomModel(OddModelConfig(), shape, 3);
  if (backend_ != nullptr && !backend_->device().is_cpu()) model->to(backend_->device());
  const auto step = MakeStep(*model, 9);
  EagerStep eager(*on_cpu, 9);
  EXPECT_EQ(step->buffers().prior_logits.size(1), 6);
  RandomStream random(5, "parity");
  for (int64_t batch = 1; batch <= 9; ++batch) {
    EXPECT_LE(CompareOnce(random, batch, *step, eager), GetParam().tolerance) << batch;
  }
}

TEST_P(RunnerParity, AThousandStepsWithChangingInputs) {
  ModelConfig config = OddModelConfig();
  config.num_layers = 1;
  config.context_length = 5;
  const auto model = MakeModel(config, 4), on_cpu = RandomModel(config, {{4}, 6}, 4);
  constexpr int64_t kMost = 9;
  const auto step = MakeStep(*model, kMost);
  EagerStep eager(*on_cpu, kMost);
  RandomStream random(6, "parity");
  double largest = 0.0;
  for (int i = 0; i < 1000; ++i) {
    const int64_t batch = 1 + random.UniformInt(kMost);
    largest = std::max(largest, CompareOnce(random, batch, *step, eager));
  }
  EXPECT_LE(largest, GetParam().tolerance);
}

TEST_P(RunnerParity, AWarmStepKeepsItsAddressesAndAllocatesNothing) {
  CountTorchAllocations();
  const auto model = MakeModel(SmallModelConfig(), 7);
  constexpr int64_t kMost = 12;
  const auto step = MakeStep(*model, kMost);
  StepBuffers inputs = MakeStepBuffers(*RandomModel(SmallModelConfig(), {{4}, 6}, 7), kMost);
  RandomStream random(8, "parity");
  FillInputs(random, kMost, IdleAction(), inputs);
  CopyInputs(inputs, step->buffers());
  ASSERT_TRUE(Run(*step, kMost).ok());
  const auto addresses = Addresses(step->buffers());
  const int64_t before = NumAllocations();
  bool all_fine = true;
  for (int i = 0; i < 1000; ++i) {
    ChangeInputs(i, step->buffers());
    all_fine = step->Run(1 + i % kMost).ok() && all_fine;
  }
  const int64_t allocations = NumAllocations() - before;
  EXPECT_TRUE(all_fine);
  EXPECT_EQ(Addresses(step->buffers()), addresses);
  if (!GetParam().allocates_when_warm) {
    EXPECT_EQ(allocations, 0);
  }
}

TEST_P(RunnerParity, WeightsChangedInPlaceTakeEffectAtTheNextStep) {
  const auto model = MakeModel(SmallModelConfig(), 9), other = MakeModel(SmallModelConfig(), 10);
  const auto step = MakeStep(*model, 4);
  const auto on_cpu = RandomModel(SmallModelConfig(), {{4}, 6}, 10);
  EagerStep eager(*on_cpu, 4);
  RandomStream random(11, "parity");
  EXPECT_GT(CompareOnce(random, 4, *step, eager), 0.1);
  const auto addresses = Addresses(step->buffers());
  model->CopyWeightsFrom(*other);
  step->OnWeightsChanged();
  EXPECT_LE(CompareOnce(random, 4, *step, eager), GetParam().tolerance);
  EXPECT_EQ(Addresses(step->buffers()), addresses);
}

}  // namespace
}  // namespace lzero

#endif  // LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_RUNNER_PARITY_H_
