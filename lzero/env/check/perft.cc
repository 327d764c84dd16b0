#include "lzero/env/check/perft.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

// Counts the sequences that go on from `step`, which `ply` actions led to.
absl::Status Count(Env& env, const TimeStep& step, size_t ply, std::vector<int64_t>& counts) {
  int64_t num_legal = 0;
  for (const uint8_t legal : step.legal_action_mask) num_legal += legal;
  counts[ply] += num_legal;
  if (num_legal == 0 || ply + 1 == counts.size()) return absl::OkStatus();
  LZ_ASSIGN_OR_RETURN(const std::string here, env.Save());
  for (size_t action = 0; action < step.legal_action_mask.size(); ++action) {
    if (step.legal_action_mask[action] == 0) continue;
    LZ_ASSIGN_OR_RETURN(const TimeStep next,
                        env.Step(Action::Discrete(static_cast<int32_t>(action))));
    LZ_RETURN_IF_ERROR(Count(env, next, ply + 1, counts));
    LZ_RETURN_IF_ERROR(env.Load(here));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> Perft(Env& env, int depth, uint64_t seed) {
  const EnvSpec& spec = env.spec();
  if (depth < 1) {
    return absl::InvalidArgumentError(absl::StrCat("perft depth is ", depth, "; it is 1 or more"));
  }
  if (!spec.can_save || !spec.deterministic || spec.action.kind != ActionKind::kDiscrete) {
    return absl::UnimplementedError(
        absl::StrCat("perft needs discrete actions, no chance and a state that can be saved; '",
                     spec.id, "' lacks one of them"));
  }
  std::vector<int64_t> counts(depth, 0);
  const TimeStep start = env.Reset(seed);
  if (const auto* counter = dynamic_cast<const MoveCounter*>(&env)) {
    counter->CountMoves(absl::MakeSpan(counts));
    return counts;
  }
  LZ_RETURN_IF_ERROR(Count(env, start, 0, counts));
  return counts;
}

}  // namespace lzero
