// What an agent needs of a search: roots in, results out. Implementations: Search, with its trees
// in the memory of the host (search.h), and the search graph of family unizero, with everything in
// the memory of a device. Belongs to one thread.
#ifndef LZERO_MCTS_SEARCHER_H_
#define LZERO_MCTS_SEARCHER_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/mcts/search_request.h"

namespace lzero {

class Tree;  // tree/tree.h

class Searcher {
 public:
  virtual ~Searcher() = default;

  virtual const SearchConfig& config() const = 0;
  // The number of actions A that every model of a search must have, see inference_model.h.
  virtual int num_actions() const = 0;
  // The trees of the last search; null where they are not in the memory of the host.
  virtual const Tree* host_tree() const { return nullptr; }

  // Runs `num_simulations` for every root. InvalidArgument (naming the environment) for a root
  // without a legal action, for wrong sizes and for two roots of one environment; Internal when the
  // model returned a number that is not finite (a prior logit may be -infinity where a node lacks
  // the action) or sampled no action at a root; errors of the model are passed on. Blocks. No
  // roots: an empty result. Allocates nothing once `result` has held as many roots before.
  virtual absl::Status Run(InferenceModel& model, absl::Span<const Root> roots,
                           const SearchRequest& request, SearchResult* result) = 0;
};

}  // namespace lzero

#endif  // LZERO_MCTS_SEARCHER_H_
