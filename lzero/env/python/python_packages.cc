#include "lzero/env/python/python_packages.h"

#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/python/child_process.h"

namespace lzero {
namespace {

constexpr double kSeconds = 20.0;
constexpr size_t kMaxOutput = 4000;

constexpr char kScript[] = R"(
from importlib import metadata
found = []
for name in ("gymnasium", "ale-py", "minigrid", "mujoco", "dm_control", "Box2D"):
    try:
        found.append(f"{name} {metadata.version(name)}")
    except metadata.PackageNotFoundError:
        pass
print(", ".join(found))
)";

}  // namespace

absl::StatusOr<std::string> PythonPackages(const std::string& python) {
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<ChildProcess> child,
                      ChildProcess::Start({python, "-c", kScript}, {}));
  if (!child->WaitForEnd(kSeconds)) {
    return absl::DeadlineExceededError(
        absl::StrCat("'", python, "' gave no answer within ", kSeconds, " s"));
  }
  const std::string output(absl::StripAsciiWhitespace(child->OutputTail(kMaxOutput)));
  if (child->end_text() == "exited with status 0") return output;
  return absl::InternalError(absl::StrCat("'", python, "' ", child->end_text(), ": ", output));
}

}  // namespace lzero
