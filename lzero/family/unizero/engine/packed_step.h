// The packed model between buffers of its own: the fastest runner on the CPU. Allocates nothing
// once it is made. Floats are float32. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_ENGINE_PACKED_STEP_H_
#define LZERO_FAMILY_UNIZERO_ENGINE_PACKED_STEP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/model/world_model_shape.h"
#include "lzero/family/unizero/engine/step_runner.h"
#include "lzero/family/unizero/packed/packed_network.h"
#include "lzero/kernels/product/aligned_array.h"
#include "lzero/kv_cache/kv_cache_manager.h"
#include "lzero/packed/latent_model.h"
#include "lzero/packed/weight_source.h"

namespace lzero {

struct PackedStepOptions {
  ModelConfig model;
  WorldModelShape shape;
  int64_t max_batch = 0;
  InferenceDtype dtype = InferenceDtype::kFp32;
  int num_threads = 1;
};

// Contexts of `max_batch` rows, zeros at first.
class PackedContexts {
 public:
  PackedContexts(const ModelConfig& config, int64_t max_batch);
  static int64_t Bytes(const ModelConfig& config, int64_t max_batch);

  ContextBatch batch();
  const float* tokens() const { return tokens_.data(); }      // [max_batch, W - 1, L, 2, E]
  const int64_t* lengths() const { return lengths_.data(); }  // [max_batch]

 private:
  AlignedArray<float> tokens_;
  std::vector<int64_t> lengths_;
};

class PackedStep : public StepRunner {
 public:
  explicit PackedStep(const PackedStepOptions& options);
  // Bytes it holds.
  static int64_t Bytes(const PackedStepOptions& options);

  // Packs the weights in place; `weights` were prepared.
  void Load(const packed::WeightSource& weights);

  std::string name() const override { return "packed"; }
  // InvalidArgument for an action or a length out of range, too.
  absl::Status RunNodes(const NodeStep& nodes, KVCacheManager* cache,
                        const StepTimes& times) override;

  // The buffers: every array is this object's, for max_batch rows.
  const packed::StepArrays& arrays() const { return arrays_; }
  packed::PackedNetwork& network() { return network_; }
  // The encoder, for all observations of as many roots with full pasts as a
  // step has rows; null where the network itself encodes.
  packed::LatentModel* encoder() { return encoder_.get(); }
  const PackedStepOptions& options() const { return options_; }

 private:
  PackedStepOptions options_;
  std::unique_ptr<packed::LatentModel> encoder_;
  packed::PackedNetwork network_;
  PackedContexts contexts_;
  std::vector<int64_t> actions_;                                            // [max_batch]
  AlignedArray<float> action_values_, rewards_, values_, logits_, tokens_;  // as in StepArrays
  packed::StepArrays arrays_;
};

// True when the packed network encodes observations itself: vector encoders that do not normalise
// them.
bool EncodesInPacked(const ModelConfig& config);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_ENGINE_PACKED_STEP_H_
