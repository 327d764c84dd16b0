#include "absl/strings/str_cat.h"
#include "lzero/family/packed/families.h"
#include "lzero/family/packed/update_memory.h"
#include "lzero/family/unizero/engine/root_runner.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "lzero/family/unizero/rules/unizero_rules.h"

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

int64_t UniZeroUpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape) {
  const ModelConfig& model = config.model;
  int64_t cells = 0;
  const double encoder = EncoderHeld(model, shape, &cells).Total();
  const auto steps =
      static_cast<double>(config.replay.num_context_steps + config.replay.num_unroll_steps);
  const double heads = HeadHeld(model, shape.policy_size()) + HeadHeld(model, model.value_bins()) +
                       HeadHeld(model, model.reward_bins()) + HeadHeld(model, model.embed_dim);
  const double sample = (steps + 1.0) * encoder + 2.0 * (steps + 1.0) * TokenHeld(model) +
                        (static_cast<double>(config.replay.num_unroll_steps) + 1.0) * heads;
  return HeldBytes(static_cast<double>(config.train.batch_size) * sample);
}

}  // namespace

const ModelFamily& UniZeroFamily() {
  static const ModelFamily kFamily = {
      .model_errors = UniZeroModelErrors,
      .unread_fields =
          [](const auto&) {
            return std::vector<std::string>{"loss.chance_weight", "model.head_pooling",
                                            "model.policy_cells"};
          },
      .shared_parts = {"transformer", "value_head", "reward_head", "latent_head"},
      .own_parts = {"encoder", "action_embedding", "policy_head"},
      .engine_bytes = [](const auto& options, auto&) { return PackedUniZeroBytes(options); },
      .make_engine = [](const auto& options, auto&) { return MakePackedUniZero(options); },
      .update_bytes = UniZeroUpdateBytes,
      .num_root_past_steps = NumRootPastSteps,
      .describe =
          [](const ModelConfig& config) {
            return absl::StrCat(
                "unizero: ", config.num_layers, config.num_layers == 1 ? " layer, " : " layers, ",
                config.num_heads, config.num_heads == 1 ? " head, width " : " heads, width ",
                config.embed_dim, ", context of ", config.context_length, " tokens");
          },
  };
  return kFamily;
}

}  // namespace lzero
