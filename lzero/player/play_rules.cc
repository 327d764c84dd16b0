#include "lzero/player/play_rules.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/family/packed/families.h"

namespace lzero {
namespace {

using Errors = std::vector<ConsistencyError>;

}  // namespace

Errors ActionErrors(const SearchConfig& search, const EnvSpec& spec) {
  const std::optional<int64_t>& num_sampled = search.num_sampled_actions;
  const std::vector<std::string> keys = {"search.num_sampled_actions", "env.id"};
  const ActionSpec& actions = spec.action;
  // Discrete actions: all of them, or a sample without replacement.
  if (actions.kind == ActionKind::kDiscrete) {
    Errors errors;
    const std::pair<const char*, double> of_box[] = {
        {"search.uniform_sample_fraction", search.uniform_sample_fraction},
        {"search.root_wide_fraction", search.root_wide_fraction}};
    for (const auto& [key, fraction] : of_box) {
      if (fraction == 0.0) continue;
      errors.push_back({{key, "env.id"},
                        absl::StrCat("got ", fraction, ", which is for box actions, but ", spec.id,
                                     " has ", actions.num_actions, " discrete ones; allowed: 0")});
    }
    if (!errors.empty()) return errors;
    if (!num_sampled.has_value() || *num_sampled <= actions.num_actions) return {};
    return {{keys, absl::StrCat("got ", *num_sampled, ", but ", spec.id, " has ",
                                actions.num_actions, " actions; allowed: 2 to ",
                                actions.num_actions, ", or null for all of them")}};
  }
  // Box actions: always a sample, from bounds that are finite.
  Errors errors;
  if (!num_sampled.has_value()) {
    errors.push_back({keys, absl::StrCat("got null, but ", spec.id,
                                         " has box actions (real numbers), of which a search "
                                         "tries samples; allowed: how many, often 20")});
  }
  for (size_t d = 0; d < actions.low.size(); ++d) {
    if (std::isfinite(actions.low[d]) && std::isfinite(actions.high[d])) continue;
    errors.push_back(
        {{"env.id"},
         absl::StrCat(spec.id, " has actions without bounds: number ", d, " lies in ",
                      actions.low[d], " .. ", actions.high[d], "; an agent needs finite ones")});
    break;
  }
  return errors;
}

Errors PlayErrors(const ExperimentConfig& config, const EnvSpec& spec) {
  Errors errors = FamilyOf(config.model).errors(config, spec);
  if (errors.empty()) errors = ActionErrors(config.search, spec);
  if (spec.num_players == 2 && config.inference.root_context == RootContext::kCarry) {
    errors.push_back({{"inference.root_context", "env.id"},
                      absl::StrCat("got carry, but roots of ", spec.id,
                                   ", a game for two players, have no past; allowed: rebuild")});
  }
  return errors;
}

Errors PlaySettingErrors(const ExperimentConfig& config, const EnvSpec& spec,
                         absl::Span<const std::string> settings) {
  // Settings of the run itself stay as they are, whatever rules came since.
  std::set<std::string> given;
  for (const std::string& setting : settings) given.insert(setting.substr(0, setting.find('=')));
  const auto is_given = [&](const std::string& key) { return given.contains(key); };
  Errors errors;
  std::ranges::copy_if(
      PlayErrors(config, spec), std::back_inserter(errors),
      [&](const auto& error) { return std::ranges::any_of(error.keys, is_given); });
  for (const char* name :
       {"temperature", "temperature_final", "temperature_decay_env_steps", "temperature_steps",
        "root_noise_alpha", "root_noise_fraction", "root_policy_temperature", "forced_playouts",
        "epsilon", "epsilon_final", "epsilon_decay_env_steps", "epsilon_max_hold", "cheap_fraction",
        "cheap_num_simulations", "gumbel_scale"}) {
    const std::string key = absl::StrCat("search.", name);
    if (is_given(key)) errors.push_back({{key}, "only collection reads it; allowed: leave it out"});
  }
  return errors;
}

}  // namespace lzero
