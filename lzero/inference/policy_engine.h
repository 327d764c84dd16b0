// What all engines share: slots of a search that stand for all actions of a node or for some that
// are drawn from the policy there (action_sampler.h); what a child's value is multiplied with. Not
// the weights, nor how the network is run. Spans are float32 on the host; B is
// the number of rows, A of actions or slots. Belongs to one thread.
#ifndef LZERO_INFERENCE_POLICY_ENGINE_H_
#define LZERO_INFERENCE_POLICY_ENGINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/base/stopwatch.h"
#include "lzero/inference/action_sampler.h"
#include "lzero/inference/inference_engine.h"

namespace lzero {

// The actions behind the slots of B nodes: one of the two, the other is empty.
struct ChosenActions {
  absl::Span<const int64_t> indices;  // [B]
  absl::Span<const float> values;     // box: [B, D]
};

class PolicyEngine : public InferenceEngine {
 public:
  int num_actions() const override;
  const SampledActions* sampled_actions() const override;
  int32_t ReadSlot(NodeId node, int32_t slot, absl::Span<float> values) const override;
  void BeginSearch(const SearchRequest& request) override;
  double network_seconds() const override { return network_time_.seconds(); }
  double copy_seconds() const override { return copy_time_.seconds(); }

  // Bytes of the sampler of such an engine; 0 where it has none.
  static int64_t SamplerBytes(const EngineOptions& options);

 protected:
  explicit PolicyEngine(const EngineOptions& options);

  const EngineOptions& options() const { return options_; }
  // What a child's value is multiplied with.
  double SignedDiscount() const;

  // Where the policy head writes for `num_rows` roots or nodes, [num_rows, policy size]: the prior
  // logits [num_rows, A] themselves, or scratch that a draw then reads.
  absl::Span<float> PolicyOutputs(size_t num_rows, absl::Span<float> prior_logits);
  // Turn policies [B, policy size] into prior_logits [B, A]. Call them with what PolicyOutputs
  // gave, once it is written; children [B] are the nodes of the rows.
  void FinishRoots(absl::Span<const Root> roots, absl::Span<const float> policies,
                   absl::Span<float> prior_logits);
  void FinishNodes(absl::Span<const NodeId> children, absl::Span<const float> policies,
                   absl::Span<float> prior_logits);

  // The actions behind the slots `actions` [B] of nodes `parents` [B], valid until the next call.
  ChosenActions ActionsOf(absl::Span<const NodeId> parents, absl::Span<const int32_t> actions);

  Stopwatch network_time_, copy_time_;

 private:
  EngineOptions options_;
  std::unique_ptr<ActionSampler> sampler_;  // null: a node has all actions
  std::vector<float> policies_;             // scratch of PolicyOutputs
  std::vector<int64_t> indices_;            // scratch of ActionsOf
  std::vector<float> values_;
};

}  // namespace lzero

#endif  // LZERO_INFERENCE_POLICY_ENGINE_H_
