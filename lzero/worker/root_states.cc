#include "lzero/worker/root_states.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

namespace lzero {

absl::Status RootStates::Fill(const InferenceModel& model, VectorEnv& envs,
                              absl::Span<Root> roots) {
  if (!model.NeedsState()) return absl::OkStatus();
  states_.resize(roots.size());
  for (size_t i = 0; i < roots.size(); ++i) {
    absl::StatusOr<std::string> state = envs.env(roots[i].env).Save();
    if (!state.ok()) {
      return Annotate(state.status(), absl::StrCat("environment ", roots[i].env.value));
    }
    states_[i] = *std::move(state);
    roots[i].state = states_[i];
  }
  return absl::OkStatus();
}

}  // namespace lzero
