// The actions that stand behind the slots of a sampled search: K of them are drawn at every node
// from the policy there [Hubert et al. 2021, Learning and planning in complex action spaces]. Keeps
// what it drew until the next search, turns the policy head's outputs into prior logits of the
// slots, and slots back into actions. Knows no network. Floats are float32, B is the number of
// roots. Belongs to one thread; allocates when it is made.
//
// Box actions: the policy is a Gaussian squashed by tanh into [-1, 1]^D. Slots are drawn with
// replacement from the proposal beta = (1 - e) pi' + e uniform, pi' the policy with its variance
// times the sample temperature; their prior is (1/K) pi / beta, normalised. At roots, where a
// search has noise, pi' is (1 - w) pi' + w of the same with a wider sigma, exactly w K slots being
// of the second part [Wang et al. 2024, EfficientZero V2, section 4.1]. Discrete actions: K
// different ones, drawn without replacement from beta = pi^(1/temperature) by the largest of log
// beta + Gumbel noise; an action's prior is pi over the probability q of being among them [Kool et
// al. 2019, Stochastic beams and where to find them: q = 1 - exp(-exp(log beta
// - kappa)), kappa the largest perturbed number left out]. K = A gives back the whole policy.
// Searches without noise, which evaluate, take the K most probable ones and leave their priors as
// they are: a draw could miss the only good move.
#ifndef LZERO_INFERENCE_ACTION_SAMPLER_H_
#define LZERO_INFERENCE_ACTION_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/base/rng.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/mcts/sampled_actions.h"
#include "lzero/mcts/search_request.h"

namespace lzero {

struct ActionSamplerOptions {
  int num_slots = 0;    // K
  int num_actions = 0;  // A of discrete actions; 0: box
  int action_dim = 0;   // D of box actions; 0: discrete
  int max_roots = 0;
  int nodes_per_root = 0;         // num_simulations + 1
  double temperature = 1.0;       // above 0
  double uniform_fraction = 0.0;  // e of box actions, 0 .. 1
  int num_interior_slots = 0;     // filled at nodes below the root, the first ones; 0: K
  double wide_fraction = 0.0;     // w, rounded to whole slots
  double wide_scale = 1.0;        // of sigma
  bool uniform_prior = false;     // all filled slots have prior logit 0

  // What a policy head gives for a node: A logits; box: D means, then D logs of sigma.
  int policy_size() const { return action_dim > 0 ? 2 * action_dim : num_actions; }
};

class ActionSampler {
 public:
  explicit ActionSampler(const ActionSamplerOptions& options);
  // Bytes it holds.
  static int64_t Bytes(const ActionSamplerOptions& options);

  // What is drawn depends on the request's seed and search_index, the environment and the node.
  void BeginSearch(const SearchRequest& request);

  // Draws the actions of the roots (node 0) from their policies [B, policy size] into
  // prior_logits [B, K]. Discrete: legal actions alone; where fewer than K are legal, the last
  // slots stay empty, with logit -infinity.
  void DrawRoots(absl::Span<const Root> roots, absl::Span<const float> policies,
                 absl::Span<float> prior_logits);
  // The same for node children[i] below root i, where every action counts but those with logit
  // -infinity: children [B], policies [B, policy size], prior_logits [B, K]. Slots after the
  // interior ones stay empty.
  void DrawNodes(absl::Span<const NodeId> children, absl::Span<const float> policies,
                 absl::Span<float> prior_logits);

  // The action behind slot slots[i] of node nodes[i] below root i, nodes and slots [B]: box values
  // [B, D], or indices [B]. The slot must be filled.
  void ReadValues(absl::Span<const NodeId> nodes, absl::Span<const int32_t> slots,
                  absl::Span<float> values) const;
  void ReadIndices(absl::Span<const NodeId> nodes, absl::Span<const int32_t> slots,
                   absl::Span<int64_t> indices) const;

  // What the last DrawRoots drew.
  const SampledActions& roots() const { return roots_; }
  const ActionSamplerOptions& options() const { return options_; }

 private:
  struct Scored {
    double score;  // log beta + Gumbel noise, up to a constant
    double log_beta;
    int32_t action;
  };

  // [K, D] or [K] of node `node` below root `row`.
  float* ValuesOf(size_t row, NodeId node);
  int32_t* IndicesOf(size_t row, NodeId node);
  RandomStream StreamOf(size_t row, NodeId node) const;
  int SlotsAt(NodeId node) const;
  void DrawBox(size_t row, NodeId node, const float* policy, float* prior_logits);
  // `legal` [A] or null. Returns the number of filled slots.
  int DrawDiscrete(size_t row, NodeId node, const float* policy, const uint8_t* legal,
                   float* prior_logits);

  ActionSamplerOptions options_;
  uint64_t key_ = 0;              // of the running search
  bool has_noise_ = false;        // the running search
  std::vector<uint64_t> keys_;    // [B] of its roots
  std::vector<float> values_;     // [M, N, K, D]
  std::vector<int32_t> indices_;  // [M, N, K]
  SampledActions roots_;
  std::vector<Scored> scored_;  // [A] scratch
};

}  // namespace lzero

#endif  // LZERO_INFERENCE_ACTION_SAMPLER_H_
