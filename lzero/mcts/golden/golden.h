// Golden search trees: searches recorded from an independent implementation, read from JSON and
// replayed through Search with a model that looks its outputs up by path. The meaning of every
// number: tests/golden/search/README.md. Not a writer of such files. Pure functions; one thread a
// call.
#ifndef LZERO_MCTS_GOLDEN_GOLDEN_H_
#define LZERO_MCTS_GOLDEN_GOLDEN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/inference_model.h"

namespace lzero {

// What the network said at one expanded path.
struct GoldenNode {
  std::vector<int32_t> path;        // actions from the root
  std::vector<float> prior_logits;  // [A]
  float value = 0.0f;
  float reward = 0.0f;    // of the last edge of the path
  float discount = 0.0f;  // of the last edge of the path
};

// What a search must have found at one node.
struct GoldenNodeResult {
  std::vector<int32_t> path;
  std::vector<int32_t> visit_counts;  // [A]
  int64_t node_visits = 0;
  double raw_value = 0.0;
  double search_value = 0.0;
  std::vector<std::optional<double>> q_values;  // [A], none where unvisited
};

struct GoldenTree {
  std::string name;
  SearchConfig config;
  int num_actions = 0;
  std::vector<uint8_t> legal_action_mask;  // [A], 1 = legal
  std::vector<float> root_gumbel;          // [A] noise that was added; empty for PUCT
  bool root_has_noise = false;    // Dirichlet: the priors are root_prior_probs, not the network's
  bool action_is_drawn = false;   // temperature above 0: any visited action may have been taken
  std::vector<GoldenNode> nodes;  // in order of expansion, the root first

  std::vector<int32_t> root_visit_counts;  // [A]
  double root_value = 0.0;
  int64_t action = 0;
  std::vector<double> action_weights;      // [A], or empty: not in the file
  std::vector<double> root_prior_probs;    // [A], or empty
  std::vector<int32_t> considered_visits;  // [num_simulations], or empty
  std::vector<GoldenNodeResult> per_node;  // may be empty
};

// InvalidArgument naming the place in the file, what was found and what is allowed; unknown options
// are refused, because a search that ignores them would not be the recorded one.
absl::StatusOr<GoldenTree> ParseGoldenTree(absl::string_view json);

// A model that answers with what the file says, for one root. A path that is not in the file is a
// NotFound error. `golden` must outlive it.
std::unique_ptr<InferenceModel> MakeGoldenModel(const GoldenTree& golden);

struct GoldenReport {
  int num_nodes = 0;  // expanded by our search
  // One line a difference: node, expected, got. Empty: the search was reproduced.
  std::vector<std::string> differences;
};

// Values may differ by at most this much, or by a millionth where they are above 10.
inline constexpr double kGoldenTolerance = 1e-5;

// Runs the recorded search. A path outside the file, a different visit count, and a value further
// off than kGoldenTolerance are differences; an error means that the search could not be run.
absl::StatusOr<GoldenReport> ReplayGoldenTree(const GoldenTree& golden);

// Reads, parses and replays a file; errors name it.
absl::StatusOr<GoldenReport> ReplayGoldenFile(const std::string& path);

}  // namespace lzero

#endif  // LZERO_MCTS_GOLDEN_GOLDEN_H_
