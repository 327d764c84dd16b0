// What a role (collector, evaluator, reanalyzer) owns to answer its searches: an InferenceModel
// with weights of its own. One class a family; what they have in common is here, and nothing above
// lzero/family knows more. Shapes of the spans are those of InferenceModel, float32; no gradients.
// Belongs to one thread.
#ifndef LZERO_INFERENCE_INFERENCE_ENGINE_H_
#define LZERO_INFERENCE_INFERENCE_ENGINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/named_array.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/model/world_model_shape.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/mcts/searcher.h"
#include "lzero/packed/weight_source.h"

namespace lzero {

// What engines of all families are made from.
struct EngineOptions {
  ModelConfig model;
  WorldModelShape shape;
  InferenceConfig inference;
  int64_t num_envs = 0;  // environments of this role; also the largest batch of roots
  SearchConfig search;   // of this role
  double discount = 1.0;
  int num_players = 1;
  std::string owner = {};  // for the log: the role, e.g. "collector"
};

// Actions that a search chooses from at a node: those that are sampled there, else all.
inline int NumSlots(const SearchConfig& search, const WorldModelShape& shape) {
  return static_cast<int>(search.num_sampled_actions.value_or(shape.num_actions));
}

class InferenceEngine : public InferenceModel {
 public:
  // Copies the weights in place, between searches only. What was computed with older ones is
  // dropped, or kept and counted where the config asks for it. Errors as those of
  // source.Prepare(); nothing has changed then. The caller must give a `source` of this engine's
  // architecture. No gradients.
  virtual absl::Status CopyWeightsFrom(const packed::WeightSource& source) = 0;

  // A searcher that runs whole searches of EngineOptions::search on the device of this engine,
  // which outlives it and is the model of its searches; null where searches run on the host.
  // Allocates and records.
  virtual absl::StatusOr<std::unique_ptr<Searcher>> MakeDeviceSearcher() { return nullptr; }

  // What the engine must keep between searches, so that a resumed run computes the same numbers as
  // one that goes on. Put back after CopyWeightsFrom. InvalidArgument for what does not fit.
  virtual absl::StatusOr<std::vector<NamedArray>> ExportRoots() const {
    return std::vector<NamedArray>();
  }
  virtual absl::Status ImportRoots(absl::Span<const NamedArray> /*arrays*/) {
    return absl::OkStatus();
  }

  // Names what runs: "packed", "eager", "cuda_search_graph", ...
  virtual std::string runner_name() const = 0;
  // Time inside the network, and copying what nodes keep in and out of their store.
  virtual double network_seconds() const = 0;
  virtual double copy_seconds() const = 0;
  // Metrics of what it keeps: names and values. With `same_every_run` only those that do not depend
  // on the speed of the machine.
  virtual std::vector<std::pair<std::string, double>> metrics(bool /*same_every_run*/) const {
    return {};
  }
};

}  // namespace lzero

#endif  // LZERO_INFERENCE_INFERENCE_ENGINE_H_
