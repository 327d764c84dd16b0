// The parity suite over the runners of the CPU, and over recorded steps that the CPU replays.
#include "tests/family/unizero/runners/runner_parity.h"

#include "tests/family/unizero/runners/replay_device.h"

namespace lzero::runner_parity_test {
namespace {

// Bit for bit. Eager cannot promise it, its products choose their sums by the batch:
// eager_step_test.cc has its bound.
class BitExactRunner : public RunnerParity {};

TEST_P(BitExactRunner, TheRestOfTheBatchDoesNotChangeARow) {
  const auto model = MakeModel(SmallModelConfig(), 12);
  constexpr int64_t kMost = 40;
  const auto step = MakeStep(*model, kMost);
  RandomStream random(13, "parity");
  FillInputs(random, kMost, IdleAction(), step->buffers());
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

class CheckingRunner : public RunnerParity {};

TEST_P(CheckingRunner, AnActionThatCannotBeIsRefused) {
  const auto model = MakeModel(SmallModelConfig(), 14);
  const auto step = MakeStep(*model, 2);
  step->buffers().actions[1].fill_(6);
  EXPECT_TRUE(step->Run(1).ok());
  EXPECT_FALSE(step->Run(2).ok());
  EXPECT_FALSE(step->Run(3).ok());
}

absl::StatusOr<EngineDevice> MakeDevice() { return MakeReplayDevice(); }

constexpr Variant kEager = {"eager", Runner::kEager, InferenceDtype::kFp32, 1, 1e-5, nullptr, true};
constexpr Variant kPacked = {"packed", Runner::kPacked, InferenceDtype::kFp32, 1, 1e-5, nullptr,
                             false};
constexpr Variant kTwoThreads = {
    "packed_2_threads", Runner::kPacked, InferenceDtype::kFp32, 2, 1e-5, nullptr, false};
// 8 bits of weights and inputs, and the decoded values multiply an error by up to 100.
constexpr Variant kBf16 = {"packed_bf16", Runner::kPacked, InferenceDtype::kBf16, 1, 0.1, nullptr,
                           false};
// The kernels of a device, compiled for the host.
constexpr Variant kReplayed = {
    "cuda_graph_replayed", Runner::kCudaGraph, InferenceDtype::kFp32, 1, 1e-5, MakeDevice, false};

constexpr Variant kReplayedBf16 = {"cuda_graph_replayed_bf16",
                                   Runner::kCudaGraph,
                                   InferenceDtype::kBf16,
                                   1,
                                   0.1,
                                   MakeDevice,
                                   false};

std::string NameOf(const testing::TestParamInfo<Variant>& variant) { return variant.param.name; }

INSTANTIATE_TEST_SUITE_P(Runners, RunnerParity,
                         testing::Values(kEager, kPacked, kTwoThreads, kBf16, kReplayed,
                                         kReplayedBf16),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Runners, BitExactRunner, testing::Values(kPacked, kTwoThreads, kBf16),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Runners, CheckingRunner,
                         testing::Values(kEager, kPacked, kTwoThreads, kBf16), NameOf);

}  // namespace
}  // namespace lzero::runner_parity_test
