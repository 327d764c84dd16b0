#include "lzero/mcts/device/device_search.h"

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/mcts/device/device_exchange.h"
#include "lzero/mcts/rules.h"

namespace lzero {

absl::Status CheckDeviceCanSearch(const InferenceModel& model) {
  const bool samples = model.sampled_actions() != nullptr;
  if (!samples && model.num_chance_outcomes() == 0) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "a search that runs inside the memory of a device knows no ",
      samples ? "sampled actions" : "chance nodes", "; take a runner that searches on the host"));
}

absl::StatusOr<std::unique_ptr<DeviceSearch>> DeviceSearch::Create(
    const SearchConfig& config, int num_actions, int max_roots, const DeviceFunctions& functions) {
  LZ_RETURN_IF_ERROR(CheckSearchConfig(config));
  if (num_actions < 1 || max_roots < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a search needs at least 1 action and 1 root, got ", num_actions, " and ", max_roots));
  }
  const SearchRules rules(config, num_actions);
  std::unique_ptr<DeviceSearch> search(new DeviceSearch(config, num_actions, max_roots, functions));
  const int error = functions.create(&rules.view(), rules.num_considered_visits(), num_actions,
                                     max_roots, &search->memory_);
  if (error != 0) {
    const TreeLayout layout = TreeLayout::Of(max_roots, config.NodesPerRoot(), num_actions);
    return absl::ResourceExhaustedError(
        absl::StrCat("the search trees of ", max_roots, " roots with search.num_simulations ",
                     config.num_simulations, " and ", num_actions, " actions need ",
                     SizeText(layout.num_bytes), " on the device: ", functions.error_text(error)));
  }
  return search;
}

DeviceSearch::DeviceSearch(const SearchConfig& config, int num_actions, int max_roots,
                           const DeviceFunctions& functions)
    : config_(config), num_actions_(num_actions), max_roots_(max_roots), functions_(functions) {
  envs_.reserve(static_cast<size_t>(max_roots));
}

DeviceSearch::~DeviceSearch() {
  if (memory_ != nullptr) functions_.destroy(memory_);
}

absl::Status DeviceSearch::StatusOf(int error, const char* what) const {
  if (error == 0) [[likely]]
    return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("the device search cannot ", what, ": ", functions_.error_text(error)));
}

absl::Status DeviceSearch::Prepare(absl::Span<const Root> roots, const SearchRequest& request) {
  LZ_RETURN_IF_ERROR(CheckRoots(roots, request, num_actions_, max_roots_, &envs_));
  FillDeviceInputs(config_, roots, request, *functions_.host_inputs(memory_));
  return absl::OkStatus();
}

absl::Status DeviceSearch::Upload(DeviceStream stream) {
  return StatusOf(functions_.upload(memory_, stream), "copy its inputs in");
}

absl::Status DeviceSearch::Begin(int num_rows, const DeviceRootOutputs& outputs,
                                 DeviceStream stream) {
  LZ_CHECK(num_rows >= 1 && num_rows <= max_roots_, num_rows, " rows, at most ", max_roots_);
  return StatusOf(functions_.begin(memory_, num_rows, &outputs, stream), "begin");
}

absl::Status DeviceSearch::Select(int num_rows, const DeviceQueries& queries, DeviceStream stream) {
  LZ_CHECK(num_rows >= 1 && num_rows <= max_roots_, num_rows, " rows, at most ", max_roots_);
  return StatusOf(functions_.select(memory_, num_rows, &queries, stream), "select");
}

absl::Status DeviceSearch::Expand(int num_rows, const DeviceStepOutputs& outputs,
                                  DeviceStream stream) {
  LZ_CHECK(num_rows >= 1 && num_rows <= max_roots_, num_rows, " rows, at most ", max_roots_);
  return StatusOf(functions_.expand(memory_, num_rows, &outputs, stream), "expand");
}

absl::Status DeviceSearch::ExpandAndSelect(int num_rows, const DeviceStepOutputs& outputs,
                                           const DeviceQueries& queries, DeviceStream stream) {
  LZ_CHECK(num_rows >= 1 && num_rows <= max_roots_, num_rows, " rows, at most ", max_roots_);
  return StatusOf(functions_.expand_and_select(memory_, num_rows, &outputs, &queries, stream),
                  "expand and select");
}

absl::Status DeviceSearch::Finish(int num_rows, DeviceStream stream) {
  LZ_CHECK(num_rows >= 1 && num_rows <= max_roots_, num_rows, " rows, at most ", max_roots_);
  return StatusOf(functions_.finish(memory_, num_rows, stream), "finish");
}

absl::Status DeviceSearch::Download(DeviceStream stream) {
  return StatusOf(functions_.download(memory_, stream), "copy its results out");
}

absl::Status DeviceSearch::Read(absl::Span<const Root> roots, SearchResult* result) const {
  return ReadDeviceResults(config_, roots, *functions_.host_results(memory_), result);
}

}  // namespace lzero
