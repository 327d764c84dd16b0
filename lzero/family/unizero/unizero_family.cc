#include "lzero/family/unizero/unizero_family.h"

#include "absl/strings/str_cat.h"
#include "lzero/family/unizero/rules/unizero_rules.h"
#include "lzero/family/unizero/runners/root_runner.h"
#include "lzero/family/unizero/unizero_inference.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/model/update_memory.h"

namespace lzero {
namespace {

// One token through the blocks: two norms, queries, keys and values, what attention gives, the four
// times wider hidden layer with its activation, sums; and a weight for each head and token in
// reach.
double TokenHeld(const ModelConfig& model) {
  const auto embed = static_cast<double>(model.embed_dim);
  const auto reach = static_cast<double>(model.num_heads * model.context_length);
  return static_cast<double>(model.num_layers) * (17.0 * embed + 2.0 * reach);
}

class UniZeroFamilyImplementation : public ModelFamily {
 public:
  std::vector<ConsistencyError> ModelErrors(const ModelConfig& config) const override {
    return UniZeroModelErrors(config);
  }
  std::vector<std::string> UnreadFields(const ModelConfig& /*config*/) const override {
    return {"loss.chance_weight"};
  }
  absl::StatusOr<int64_t> CountParameters(const ModelConfig& config,
                                          const WorldModelShape& shape) const override {
    return WorldModel::CountParameters(config, shape);
  }
  absl::StatusOr<std::shared_ptr<Network>> MakeNetwork(const ModelConfig& config,
                                                       const WorldModelShape& shape, uint64_t seed,
                                                       at::Device device) const override {
    return WorldModel::Create(config, shape, seed, device);
  }
  absl::StatusOr<int64_t> EngineBytes(const EngineOptions& options,
                                      const EnvFactory& /*make_env*/) const override {
    return UniZeroInference::PlannedBytes(options);
  }
  absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeEngine(
      const EngineOptions& options, const EnvFactory& /*make_env*/) const override {
    return UniZeroInference::Create(options);
  }
  int64_t NumRootPastSteps(const ModelConfig& config) const override {
    return lzero::NumRootPastSteps(config);
  }
  int64_t UpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape) const override {
    const ModelConfig& model = config.model;
    int64_t cells = 0;
    const double encoder = EncoderHeld(model, shape, &cells).Total();
    const auto steps =
        static_cast<double>(config.replay.num_context_steps + config.replay.num_unroll_steps);
    const double heads = HeadHeld(model, shape.policy_size()) +
                         2.0 * HeadHeld(model, model.support_size) +
                         HeadHeld(model, model.embed_dim);
    const double sample = (steps + 1.0) * encoder + 2.0 * (steps + 1.0) * TokenHeld(model) +
                          (static_cast<double>(config.replay.num_unroll_steps) + 1.0) * heads;
    return HeldBytes(static_cast<double>(config.train.batch_size) * sample);
  }
  std::string Describe(const ModelConfig& config) const override {
    return absl::StrCat("L ", config.num_layers, ", H ", config.num_heads, ", E ", config.embed_dim,
                        ", context ", config.context_length, " tokens");
  }
};

}  // namespace

const ModelFamily& UniZeroFamily() {
  static const UniZeroFamilyImplementation family;
  return family;
}

}  // namespace lzero
