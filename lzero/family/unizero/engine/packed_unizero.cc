// The engine of UniZero on packed weights.
#include <memory>
#include <utility>

#include "lzero/base/status_macros.h"
#include "lzero/config/model/encoder_rules.h"
#include "lzero/family/unizero/engine/packed_roots.h"
#include "lzero/family/unizero/engine/packed_step.h"
#include "lzero/family/unizero/engine/runner_choice.h"
#include "lzero/family/unizero/engine/unizero_inference.h"

namespace lzero {
namespace {

PackedStepOptions StepOptions(const EngineOptions& options) {
  return {options.model, options.shape, options.num_envs, options.inference.dtype,
          options.inference.threads()};
}

class PackedUniZero : public UniZeroInference {
 public:
  PackedUniZero(const EngineOptions& options, std::unique_ptr<KVCacheManager> cache)
      : UniZeroInference(options, std::move(cache)) {
    auto step = std::make_unique<PackedStep>(StepOptions(options));
    packed_ = step.get();
    roots_ = MakePackedRoots(packed_, cache_.get(), contexts_.get());
    step_ = std::move(step);
  }

  absl::Status CopyWeightsFrom(const packed::WeightSource& source) override {
    LZ_RETURN_IF_ERROR(source.Prepare());
    packed_->Load(source);
    contexts_->OnWeightsChanged();
    return absl::OkStatus();
  }

 private:
  PackedStep* packed_;  // step_
};

}  // namespace

absl::StatusOr<std::unique_ptr<UniZeroInference>> MakePackedUniZero(const EngineOptions& options) {
  LZ_ASSIGN_OR_RETURN(const RunnerChoice choice, ChooseRunner(options.inference, &options.search));
  LZ_RETURN_IF_ERROR(CheckEncoder(options.model, options.shape.observation_shape));
  LZ_ASSIGN_OR_RETURN(auto cache, KVCacheManager::Create(UniZeroCacheConfig(options)));
  LogChoice(choice, options.owner);
  return std::make_unique<PackedUniZero>(options, std::move(cache));
}

absl::StatusOr<int64_t> PackedUniZeroBytes(const EngineOptions& options) {
  LZ_RETURN_IF_ERROR(CheckEncoder(options.model, options.shape.observation_shape));
  LZ_ASSIGN_OR_RETURN(const int64_t cache,
                      KVCacheManager::PlannedBytes(UniZeroCacheConfig(options)));
  return cache + PackedStep::Bytes(StepOptions(options)) +
         PackedRootsBytes(options.model, options.shape, options.num_envs) +
         PolicyEngine::SamplerBytes(options);
}

}  // namespace lzero
