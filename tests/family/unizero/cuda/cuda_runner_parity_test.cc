// The parity suite over the runners of a real device; skipped where there is none.
#include "lzero/graph/cuda_graph_library.h"
#include "tests/family/unizero/runners/runner_parity.h"

namespace lzero::cuda_runner_parity_test {
namespace {

absl::StatusOr<std::unique_ptr<GraphBackend>> MakeDeviceBackend() {
  return MakeCudaGraphBackend(0);
}

constexpr Variant kEager = {
    "eager", Runner::kEager, InferenceDtype::kFp32, 1, 1e-4, MakeDeviceBackend, true};
// Allocations of the host that a driver makes are its own.
constexpr Variant kGraph = {
    "cuda_graph", Runner::kCudaGraph, InferenceDtype::kFp32, 1, 1e-4, MakeDeviceBackend, true};

std::string NameOf(const testing::TestParamInfo<Variant>& variant) { return variant.param.name; }

INSTANTIATE_TEST_SUITE_P(DeviceRunners, RunnerParity, testing::Values(kEager, kGraph), NameOf);

}  // namespace
}  // namespace lzero::cuda_runner_parity_test
