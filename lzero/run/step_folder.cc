#include "lzero/run/step_folder.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"

namespace lzero {

std::string StepName(int64_t env_steps) { return absl::StrFormat("step_%09d", env_steps); }

int64_t StepOf(absl::string_view name) {
  const std::string whole(name);
  int64_t step = -1;
  if (!absl::ConsumePrefix(&name, "step_") || !absl::SimpleAtoi(name, &step) || step < 0) return -1;
  return StepName(step) == whole ? step : -1;
}

absl::StatusOr<std::vector<std::string>> SetLaterStepsAside(const std::string& folder,
                                                            int64_t env_steps) {
  std::vector<std::string> set_aside;
  if (!IsDirectory(folder)) return set_aside;
  LZ_ASSIGN_OR_RETURN(auto names, ListDirectory(folder));
  std::sort(names.begin(), names.end(),
            [](const std::string& a, const std::string& b) { return StepOf(a) < StepOf(b); });
  for (const std::string& name : names) {
    if (StepOf(name) <= env_steps) continue;
    const std::string path = JoinPath(folder, name);
    set_aside.push_back(path + ".aside");
    LZ_RETURN_IF_ERROR(RemoveTree(set_aside.back()));
    LZ_RETURN_IF_ERROR(RenameDurably(path, set_aside.back()));
  }
  return set_aside;
}

}  // namespace lzero
