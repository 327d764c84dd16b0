// The search of a device compiled for the host: device_search.h in the flavour of the device, over
// blocks in the memory of the host, with a model of the host. Has room for more roots than it is
// given, so that there are idle rows. For tests.
#ifndef LZERO_TESTS_MCTS_PLAIN_SEARCH_H_
#define LZERO_TESTS_MCTS_PLAIN_SEARCH_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/mcts/device_arrays.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/mcts/rules.h"
#include "lzero/mcts/search_request.h"

namespace lzero {

class PlainSearch {
 public:
  PlainSearch(const SearchConfig& config, int num_actions, int max_roots);

  absl::Status Run(InferenceModel& model, absl::Span<const Root> roots,
                   const SearchRequest& request, SearchResult* result);

  const TreeView& tree() const { return arrays_.tree; }

 private:
  SearchConfig config_;
  SearchRules rules_;
  int max_roots_;
  std::vector<std::byte> memory_;
  DeviceSearchArrays arrays_;
};

}  // namespace lzero

#endif  // LZERO_TESTS_MCTS_PLAIN_SEARCH_H_
