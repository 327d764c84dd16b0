#include "lzero/env/python/python.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "generated/worker_script_text.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"
#include "lzero/env/python/child_process.h"

namespace lzero {
namespace {

namespace fs = std::filesystem;

constexpr double kPackagesSeconds = 20.0;
constexpr size_t kPackagesOutput = 4000;

constexpr char kPackagesScript[] = R"(
from importlib import metadata
found = []
for name in ("gymnasium", "ale-py", "minigrid", "mujoco", "dm_control", "Box2D"):
    try:
        found.append(f"{name} {metadata.version(name)}")
    except metadata.PackageNotFoundError:
        pass
print(", ".join(found))
)";

// ROOT/.deps/python_envs/bin/python3 for a program at ROOT/build/PRESET/tools/lzero; "" if not
// there.
std::string InterpreterOfSourceTree() {
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  if (code) return "";
  const fs::path root = program.parent_path().parent_path().parent_path().parent_path();
  const fs::path python = root / ".deps" / "python_envs" / "bin" / "python3";
  return fs::exists(python, code) ? python.string() : "";
}

// The package that brings a module, as pip names it.
std::string PackageOf(const std::string& module) {
  constexpr std::array<std::array<const char*, 2>, 7> kNames = {{{"ale_py", "ale-py"},
                                                                 {"cv2", "opencv-python-headless"},
                                                                 {"Box2D", "\"gymnasium[box2d]\""},
                                                                 {"pygame", "pygame-ce"},
                                                                 {"mujoco", "mujoco==3.17.0"},
                                                                 {"dm_control", "dm_control"},
                                                                 {"gymnasium", "gymnasium"}}};
  const std::string top = module.substr(0, module.find('.'));
  for (const auto& [name, package] : kNames) {
    if (top == name) return package;
  }
  return top;
}

}  // namespace

std::string PythonInterpreter(const std::string& setting) {
  if (setting != "auto") return setting;
  const char* chosen = std::getenv("LZERO_PYTHON");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  const std::string own = InterpreterOfSourceTree();
  return own.empty() ? "python3" : own;
}

std::vector<std::string> KeptPythonPath(const std::string& id,
                                        const std::vector<std::string>& wrappers,
                                        const std::vector<std::string>& given) {
  // "gymnasium:module:Name-v0"
  const bool has_module = absl::StartsWith(id, "gymnasium:") && id.find(':') != id.rfind(':');
  std::vector<std::string> places = given;
  if (given.empty() && (has_module || !wrappers.empty())) {
    const char* path = std::getenv("PYTHONPATH");
    places = absl::StrSplit(path == nullptr ? "" : path, ':', absl::SkipEmpty());
    places.insert(places.begin(), ".");
  }
  std::vector<std::string> kept;
  for (const std::string& place : places) {
    std::error_code code;
    std::string whole = fs::absolute(place, code).lexically_normal().string();
    if (whole.size() > 1 && whole.back() == '/') whole.pop_back();
    if (!code && IsPrintableUtf8(whole)) kept.push_back(whole);
  }
  return kept;
}

absl::string_view WorkerScript() { return {kWorkerScriptText, sizeof(kWorkerScriptText) - 1}; }

absl::StatusOr<std::string> PythonPackages(const std::string& python) {
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<ChildProcess> child,
                      ChildProcess::Start({python, "-c", kPackagesScript}, {}));
  if (!child->WaitForEnd(kPackagesSeconds)) {
    return absl::DeadlineExceededError(
        absl::StrCat("'", python, "' gave no answer within ", kPackagesSeconds, " s"));
  }
  const std::string output(absl::StripAsciiWhitespace(child->OutputTail(kPackagesOutput)));
  if (child->end_text() == "exited with status 0") return output;
  return absl::InternalError(absl::StrCat("'", python, "' ", child->end_text(), ": ", output));
}

absl::Status ExplainRefusal(const std::string& python, const WorkerTask& task,
                            const absl::Status& status, const WorkerRefusal& refusal) {
  if (!refusal.missing_package.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "environment '", task.Name(), "' needs the Python package '", refusal.missing_package,
        "', which ", python, " has not (", refusal.error,
        "); install it with: tools/setup.sh --python-envs, or: ", python, " -m pip install ",
        PackageOf(refusal.missing_package), ", or name another interpreter by env.python"));
  }
  std::error_code code;
  std::string where;
  if (absl::StrContains(refusal.error, "No module named")) {
    for (const std::string& folder : task.python_path) {
      absl::StrAppend(&where, folder, fs::exists(folder, code) ? "" : " (no such folder)", ", ");
    }
    where = absl::StrCat("\nmodules are looked for in ", where, fs::current_path(code).string(),
                         " and on PYTHONPATH; PYTHONPATH=FOLDER names another folder");
  }
  return absl::Status(
      status.code(),
      absl::StrCat("environment '", task.Name(), "': ", status.message(), where,
                   refusal.traceback.empty() ? "" : absl::StrCat("\n", refusal.traceback)));
}

}  // namespace lzero
