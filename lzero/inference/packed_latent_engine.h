// What engines share whose nodes are latent states alone and whose network is packed, on the CPU:
// the latents of all nodes of the running searches, addressed by (root, NodeId), and where a step
// reads and writes them. LatentEngine is the same on tensors. Spans are float32. Belongs to one
// thread.
#ifndef LZERO_INFERENCE_PACKED_LATENT_ENGINE_H_
#define LZERO_INFERENCE_PACKED_LATENT_ENGINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/inference/policy_engine.h"
#include "lzero/kernels/product/aligned_array.h"
#include "lzero/packed/latent_model.h"

namespace lzero {

class PackedLatentEngine : public PolicyEngine {
 public:
  absl::Status CopyWeightsFrom(const packed::WeightSource& source) override;
  std::string runner_name() const override { return "packed"; }

  // Bytes of weights, latents and what a step goes through.
  static int64_t Bytes(const EngineOptions& options, const packed::LatentModelOptions& model);

 protected:
  // The first rows of `model` are its roots' (max_rows, num_threads are set here).
  PackedLatentEngine(const EngineOptions& options, packed::LatentModelOptions model);

  int64_t nodes_per_root() const { return options().search.NodesPerRoot(); }
  // Number of a node among all.
  size_t IndexOf(size_t root, NodeId node) const {
    return root * static_cast<size_t>(nodes_per_root()) + static_cast<size_t>(node.value);
  }
  // Encodes the newest observations of the roots, which become their nodes 0.
  void EncodeRoots(absl::Span<const Root> roots, absl::Span<const packed::Reading> readings);
  // One more row of the next step, from a node to another; Clear before the first.
  void ClearRows();
  void AddRow(size_t root, NodeId parent, NodeId child);
  size_t num_rows() const { return from_.size(); }
  // Step number `step` of the model for all rows.
  void RunStep(size_t step, const packed::TowerInputs& inputs,
               absl::Span<const packed::Reading> readings);

 private:
  float* LatentOf(size_t root, NodeId node) {
    return latents_.data() + static_cast<int64_t>(IndexOf(root, node)) * model_.latent_size();
  }

  packed::LatentModel model_;
  AlignedArray<float> latents_;           // [num_envs, nodes a root, S]
  std::vector<const float*> from_;        // [rows]
  std::vector<float*> to_;                // [rows]
  std::vector<float> host_observations_;  // [roots, observation size]
};

// The parts that all networks with a recurrent latent state have (LatentNetwork), and their numbers
// among the steps and heads.
enum LatentSteps : size_t { kActionStep };
enum LatentHeads : size_t { kRewardHead, kPolicyHead, kValueHead };
packed::LatentModelOptions LatentModelParts(const EngineOptions& options);
// One head more.
void AddHead(const std::string& module, int64_t out, packed::LatentModelOptions* model);
void AddScalarHead(const std::string& module, const ValueSupport& support,
                   packed::LatentModelOptions* model);

}  // namespace lzero

#endif  // LZERO_INFERENCE_PACKED_LATENT_ENGINE_H_
