#include "lzero/config/load.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxChain = 32;  // files that extend each other
constexpr char kTasksPrefix[] = "tasks.";

std::string KeyOf(const std::string& assignment) {
  return assignment.substr(0, assignment.find('='));
}

// The bytes of a config file; the error is a clause that does not name the file.
absl::StatusOr<std::string> ReadConfigFile(const std::string& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) {
    return absl::NotFoundError(absl::StrCat("no such file", NearestFileHint(path)));
  }
  if (!fs::is_regular_file(status)) {
    return absl::InvalidArgumentError(fs::is_directory(status) ? "a folder; allowed: a YAML file"
                                                               : "not a regular file");
  }
  const uintmax_t size = fs::file_size(path, code);
  if (!code && size > kMaxConfigBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("too large for a config; got ", size, " bytes; allowed: ", kMaxConfigBytes));
  }
  return ReadFile(path);
}

// Adds the file and all it extends.
void ReadChain(const std::string& path, ConfigAssembler* assembler) {
  std::set<fs::path> seen;
  for (std::string next = path, base;; next = (fs::path(next).parent_path() / base).string()) {
    const std::string shown = fs::path(next).lexically_normal().string();
    const std::string chain =
        seen.empty() ? "" : absl::StrCat("; chain: ", assembler->ChainText(), " -> ", shown);
    // Refuse cycles and long chains.
    std::error_code code;
    if (!seen.insert(fs::weakly_canonical(next, code)).second) {
      return assembler->ReportUnreadable(
          absl::StrCat("the files extend each other in a cycle", chain));
    }
    if (seen.size() > kMaxChain) {
      return assembler->ReportUnreadable(
          absl::StrCat("too many files extend each other; allowed: ", kMaxChain, chain));
    }
    // Read the file and go on with the one that it extends.
    const absl::StatusOr<std::string> content = ReadConfigFile(next);
    if (!content.ok()) {
      return assembler->ReportUnreadable(
          absl::StrCat(shown, ": ", content.status().message(), chain));
    }
    assembler->AddLayer(shown, *content);
    base = assembler->LowestExtends();
    if (base.empty()) return;
  }
}

absl::StatusOr<LoadedConfig> ApplyAll(ConfigAssembler* assembler,
                                      absl::Span<const std::string> overrides,
                                      const ConfigRule& extra_rule) {
  assembler->ApplyLayers();
  const auto tasks = assembler->MakeTasks();
  for (const std::string& assignment : overrides) {
    if (!absl::StartsWith(assignment, kTasksPrefix)) assembler->ApplyOverride(assignment);
  }
  std::vector<std::string> names;
  for (const auto& task : tasks) {
    const std::string prefix = absl::StrCat(kTasksPrefix, task->task(), ".");
    names.push_back(prefix);
    // What is said of this task wins over what is said of all, wherever it stands.
    std::set<std::string> own_keys;
    for (const std::string& assignment : overrides) {
      absl::string_view own = assignment;
      if (!absl::ConsumePrefix(&own, prefix)) continue;
      own_keys.emplace(own.substr(0, own.find('=')));
      task->ApplyOverride(std::string(own), prefix);
    }
    for (const std::string& assignment : overrides) {
      if (absl::StartsWith(assignment, kTasksPrefix)) continue;
      if (!own_keys.contains(KeyOf(assignment))) task->ApplyOverride(assignment);
    }
  }
  for (const std::string& assignment : overrides) {
    const auto names_it = [&assignment](const std::string& prefix) {
      return absl::StartsWith(assignment, prefix);
    };
    if (absl::StartsWith(assignment, kTasksPrefix) && std::ranges::none_of(names, names_it)) {
      assembler->ReportNoTask(assignment);
    }
  }
  return assembler->Finish(extra_rule, tasks);
}

}  // namespace

absl::StatusOr<LoadedConfig> LoadConfig(const std::string& path,
                                        absl::Span<const std::string> overrides,
                                        const ConfigRule& extra_rule) {
  ConfigAssembler assembler;
  ReadChain(path, &assembler);
  return ApplyAll(&assembler, overrides, extra_rule);
}

absl::StatusOr<LoadedConfig> LoadConfigText(absl::string_view text, const std::string& name,
                                            absl::Span<const std::string> overrides,
                                            const ConfigRule& extra_rule) {
  ConfigAssembler assembler;
  assembler.AddLayer(name, text);
  if (!assembler.LowestExtends().empty()) {
    assembler.ReportUnreadable("this text may not extend a file; allowed: the keys themselves");
  }
  return ApplyAll(&assembler, overrides, extra_rule);
}

absl::StatusOr<ExperimentConfig> ParseResolvedConfig(absl::string_view text,
                                                     const std::string& name) {
  LZ_ASSIGN_OR_RETURN(LoadedConfig loaded, LoadConfigText(text, name, {}));
  return std::move(loaded.config);
}

}  // namespace lzero
