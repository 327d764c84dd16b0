#include "lzero/env/check/conformance_verdict.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"

namespace lzero {
namespace {

constexpr char kSameSeed[] = "same_seed_same_episode";
constexpr char kStepAfterEnd[] = "step_after_end_refused";

struct Row {
  const char* check;
  bool hinders;
  const char* because;
};

constexpr Row kRows[] = {
    {"create", true, "there is nothing to train in"},
    {"spec", true, "networks and replay are made from it"},
    {"step_before_reset_refused", false, "lzero resets before it steps"},
    {"random_steps", true, "training plays the same way"},
    {"observation_in_space", true, "the learner and replay take it as the spec says it is"},
    {"frames_stacked", true, "replay keeps each frame once and would give back others"},
    {"mask_and_flags", true, "search and targets follow them"},
    {"step_cap", true, "episodes end elsewhere than collection and evaluation expect"},
    {"returns_consistent", true, "evaluations, `best` and stop.target_return read the return"},
    {kSameSeed, false, "rewards and observations stay true; runs will not repeat bit for bit"},
    {"mask_equals_accepted_actions", true, "search plays what is refused, or misses what is not"},
    {"bad_actions_refused", false, "lzero plays actions of the space and the mask alone"},
    {kStepAfterEnd, false, "lzero resets after an end"},
    {"save_load_equal", true, "resumed runs and alphazero's search go on from saved states"},
    {"broken_save_refused", false, "checkpoints have checksums of their own"},
    {"set_state_equal", false, "only traces set states"},
    {"symmetries_hold", true, "replay.augment_symmetries would show games that cannot be"},
    {"chance_outcomes_hold", true, "stochastic_muzero learns from the listed outcomes"},
    {"box_actions_clipped", false, "lzero plays actions within the bounds"},
    {"draws_text", false, "pictures are for people"},
    {"draws_pictures", false, "pictures are for people"},
    {"negative_cap_refused", false, "configs refuse a negative cap themselves"},
};

}  // namespace

ConformanceCheck MakeCheck(absl::string_view name, const absl::Status& status,
                           const std::string& note) {
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                       [&](const Row& known) { return known.check == name; });
  LZ_CHECK(row != std::end(kRows), "no check '", name, "'");
  if (status.ok()) return {std::string(name), true, note};
  const std::string message(status.message());
  if (absl::IsOutOfRange(status)) {
    return {std::string(name), false, message, false,
            "the learner reads no bounds, and the numbers are finite"};
  }
  return {std::string(name), false, message, row->hinders, row->because};
}

std::string VerdictText(const std::string& id, const std::vector<ConformanceCheck>& checks) {
  int num_failed = 0;
  bool repeats = true, ends = true;
  std::vector<std::string> to_mend;
  for (const ConformanceCheck& check : checks) {
    if (check.name == kStepAfterEnd && absl::StartsWith(check.detail, kNoEnd)) ends = false;
    if (check.passed) continue;
    ++num_failed;
    if (check.name == kSameSeed) repeats = false;
    if (check.hinders) to_mend.push_back(check.name);
  }
  const std::string no_end =
      ends ? "" : "; it does not end, so training and evaluation need env.max_episode_steps";
  if (num_failed == 0) return absl::StrCat(id, " conforms", no_end);
  return absl::StrCat(
      id, ": ", num_failed, num_failed == 1 ? " check" : " checks", " failed; ",
      to_mend.empty() ? "it may be trained" : "to be mended first: ", absl::StrJoin(to_mend, ", "),
      repeats ? "" : "; runs will not repeat bit for bit", no_end);
}

}  // namespace lzero
