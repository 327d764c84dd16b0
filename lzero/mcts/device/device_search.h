// A search whose trees live in the memory of a device: the host draws noise and keys, copies them
// in once, launches, and copies the results out once. The model's answers are in the device's
// memory too. The result is that of Search (search.h). Launches are put on a stream and nothing
// waits, so that a caller may capture them; the caller must wait when it needs the results. One
// thread at a time.
#ifndef LZERO_MCTS_DEVICE_DEVICE_SEARCH_H_
#define LZERO_MCTS_DEVICE_DEVICE_SEARCH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/device/device_functions.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/mcts/search_request.h"

namespace lzero {

// Unimplemented for a model that such a search cannot ask: one that samples its actions or has
// chance nodes.
absl::Status CheckDeviceCanSearch(const InferenceModel& model);

class DeviceSearch {
 public:
  // `functions` must outlive the search. InvalidArgument naming the setting that does not fit;
  // ResourceExhausted, with what the device reports, when it has no room.
  static absl::StatusOr<std::unique_ptr<DeviceSearch>> Create(const SearchConfig& config,
                                                              int num_actions, int max_roots,
                                                              const DeviceFunctions& functions);
  // The caller has waited for all launches of this search, and replays no graph of them again.
  ~DeviceSearch();
  DeviceSearch(const DeviceSearch&) = delete;
  DeviceSearch& operator=(const DeviceSearch&) = delete;

  // Writes what the next search begins with to the host's copy of the inputs: the upload of the
  // last one must be over. InvalidArgument as Search::Run. Allocates nothing.
  absl::Status Prepare(absl::Span<const Root> roots, const SearchRequest& request);

  // Each puts one piece of work on `stream`; in this order, Select and Expand once for each of
  // num_simulations. `num_rows` is the batch that was captured: rows after the prepared roots are
  // idle and ask about action 0 of node 0. Internal, with what the device reports, when a launch
  // fails.
  absl::Status Upload(DeviceStream stream);
  absl::Status Begin(int num_rows, const DeviceRootOutputs& outputs, DeviceStream stream);
  absl::Status Select(int num_rows, const DeviceQueries& queries, DeviceStream stream);
  absl::Status Expand(int num_rows, const DeviceStepOutputs& outputs, DeviceStream stream);
  // Expand of one simulation and Select of the next, in one launch.
  absl::Status ExpandAndSelect(int num_rows, const DeviceStepOutputs& outputs,
                               const DeviceQueries& queries, DeviceStream stream);
  absl::Status Finish(int num_rows, DeviceStream stream);
  absl::Status Download(DeviceStream stream);

  // What the search of `roots`, the prepared ones, found; the download must be over. Errors as
  // ReadDeviceResults.
  absl::Status Read(absl::Span<const Root> roots, SearchResult* result) const;

  int num_actions() const { return num_actions_; }
  int max_roots() const { return max_roots_; }
  // In the memory of the device.
  const DeviceSearchArrays& device_arrays() const { return *functions_.device_arrays(memory_); }

 private:
  DeviceSearch(const SearchConfig& config, int num_actions, int max_roots,
               const DeviceFunctions& functions);

  absl::Status StatusOf(int error, const char* what) const;

  SearchConfig config_;
  int num_actions_;
  int max_roots_;
  const DeviceFunctions& functions_;
  DeviceMemory* memory_ = nullptr;
  std::vector<int32_t> envs_;  // [B] scratch of Prepare
};

}  // namespace lzero

#endif  // LZERO_MCTS_DEVICE_DEVICE_SEARCH_H_
