// The parity suite over the runners of a real device; skipped where there is none.
#include "tests/family/unizero/runners/runner_parity.h"

namespace lzero::cuda_runner_parity_test {
namespace {

absl::StatusOr<EngineDevice> MakeDevice() { return MakeEngineDevice(Device::kCuda); }

constexpr Variant kEager = {"eager", Runner::kEager, InferenceDtype::kFp32, 1, 1e-4, MakeDevice,
                            true};
// Allocations of the host that a driver makes are its own.
constexpr Variant GraphOf(const char* name, InferenceDtype dtype, double tolerance) {
  return {name, Runner::kCudaGraph, dtype, 1, tolerance, MakeDevice, true};
}
constexpr Variant kGraph = GraphOf("cuda_graph", InferenceDtype::kFp32, 1e-4);
// Operands of 10 and of 7 bits of mantissa, and the decoded values multiply an error by up to 100.
constexpr Variant kTf32 = GraphOf("cuda_graph_tf32", InferenceDtype::kTf32, 0.02);
constexpr Variant kBf16 = GraphOf("cuda_graph_bf16", InferenceDtype::kBf16, 0.1);

std::string NameOf(const testing::TestParamInfo<Variant>& variant) { return variant.param.name; }

INSTANTIATE_TEST_SUITE_P(DeviceRunners, RunnerParity, testing::Values(kEager, kGraph, kTf32, kBf16),
                         NameOf);

}  // namespace
}  // namespace lzero::cuda_runner_parity_test
