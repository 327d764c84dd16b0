// What search needs of a model, owned by search: latents, caches and networks stay behind it and
// are addressed by (EnvId, NodeId). Implementations: the engines of lzero/family, the hash model
// and the golden model of mcts/golden. Used by one thread at a time.
#ifndef LZERO_MCTS_INFERENCE_MODEL_H_
#define LZERO_MCTS_INFERENCE_MODEL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/mcts/sampled_actions.h"

namespace lzero {

struct SearchRequest;

// One root: where a search starts, with as much of its past as the model may need to rebuild
// context.
struct Root {
  EnvId env;
  // [num_past + 1, observation size] float32, oldest first; the last row is the root's observation.
  absl::Span<const float> observations;
  // [num_past]: the action taken after each past observation.
  absl::Span<const int32_t> actions;
  // Box actions: their values [num_past, D], each in [-1, 1]; else empty.
  absl::Span<const float> action_values;
  int64_t step = 0;  // of the root's observation within its episode, 0 at the start
  int to_play = 0;
  // [A], 1 = legal. Not read for a model that samples its actions.
  absl::Span<const uint8_t> legal_action_mask;
  // What the environment saved of itself at the root, for a model that asks for it (NeedsState).
  absl::string_view state;
};

class InferenceModel {
 public:
  virtual ~InferenceModel() = default;

  // A. With sampled_actions(): the number of slots.
  virtual int num_actions() const = 0;

  // C. 0: every node is a decision, with A actions. Above 0 decisions and chance alternate: the
  // root is a decision, its children (afterstates) are chance nodes with C outcomes, their children
  // decisions, and so on [Antonoglou et al. 2022, Stochastic MuZero]. Rows of prior logits then
  // have W = max(A, C) entries instead of A, -infinity where the node has no such entry, and an
  // "action" of RecurrentInference that leads out of a chance node is an outcome.
  virtual int num_chance_outcomes() const { return 0; }

  // Null, or, for a model whose actions are slots that stand for actions drawn anew at every node,
  // those of the roots of the last InitialInference: their masks replace Root::legal_action_mask.
  // Null or not for the whole life of a model.
  virtual const SampledActions* sampled_actions() const { return nullptr; }

  // What slot `slot` of node `node` below root 0 of the last search stands for: the index of a
  // discrete action; for box actions `slot` itself, and `values` [D] in [-1, 1] out. The slot must
  // be filled. Without sampled_actions() a slot is the action.
  virtual int32_t ReadSlot(NodeId /*node*/, int32_t slot, absl::Span<float> /*values*/) const {
    return slot;
  }

  // Whether its searches need Root::state: those of a model that simulates with the environment.
  virtual bool NeedsState() const { return false; }

  // Called once before each search (before InitialInference) of one root at least: a
  // model that draws keys its draws by (seed, search_index).
  virtual void BeginSearch(const SearchRequest& /*request*/) {}

  // Between two searches: the next root of `env` does not go on from its last one, but begins an
  // episode or stands alone. Drops all that the model keeps of `env`: its nodes, and every context
  // that a later root could be continued from. O(1). For a model that keeps none, nothing.
  virtual void EndEpisode(EnvId /*env*/) {}

  // Begins a search: forgets the nodes of the roots' environments and evaluates every root (node
  // 0).
  //   prior_logits [B, A] float32 out: finite where the action is legal, elsewhere -infinity is
  //   allowed; value [B] float32 out, from the view of the player to move.
  virtual absl::Status InitialInference(absl::Span<const Root> roots,
                                        absl::Span<float> prior_logits,
                                        absl::Span<float> value) = 0;

  // One step from `parents[i]` by `actions[i]`, stored under `children[i]`, for the B roots of the
  // last InitialInference in the same order. All spans have B entries, prior_logits [B, A].
  //   rewards: of the step, from the view of the player who moved.
  //   discounts: what the child's value is multiplied with; negative where the player to move
  //   changes,
  //              0 where a perfect simulator knows that the episode ended.
  //   values: of the child, from the view of the player to move there.
  //   prior_logits: -infinity where the child lacks the action, which is then never selected there;
  //   at least one must be above.
  virtual absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                          absl::Span<const int32_t> actions,
                                          absl::Span<const NodeId> children,
                                          absl::Span<float> rewards, absl::Span<float> discounts,
                                          absl::Span<float> values,
                                          absl::Span<float> prior_logits) = 0;
};

}  // namespace lzero

#endif  // LZERO_MCTS_INFERENCE_MODEL_H_
