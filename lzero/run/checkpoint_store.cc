#include "lzero/run/checkpoint_store.h"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "lzero/base/check.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/json_reader.h"
#include "lzero/run/run_folder.h"
#include "lzero/run/safetensors.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using Json = nlohmann::json;

constexpr const char* kStateFile = "state.json";
constexpr const char* kConfigFile = "config.resolved.yaml";
constexpr const char* kChecksumsFile = "checksums.json";
constexpr absl::string_view kArraysSuffix = ".safetensors";

using Checksums = std::map<std::string, WrittenFile>;  // by file name

// What checksums.json says.
struct Manifest {
  int64_t env_steps = 0;
  Checksums files;
};

std::string CheckpointsOf(const std::string& run_dir) { return JoinPath(run_dir, "checkpoints"); }

absl::Status SyncFolder(const std::string& path) {
  LZ_ASSIGN_OR_RETURN(const OpenFile folder,
                      OpenFile::Open(path, O_RDONLY | O_DIRECTORY, "cannot open folder"));
  return folder.Sync();
}

std::string FormatCrc(uint32_t crc32c) { return absl::StrFormat("%08x", crc32c); }

// The part of checksums.json that its own CRC covers; object keys are sorted, so it is canonical.
Json ChecksumsBody(int64_t env_steps, const Checksums& checksums) {
  Json files = Json::object();
  for (const auto& [name, facts] : checksums) {
    files[name] = {{"bytes", facts.size}, {"crc32c", FormatCrc(facts.crc32c)}};
  }
  return {{"env_steps", env_steps}, {"files", files}};
}

std::string ChecksumsText(int64_t env_steps, const Checksums& checksums) {
  Json json = ChecksumsBody(env_steps, checksums);
  json["crc32c"] = FormatCrc(Crc32c(json.dump()));
  return json.dump(2) + "\n";
}

void ReadCrc(const JsonReader& json, uint32_t* crc32c) {
  std::string digits;
  json.Read("crc32c", &digits);
  if (digits.size() != 8 || !absl::SimpleHexAtoi(digits, crc32c)) {
    json.Wrong("crc32c", "8 hexadecimal digits");
  }
}

absl::StatusOr<Manifest> ReadManifest(const std::string& folder) {
  const std::string path = JoinPath(folder, kChecksumsFile);
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (absl::IsNotFound(text.status())) return DamagedFile(path, "is missing");
  LZ_RETURN_IF_ERROR(text.status());
  LZ_ASSIGN_OR_RETURN(const JsonReader json,
                      JsonReader::Parse(*text, {path, absl::StatusCode::kDataLoss}));
  Manifest manifest;
  uint32_t own = 0;
  ReadCrc(json, &own);
  json.Read("env_steps", &manifest.env_steps, {.low = 0});
  const JsonReader files = json.Object("files");
  for (const std::string& name : files.Names()) {
    const JsonReader file = files.Object(name);
    file.Read("bytes", &manifest.files[name].size);
    ReadCrc(file, &manifest.files[name].crc32c);
  }
  LZ_RETURN_IF_ERROR(json.status());
  if (Crc32c(ChecksumsBody(manifest.env_steps, manifest.files).dump()) != own) {
    return json.Fail("its own CRC-32C does not fit");
  }
  for (const char* name : {kStateFile, kConfigFile}) {
    if (!manifest.files.contains(name)) return json.Fail(absl::StrCat("does not list ", name));
  }
  return manifest;
}

absl::Status VerifyFile(const std::string& path, const WrittenFile& expected) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return DamagedFile(path, "is missing or cannot be read");
  WrittenFile found;
  std::string buffer(1 << 20, '\0');
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto got = static_cast<size_t>(file.gcount());
    found.size += got;
    found.crc32c = Crc32c(absl::string_view(buffer.data(), got), found.crc32c);
  }
  if (found.size != expected.size) {
    return DamagedFile(
        path, absl::StrCat("has ", found.size, " bytes, ", expected.size, " were written"));
  }
  if (found.crc32c != expected.crc32c) {
    return DamagedFile(
        path, absl::StrCat("its content has changed: CRC-32C ", FormatCrc(found.crc32c), ", ",
                           FormatCrc(expected.crc32c), " was written"));
  }
  return absl::OkStatus();
}

bool IsTemporary(const std::string& name) { return absl::EndsWith(name, ".tmp"); }

absl::Status RemoveLeftovers(const std::string& checkpoints) {
  LZ_ASSIGN_OR_RETURN(const auto names, ListDirectory(checkpoints));
  for (const std::string& name : names) {
    if (IsTemporary(name)) LZ_RETURN_IF_ERROR(RemoveTree(JoinPath(checkpoints, name)));
  }
  return absl::OkStatus();
}

absl::Status WriteFiles(const std::string& folder, int64_t env_steps,
                        const CheckpointContent& content) {
  Checksums checksums;
  for (const auto& [name, arrays] : content.files) {
    const std::string file_name = absl::StrCat(name, kArraysSuffix);
    LZ_ASSIGN_OR_RETURN(checksums[file_name],
                        WriteSafetensors(JoinPath(folder, file_name), arrays,
                                         {{"env_steps", absl::StrCat(env_steps)}}));
  }
  for (const auto& [name, text] :
       {std::pair(kStateFile, &content.state_json), std::pair(kConfigFile, &content.config_yaml)}) {
    LZ_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(folder, name), *text));
    checksums[name] = {text->size(), Crc32c(*text)};
  }
  LZ_RETURN_IF_ERROR(
      WriteFileAtomic(JoinPath(folder, kChecksumsFile), ChecksumsText(env_steps, checksums)));
  return SyncFolder(folder);
}

// Gives the complete folder `temporary` its final name. An older folder of that name is swapped out
// in one step and removed, so that the name is never without a checkpoint.
absl::Status Publish(const std::string& temporary, const std::string& folder) {
  if (!FileExists(folder)) return RenameDurably(temporary, folder);
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    LZ_RETURN_IF_ERROR(SyncFolder(std::filesystem::path(folder).parent_path().string()));
    return RemoveTree(temporary);
  }
  // A file system without the exchange: between the two renames `latest` may point at nothing;
  // readers then take the newest complete checkpoint.
  const std::string replaced = folder + ".replaced.tmp";
  LZ_RETURN_IF_ERROR(RenameDurably(folder, replaced));
  LZ_RETURN_IF_ERROR(RenameDurably(temporary, folder));
  return RemoveTree(replaced);
}

// The step that the link checkpoints/`link` points at, or -1.
int64_t LinkedStep(const std::string& checkpoints, const char* link) {
  std::error_code code;
  const auto target = std::filesystem::read_symlink(JoinPath(checkpoints, link), code);
  return code ? -1 : StepOf(target.filename().string());
}

absl::Status RemoveOld(const std::string& run_dir, int64_t keep) {
  const std::string checkpoints = CheckpointsOf(run_dir);
  LZ_ASSIGN_OR_RETURN(const auto places, ListCheckpoints(run_dir));
  const std::set<int64_t> linked = {LinkedStep(checkpoints, "latest"),
                                    LinkedStep(checkpoints, "best")};
  for (size_t i = 0; i + static_cast<size_t>(keep) < places.size(); ++i) {
    if (linked.contains(places[i].env_steps)) continue;
    // Renamed first: a half-removed checkpoint must not look like a complete one.
    const std::string temporary = places[i].path + ".removed.tmp";
    LZ_RETURN_IF_ERROR(RenameDurably(places[i].path, temporary));
    LZ_RETURN_IF_ERROR(RemoveTree(temporary));
  }
  return absl::OkStatus();
}

// `path` has no links.
bool IsCheckpointFolder(const std::filesystem::path& path) {
  return IsDirectory(path.string()) && (StepOf(path.filename().string()) >= 0 ||
                                        FileExists(JoinPath(path.string(), kChecksumsFile)));
}

// `folder` is that of a step in the checkpoints/ of some run.
bool IsInRun(const std::filesystem::path& folder) {
  return StepOf(folder.filename().string()) >= 0 &&
         folder.parent_path().filename() == "checkpoints";
}

std::string OfferOther(const std::string& folder) {
  if (!IsInRun(folder)) return "";
  const std::optional<std::string> other = FindOtherIntact(folder);
  return other.has_value() ? "; newest intact checkpoint: " + *other
                           : "; no other checkpoint of this run is intact";
}

absl::StatusOr<LoadedCheckpoint> ReadFiles(const std::string& folder,
                                           absl::Span<const std::string> only) {
  LZ_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(folder));
  // Verify the files that are wanted against the manifest.
  std::vector<std::string> wanted;
  for (const auto& [file_name, facts] : manifest.files) {
    const absl::string_view name = absl::StripSuffix(file_name, kArraysSuffix);
    const bool is_text = file_name == kStateFile || file_name == kConfigFile;
    const bool is_wanted =
        only.empty() || is_text || std::find(only.begin(), only.end(), name) != only.end();
    if (!is_wanted) continue;
    LZ_RETURN_IF_ERROR(VerifyFile(JoinPath(folder, file_name), facts));
    if (!is_text) wanted.emplace_back(name);
  }
  // Every array file that was asked for must be there.
  for (const std::string& name : only) {
    if (std::find(wanted.begin(), wanted.end(), name) != wanted.end()) continue;
    return absl::NotFoundError(absl::StrCat(folder, " holds no ", name, kArraysSuffix));
  }
  // Read them.
  LoadedCheckpoint loaded{folder, manifest.env_steps, {}};
  LZ_ASSIGN_OR_RETURN(loaded.content.state_json, ReadFile(JoinPath(folder, kStateFile)));
  LZ_ASSIGN_OR_RETURN(loaded.content.config_yaml, ReadFile(JoinPath(folder, kConfigFile)));
  LZ_RETURN_IF_ERROR(JsonReader::Parse(loaded.content.state_json,
                                       {JoinPath(folder, kStateFile), absl::StatusCode::kDataLoss})
                         .status());
  for (const std::string& name : wanted) {
    const std::string path = JoinPath(folder, absl::StrCat(name, kArraysSuffix));
    LZ_ASSIGN_OR_RETURN(SafetensorsContent file, ReadSafetensors(path));
    loaded.content.files[name] = std::move(file.arrays);
  }
  return loaded;
}

}  // namespace

absl::StatusOr<std::string> WriteCheckpoint(const std::string& run_dir, int64_t env_steps,
                                            const CheckpointContent& content, int64_t keep) {
  LZ_CHECK(env_steps >= 0 && keep >= 1, "env_steps ", env_steps, ", keep ", keep);
  // Clear what a killed writer left.
  const std::string checkpoints = CheckpointsOf(run_dir);
  LZ_RETURN_IF_ERROR(MakeDirectories(checkpoints));
  LZ_RETURN_IF_ERROR(RemoveLeftovers(checkpoints));
  // Write to a folder beside, then rename it: a checkpoint is whole or absent.
  const std::string folder = JoinPath(checkpoints, StepName(env_steps));
  const std::string temporary = folder + ".tmp";
  LZ_RETURN_IF_ERROR(MakeDirectories(temporary));
  absl::Status status = WriteFiles(temporary, env_steps, content);
  if (status.ok()) status = Publish(temporary, folder);
  if (!status.ok()) {
    RemoveTree(temporary).IgnoreError();  // the first error is the one to report
    return Annotate(status, "the checkpoint was not written");
  }
  // Only now may older ones go.
  LZ_RETURN_IF_ERROR(ReplaceSymlink(StepName(env_steps), JoinPath(checkpoints, "latest")));
  LZ_RETURN_IF_ERROR(RemoveOld(run_dir, keep));
  return folder;
}

absl::Status MarkBestCheckpoint(const std::string& run_dir, int64_t env_steps) {
  const std::string checkpoints = CheckpointsOf(run_dir);
  const std::string folder = JoinPath(checkpoints, StepName(env_steps));
  if (!IsDirectory(folder)) return absl::NotFoundError(absl::StrCat("no checkpoint ", folder));
  return ReplaceSymlink(StepName(env_steps), JoinPath(checkpoints, "best"));
}

absl::StatusOr<std::vector<std::string>> RewindCheckpoints(const std::string& run_dir,
                                                           int64_t env_steps) {
  const std::string checkpoints = CheckpointsOf(run_dir);
  const std::string folder = JoinPath(checkpoints, StepName(env_steps));
  if (!IsDirectory(folder)) return absl::NotFoundError(absl::StrCat("no checkpoint ", folder));
  // `latest` first: a run that is killed in between and resumed comes here again.
  LZ_RETURN_IF_ERROR(ReplaceSymlink(StepName(env_steps), JoinPath(checkpoints, "latest")));
  if (LinkedStep(checkpoints, "best") > env_steps) {
    LZ_RETURN_IF_ERROR(RemoveTree(JoinPath(checkpoints, "best")));
  }
  return SetLaterStepsAside(checkpoints, env_steps);
}

absl::StatusOr<std::vector<CheckpointPlace>> ListCheckpoints(const std::string& run_dir) {
  const std::string checkpoints = CheckpointsOf(run_dir);
  std::vector<CheckpointPlace> places;
  if (!IsDirectory(checkpoints)) return places;
  LZ_ASSIGN_OR_RETURN(const auto names, ListDirectory(checkpoints));
  for (const std::string& name : names) {
    if (StepOf(name) >= 0) places.push_back({StepOf(name), JoinPath(checkpoints, name)});
  }
  std::sort(places.begin(), places.end(),
            [](const auto& a, const auto& b) { return a.env_steps < b.env_steps; });
  return places;
}

absl::StatusOr<std::string> FindCheckpoint(const std::string& path) {
  if (!FileExists(path))
    return absl::NotFoundError(absl::StrCat("no such folder: ", path, NearestFileHint(path)));
  if (!IsDirectory(path)) {
    return absl::NotFoundError(absl::StrCat(path, " is a file, no run folder or checkpoint"));
  }
  std::error_code code;
  std::filesystem::path found = std::filesystem::canonical(path, code);
  if (!IsCheckpointFolder(found)) {
    const bool is_inner = found.filename() == "checkpoints";
    const std::filesystem::path run_dir = is_inner ? found.parent_path() : found;
    found = run_dir / "checkpoints" / "latest";
    if (!IsDirectory(found.string())) {
      LZ_ASSIGN_OR_RETURN(const auto places, ListCheckpoints(run_dir.string()));
      if (places.empty()) {
        return absl::NotFoundError(absl::StrCat(path, " holds no checkpoint: neither ",
                                                found.string(), " nor a folder step_* beside it"));
      }
      found = places.back().path;
    }
    found = std::filesystem::canonical(found, code);
  }
  if (code) return absl::NotFoundError(absl::StrCat("cannot follow ", path, ": ", code.message()));
  return found.string();
}

absl::StatusOr<LoadedCheckpoint> ReadCheckpoint(const std::string& path,
                                                absl::Span<const std::string> only) {
  LZ_ASSIGN_OR_RETURN(const std::string folder, FindCheckpoint(path));
  absl::StatusOr<LoadedCheckpoint> loaded = ReadFiles(folder, only);
  if (absl::IsDataLoss(loaded.status())) {
    return absl::DataLossError(
        absl::StrCat("damaged checkpoint: ", loaded.status().message(), OfferOther(folder)));
  }
  return loaded;
}

std::optional<std::string> FindOtherIntact(const std::string& folder) {
  const std::filesystem::path path(folder);
  if (!IsInRun(path)) return std::nullopt;
  const auto places = ListCheckpoints(path.parent_path().parent_path().string());
  if (!places.ok()) return std::nullopt;
  for (auto place = places->rbegin(); place != places->rend(); ++place) {
    const bool is_other = place->env_steps != StepOf(path.filename().string());
    if (is_other && VerifyCheckpoint(place->path).ok()) return place->path;
  }
  return std::nullopt;
}

absl::Status VerifyCheckpoint(const std::string& folder) {
  LZ_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(folder));
  for (const auto& [name, facts] : manifest.files) {
    LZ_RETURN_IF_ERROR(VerifyFile(JoinPath(folder, name), facts));
  }
  return absl::OkStatus();
}

}  // namespace lzero
