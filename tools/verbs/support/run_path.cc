#include "tools/verbs/support/run_path.h"

#include <filesystem>
#include <system_error>

#include "lzero/base/files.h"

namespace lzero {

namespace fs = std::filesystem;

std::string TypedRunFolder(const std::string& path) {
  const std::string typed = WithoutEndSlashes(path);
  std::error_code code;
  const fs::path place = fs::canonical(typed, code);
  const bool is_inner = !code && place.parent_path().filename() == "checkpoints";
  if (!is_inner || FileExists(JoinPath(typed, "manifest.json"))) return typed;
  const fs::path run_dir = place.parent_path().parent_path();
  const fs::path outer = fs::path(typed).parent_path().parent_path();
  const bool is_same = !outer.empty() && fs::equivalent(outer, run_dir, code) && !code;
  return is_same ? WithoutEndSlashes(outer.string()) : run_dir.string();
}

std::string TypedCheckpoint(const std::string& path, const std::string& folder) {
  const std::string name = fs::path(folder).filename().string();
  const std::string typed = JoinPath(JoinPath(TypedRunFolder(path), "checkpoints"), name);
  std::error_code code;
  return fs::equivalent(typed, folder, code) && !code ? typed : folder;
}

}  // namespace lzero
