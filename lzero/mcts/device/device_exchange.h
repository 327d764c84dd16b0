// What the host writes before a search on a device and reads after it, in host copies of the blocks
// of device_arrays.h. Copying and launching: device_search.h. Pure
// functions.
#ifndef LZERO_MCTS_DEVICE_DEVICE_EXCHANGE_H_
#define LZERO_MCTS_DEVICE_DEVICE_EXCHANGE_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/device/device_arrays.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/mcts/search_request.h"

namespace lzero {

// Fills the rows of the roots. The roots must have passed CheckRoots, and `inputs` must have room
// for so many.
void FillDeviceInputs(const SearchConfig& config, absl::Span<const Root> roots,
                      const SearchRequest& request, const DeviceInputs& inputs);

// Copies the rows of the roots into `result`. Internal, naming the environment, when the model
// returned a number that is not finite, or a root value is not finite. Allocates nothing once
// `result` has held as many roots before.
absl::Status ReadDeviceResults(const SearchConfig& config, absl::Span<const Root> roots,
                               const DeviceResults& results, SearchResult* result);

}  // namespace lzero

#endif  // LZERO_MCTS_DEVICE_DEVICE_EXCHANGE_H_
