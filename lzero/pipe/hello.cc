#include "lzero/pipe/hello.h"

#include <cmath>
#include <vector>

#include "lzero/base/observation_type.h"
#include "lzero/pipe/frame.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using OrderedJson = nlohmann::ordered_json;

// JSON has no infinity: null stands for no bound.
OrderedJson BoundsJson(const std::vector<float>& bounds) {
  OrderedJson json = OrderedJson::array();
  for (const float bound : bounds) {
    json.push_back(std::isfinite(bound) ? OrderedJson(bound) : OrderedJson());
  }
  return json;
}

OrderedJson SpecJson(const EnvSpec& spec) {
  OrderedJson json = {{"id", spec.id},
                      {"observation",
                       {{"shape", spec.observation.shape},
                        {"low", BoundsJson(spec.observation.low)},
                        {"high", BoundsJson(spec.observation.high)},
                        {"type", ObservationTypeName(spec.observation.type)},
                        {"frame_stack", spec.observation.frame_stack}}}};
  if (spec.action.kind == ActionKind::kDiscrete) {
    json["action"] = {{"kind", "discrete"}, {"n", spec.action.num_actions}};
  } else {
    json["action"] = {{"kind", "box"},
                      {"low", BoundsJson(spec.action.low)},
                      {"high", BoundsJson(spec.action.high)}};
  }
  json["players"] = spec.num_players;
  json["max_episode_steps"] = spec.max_episode_steps;
  json["can_save"] = spec.can_save;
  json["deterministic"] = spec.deterministic;
  return json;
}

std::string HelloFrame(absl::string_view kind, absl::string_view version, const EnvSpec& spec,
                       const OrderedJson& policy) {
  OrderedJson json = {{"protocol", kPipeProtocolVersion},
                      {"program", "lzero"},
                      {"version", version},
                      {"kind", kind},
                      {"env", SpecJson(spec)}};
  if (!policy.is_null()) json["policy"] = policy;
  // Paths are bytes; JSON is UTF-8.
  return FrameWriter(FrameType::kHello)
      .AddText(json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace))
      .Take();
}

}  // namespace

std::string EnvHello(const EnvSpec& spec, absl::string_view version) {
  return HelloFrame("environment", version, spec, OrderedJson());
}

std::string PolicyHello(const PolicyFacts& facts, const EnvSpec& spec, absl::string_view version) {
  return HelloFrame("policy", version, spec,
                    {{"checkpoint", facts.checkpoint},
                     {"family", facts.family},
                     {"env_steps", facts.env_steps},
                     {"simulations", facts.num_simulations},
                     {"past_steps", facts.max_past_steps},
                     {"max_batch", facts.max_batch},
                     {"needs_state", facts.needs_state},
                     {"observation", facts.observation}});
}

}  // namespace lzero
