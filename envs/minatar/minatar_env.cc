#include "envs/minatar/minatar_env.h"

#include <array>

#include "absl/strings/str_join.h"

namespace lzero {
namespace {

constexpr std::array<absl::string_view, kNumMinAtarActions> kActionNames = {
    "stay", "left", "up", "right", "down", "fire"};

}  // namespace

std::vector<EnvSetting> MinAtarSettings(bool can_ramp) {
  std::vector<EnvSetting> settings = {
      EnvSetting::Float("sticky_actions", 0.1, 0.0, 1.0,
                        "probability that a step repeats the action before"),
      EnvSetting::Choice("full_actions", {"no", "yes"},
                         "all six actions of MinAtar, also those that do nothing here")};
  if (can_ramp) {
    settings.push_back(EnvSetting::Choice("difficulty_ramping", {"yes", "no"},
                                          "whether the game becomes harder as it goes on"));
  }
  return settings;
}

MinAtarOptions ReadMinAtarOptions(const EnvSettings& given, bool can_ramp,
                                  absl::Span<const MinAtarAction> minimal_actions) {
  MinAtarOptions options;
  options.sticky_probability = given.Float("sticky_actions");
  options.is_ramping = can_ramp && given.Choice("difficulty_ramping") == "yes";
  options.actions.assign(minimal_actions.begin(), minimal_actions.end());
  if (given.Choice("full_actions") == "yes") {
    options.actions.clear();
    for (int i = 0; i < kNumMinAtarActions; ++i) {
      options.actions.push_back(static_cast<MinAtarAction>(i));
    }
  }
  return options;
}

EnvSpec MinAtarSpec(absl::Span<const MinAtarChannel> channels, const MinAtarOptions& options) {
  EnvSpec spec;
  spec.observation = {{static_cast<int64_t>(channels.size()), kMinAtarSize, kMinAtarSize},
                      {0.0f},
                      {1.0f},
                      ObservationType::kUint8};
  const auto name = [](std::string* text, const MinAtarChannel& channel) {
    absl::StrAppend(text, channel.name);
  };
  spec.observation.parts = {absl::StrCat("channels: ", absl::StrJoin(channels, ", ", name))};
  spec.action.num_actions = static_cast<int>(options.actions.size());
  std::vector<std::string> meanings;
  for (const MinAtarAction action : options.actions) {
    meanings.push_back(
        absl::StrCat(meanings.size(), " ", kActionNames[static_cast<size_t>(action)]));
  }
  spec.action.meaning = absl::StrJoin(meanings, ", ");
  return spec;
}

}  // namespace lzero
