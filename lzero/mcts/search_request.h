// What one search is asked and what it answers, for the search of the host (search.h) and that of a
// CUDA device (device_exchange.h). Plain data, and the check of what comes from outside.
#ifndef LZERO_MCTS_SEARCH_REQUEST_H_
#define LZERO_MCTS_SEARCH_REQUEST_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/mcts/inference_model.h"

namespace lzero {

// How one search is run; what does not change from search to search is in SearchConfig.
struct SearchRequest {
  bool add_noise = false;  // Dirichlet noise (PUCT) or Gumbel noise at the root: collecting
  bool deterministic_ties =
      true;                    // first index; otherwise a number keyed by (seed, env, search, node)
  uint64_t seed = 0;           // key of noise and ties
  uint64_t search_index = 0;   // counts the searches of this role
  double gumbel_factor = 1.0;  // of search.gumbel_scale
  // [B, A] Gumbel noise to use instead of drawing it (golden files); empty: draw.
  absl::Span<const float> root_gumbel;
};

// Everything below is [B] or [B, A], rows in the order of the roots. Valid until the next search.
struct SearchResult {
  int num_roots = 0;
  int num_actions = 0;
  std::vector<int32_t> visit_counts;  // [B, A] of the root
  std::vector<float> root_values;     // [B] mean backed-up value of the root
  std::vector<float> network_values;  // [B] the network's value of the root
  std::vector<float> action_weights;  // [B, A] policy target: visit shares, or improved policy
  std::vector<int32_t> best_actions;  // [B] PUCT: most visited; Gumbel: best score of those
  std::vector<float> q_values;        // [B, A] reward + discount * value of the child; 0 unvisited
  double mean_depth = 0.0;            // of the expanded leaves

  // Room for so many rows; allocates only for more than ever before.
  void Resize(size_t roots, size_t actions);
};

// InvalidArgument for wrong sizes and (naming the environment) for two roots of one environment.
// `envs` is scratch; nothing is allocated when it has room for one number a root.
absl::Status CheckBatch(absl::Span<const Root> roots, const SearchRequest& request, int num_actions,
                        int max_roots, std::vector<int32_t>* envs);

// As CheckBatch, and for a mask of another size and a root without a legal action.
absl::Status CheckRoots(absl::Span<const Root> roots, const SearchRequest& request, int num_actions,
                        int max_roots, std::vector<int32_t>* envs);

// Internal, naming the environment, for a root value that is not finite: the model's numbers are
// too large.
absl::Status CheckRootValues(absl::Span<const Root> roots, const SearchResult& result);

}  // namespace lzero

#endif  // LZERO_MCTS_SEARCH_REQUEST_H_
