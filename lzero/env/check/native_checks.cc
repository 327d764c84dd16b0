#include "lzero/env/check/native_checks.h"

#include <array>
#include <memory>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/check/conformance_rules.h"
#include "lzero/env/check/conformance_verdict.h"
#include "lzero/env/check/rollout.h"

namespace lzero {
namespace {

constexpr int kLongestSide = 800;
constexpr uint64_t kNumEpisodes = 10;
constexpr int kNumSteps = 10;  // of each

absl::Status CheckText(Env& env) {
  env.Reset(0);
  LZ_ASSIGN_OR_RETURN(const std::string text, env.RenderText());
  return absl::EndsWith(text, "\n") ? absl::OkStatus()
                                    : Broken("RenderText does not end with the end of a line");
}

bool HasTwoColors(const Image& image) {
  std::set<std::array<uint8_t, 3>> colors;
  for (size_t i = 0; i < image.pixels.size() && colors.size() < 2; i += 3) {
    colors.insert({image.pixels[i], image.pixels[i + 1], image.pixels[i + 2]});
  }
  return colors.size() == 2;
}

// One size in all episodes, and something to see: colors, and that they change.
absl::Status CheckPictures(Env& env) {
  env.Reset(0);
  LZ_ASSIGN_OR_RETURN(const Image first, env.RenderRgb());
  if (first.width < 1 || first.width > kLongestSide || first.height > kLongestSide) {
    return Broken("RenderRgb draws ", first.width, " x ", first.height, " pixels; allowed: 1 to ",
                  kLongestSide, " a side");
  }
  if (!HasTwoColors(first)) return Broken("RenderRgb draws one color alone");
  RandomStream random(7, "pictures");
  bool changes = false;
  for (uint64_t seed = 0; seed < kNumEpisodes; ++seed) {
    TimeStep step = env.Reset(seed);
    for (int t = 0; t < kNumSteps && !step.ended(); ++t) {
      LZ_ASSIGN_OR_RETURN(const Action action,
                          RandomAction(env.spec(), step.legal_action_mask, random));
      LZ_ASSIGN_OR_RETURN(step, env.Step(action));
      LZ_ASSIGN_OR_RETURN(const Image picture, env.RenderRgb());  // also of the end
      if (picture.width != first.width || picture.height != first.height) {
        return Broken("RenderRgb changes its size, from ", first.width, " x ", first.height, " to ",
                      picture.width, " x ", picture.height);
      }
      changes = changes || picture.pixels != first.pixels;
    }
  }
  return changes ? absl::OkStatus() : Broken("RenderRgb draws the same picture at every step");
}

absl::Status CheckNegativeCap(const EnvRegistry& registry, const std::string& id,
                              EnvOptions options) {
  options.max_episode_steps = -1;
  const absl::Status status = registry.Make(id, options).status();
  if (absl::IsInvalidArgument(status)) return absl::OkStatus();
  return Broken(
      "max_episode_steps -1 is not refused; CheckStepCap does (lzero/env/env_registry.h)");
}

}  // namespace

bool IsNative(const EnvRegistry::Entry& entry) {
  return !entry.is_family() && !absl::StartsWith(entry.id, kPluginPrefix);
}

std::vector<ConformanceCheck> RunNativeChecks(
    const EnvRegistry& registry, const std::string& id, const EnvOptions& options,
    const std::function<void(const ConformanceCheck&)>& on_check) {
  std::vector<ConformanceCheck> checks;
  const auto add = [&](const char* name, const absl::Status& status) {
    checks.push_back(MakeCheck(name, status));
    if (on_check) on_check(checks.back());
  };
  const auto env = registry.Make(id, options);
  add("draws_text", env.ok() ? CheckText(**env) : env.status());
  add("draws_pictures", env.ok() ? CheckPictures(**env) : env.status());
  add("negative_cap_refused", CheckNegativeCap(registry, id, options));
  return checks;
}

}  // namespace lzero
