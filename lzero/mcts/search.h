// The whole search: for each simulation select, recurrent inference, expand, back up, batched over
// B roots, with the trees in the memory of the host. Variants (PUCT, Gumbel, q transforms) are
// functions; the tree is one set of arrays (tree.h). A Search belongs to one thread; it keeps its
// arrays between searches and allocates them once.
#ifndef LZERO_MCTS_SEARCH_H_
#define LZERO_MCTS_SEARCH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/mcts/rules.h"
#include "lzero/mcts/search_request.h"
#include "lzero/mcts/searcher.h"
#include "lzero/mcts/tree/tree.h"

namespace lzero {

struct SelectContext;  // tree/select.h

class Search : public Searcher {
 public:
  // `num_chance_outcomes` as the models say (inference_model.h); above 0 the tree is
  // max(num_actions, num_chance_outcomes) wide, and search.max_depth counts actions and outcomes
  // alike. InvalidArgument naming the setting that does not fit, or the sizes whose tree would not
  // fit into memory.
  static absl::StatusOr<std::unique_ptr<Search>> Create(const SearchConfig& config, int num_actions,
                                                        int max_roots, int num_chance_outcomes = 0);

  // Bytes of the trees of such a search, of that width, for plans; at most 2^60. Sizes must be
  // positive.
  static int64_t PlannedBytes(const SearchConfig& config, int64_t num_actions, int64_t max_roots);

  // The model is asked for every root in every simulation; simulation s makes node s + 1. Where
  // selection ends at max_depth in a node that exists, node s + 1 is evaluated and then left
  // unused.
  absl::Status Run(InferenceModel& model, absl::Span<const Root> roots,
                   const SearchRequest& request, SearchResult* result) override;

  const SearchConfig& config() const override { return rules_.config(); }
  int num_actions() const override { return num_actions_; }
  // The tree of the last search.
  const Tree& tree() const { return tree_; }
  const Tree* host_tree() const override { return &tree_; }

 private:
  // One entry a root: what goes to the model and what comes back. [B], prior_logits and legal
  // [B, W], W: the width of the tree.
  struct Batch {
    std::vector<NodeId> parents;
    std::vector<int32_t> actions;
    std::vector<NodeId> children;
    std::vector<float> rewards;
    std::vector<float> discounts;
    std::vector<float> values;
    std::vector<float> prior_logits;
    std::vector<Leaf> leaves;
    std::vector<uint8_t> legal;  // actions of the root
  };

  Search(const SearchConfig& config, int num_actions, int max_roots, int num_chance_outcomes);

  absl::Status CheckSearch(const InferenceModel& model, absl::Span<const Root> roots,
                           const SearchRequest& request);
  absl::Status FindLegalActions(const InferenceModel& model, absl::Span<const Root> roots);
  void PrepareRoot(int b, const Root& root, const SearchRequest& request);
  void SelectAll(int simulation, const SearchRequest& request);
  void ExpandAndBackUpAll(int simulation);
  SelectContext ContextOf(int b, int num_actions, const SearchRequest& request);
  absl::Status Finish(absl::Span<const Root> roots, const SearchRequest& request,
                      SearchResult* result);

  int num_actions_;
  int num_chance_outcomes_;
  SearchRules rules_;
  Tree tree_;
  Batch batch_;
  std::vector<float> scores_;  // [P] scratch of selection
  std::vector<double> noise_;  // [W] scratch of root noise
  std::vector<int32_t> envs_;  // [B] scratch of CheckRoots
  int64_t depth_sum_ = 0;      // of the leaves of this search
};

}  // namespace lzero

#endif  // LZERO_MCTS_SEARCH_H_
