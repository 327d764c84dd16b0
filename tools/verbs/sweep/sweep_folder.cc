#include "tools/verbs/sweep/sweep_folder.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/json_reader.h"
#include "lzero/config/dump.h"
#include "lzero/config/load.h"
#include "lzero/results/run_record.h"
#include "lzero/run/run_folder.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

constexpr const char* kSweepFile = "sweep.json";
constexpr size_t kMostShown = 6;  // differences in a message

std::string AxesText(const std::vector<SweepAxis>& axes) {
  const auto text = [](std::string* out, const SweepAxis& axis) {
    absl::StrAppend(out, axis.key, "=", absl::StrJoin(axis.values, ","));
  };
  return axes.empty() ? "no grid" : absl::StrJoin(axes, " ", text);
}

bool IsAxis(const std::string& key, const std::vector<SweepAxis>& axes) {
  return std::any_of(axes.begin(), axes.end(),
                     [&](const SweepAxis& axis) { return axis.key == key; });
}

absl::Status Taken(const std::string& path, const std::string& why) {
  return absl::FailedPreconditionError(
      absl::StrCat("sweep folder ", path, " ", why, "; give a new or empty folder with --out"));
}

}  // namespace

std::string SweepJson(const SweepIdentity& sweep) {
  nlohmann::ordered_json json;
  json["program"] = sweep.program;
  json["command"] = sweep.command;
  json["name"] = sweep.name;
  json["seeds"] = sweep.seeds;
  json["grid"] = nlohmann::ordered_json::array();
  for (const SweepAxis& axis : sweep.axes) {
    json["grid"].push_back({{"key", axis.key}, {"values", axis.values}});
  }
  json["config"] = ConfigWithoutSeed(sweep.config);
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

absl::StatusOr<SweepIdentity> ParseSweepJson(const std::string& json, const std::string& path) {
  LZ_ASSIGN_OR_RETURN(const JsonReader reader,
                      JsonReader::Parse(json, {path, absl::StatusCode::kDataLoss}));
  SweepIdentity sweep;
  std::string config;
  reader.Read("program", &sweep.program);
  reader.Read("command", &sweep.command);
  reader.Read("name", &sweep.name);
  reader.Read("seeds", &sweep.seeds);
  for (const JsonReader& axis : reader.Objects("grid")) {
    axis.Read("key", &sweep.axes.emplace_back().key);
    axis.Read("values", &sweep.axes.back().values);
  }
  reader.Read("config", &config);
  LZ_RETURN_IF_ERROR(reader.status());
  LZ_ASSIGN_OR_RETURN(sweep.config, ParseResolvedConfig(config, path));
  return sweep;
}

absl::StatusOr<SweepIdentity> ReadSweep(const std::string& path) {
  const std::string file = JoinPath(path, kSweepFile);
  LZ_ASSIGN_OR_RETURN(const std::string json, ReadFile(file));
  return ParseSweepJson(json, file);
}

std::vector<std::string> SweepDifferences(const SweepIdentity& stored,
                                          const SweepIdentity& wanted) {
  std::vector<std::string> differences;
  const auto add = [&](absl::string_view what, absl::string_view there, absl::string_view asked) {
    differences.push_back(absl::StrCat(what, there, " there, ", asked, " asked for"));
  };
  if (stored.name != wanted.name) add("config ", stored.name, wanted.name);
  for (const ConfigDifference& difference : DiffConfigs(stored.config, wanted.config)) {
    const std::string& key = difference.key;
    if (key == "seed" || IsAxis(key, stored.axes) || IsAxis(key, wanted.axes)) continue;
    add(absl::StrCat(key, "="), difference.a, difference.b);
  }
  if (stored.axes != wanted.axes) add("", AxesText(stored.axes), AxesText(wanted.axes));
  if (!std::includes(wanted.seeds.begin(), wanted.seeds.end(), stored.seeds.begin(),
                     stored.seeds.end())) {
    add("seeds ", absl::StrJoin(stored.seeds, ","), absl::StrJoin(wanted.seeds, ","));
  }
  return differences;
}

absl::StatusOr<std::optional<SweepIdentity>> CheckSweepFolder(const std::string& path,
                                                              const SweepIdentity& wanted) {
  if (!FileExists(path)) return std::nullopt;
  if (!IsDirectory(path)) return Taken(path, "is a file");
  // A folder that is empty but for what a sweep that was killed at once leaves.
  if (!FileExists(JoinPath(path, kSweepFile))) {
    LZ_ASSIGN_OR_RETURN(auto names, ListDirectory(path));
    std::erase(names, kRunLockFile);
    std::erase_if(names, [](const auto& name) { return absl::StartsWith(name, kSweepFile); });
    if (names.empty()) return std::nullopt;
    return Taken(path, absl::StrCat("is not empty and holds no sweep (it holds ", names[0], ")"));
  }
  LZ_ASSIGN_OR_RETURN(SweepIdentity stored, ReadSweep(path));
  std::vector<std::string> differences = SweepDifferences(stored, wanted);
  if (differences.empty()) return stored;
  if (differences.size() > kMostShown) {
    const size_t num_more = differences.size() - kMostShown;
    differences.resize(kMostShown);
    differences.push_back(absl::StrCat("and ", num_more, " more"));
  }
  return Taken(path, absl::StrCat("holds another sweep: ", absl::StrJoin(differences, "; ")));
}

absl::StatusOr<std::string> WriteSweep(const std::string& path, const SweepIdentity& sweep) {
  LZ_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(path, kSweepFile), SweepJson(sweep)));
  const std::string config_path = JoinPath(path, absl::StrCat(SafeFileName(sweep.name), ".yaml"));
  LZ_RETURN_IF_ERROR(WriteFileAtomic(config_path, ConfigWithoutSeed(sweep.config)));
  return config_path;
}

}  // namespace lzero
