#include "lzero/run/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

constexpr const char* kManifest = "manifest.json";
constexpr const char* kConfig = "config.yaml";
constexpr const char* kResolvedConfig = "config.resolved.yaml";
constexpr const char* kLog = "log.txt";
constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

// `text` as one component of a path: never empty, hidden, or a way to another folder.
std::string FileNamePart(const std::string& text) {
  std::string part = text.empty() ? "run" : text;
  for (char& c : part) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') {
      c = '-';
    }
  }
  if (part[0] == '.') part[0] = '-';
  return part;
}

std::string FormatUtc(const char* format, absl::Time time) {
  return absl::FormatTime(format, time, absl::UTCTimeZone());
}

std::string ManifestText(const RunDescription& description) {
  nlohmann::ordered_json json;
  json["lzero_version"] = description.version;
  if (!description.git_commit.empty()) json["git_commit"] = description.git_commit;
  json["env"] = description.env_id;
  json["name"] = description.name;
  json["seed"] = description.seed;
  json["start_time"] = FormatUtc("%Y-%m-%dT%H:%M:%SZ", description.start_time);
  json["command_line"] = description.command_line;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

absl::StatusOr<RunFolder> Fill(RunFolder folder, const RunDescription& description) {
  const std::string& path = folder.path;
  LZ_RETURN_IF_ERROR(WriteFileAtomic(
      JoinPath(path, kConfig), ConfigCopyText(description.config_path, description.config_text)));
  LZ_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(path, kResolvedConfig), description.resolved_text));
  LZ_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(path, kManifest), ManifestText(description)));
  LZ_RETURN_IF_ERROR(SetLogFile(JoinPath(path, kLog)));
  return folder;
}

// A folder or file that cannot be made is the machine's fault, whatever the system calls it (a
// missing parent in /proc, no permission, a full disk).
absl::Status AsUnavailable(const absl::Status& status) {
  return status.ok() ? status : absl::UnavailableError(status.message());
}

// FailedPrecondition when `run_dir` holds anything but a lock file.
absl::Status CheckEmpty(const std::string& run_dir, const std::string& program) {
  LZ_ASSIGN_OR_RETURN(auto names, ListDirectory(run_dir));
  std::erase(names, kRunLockFile);
  if (names.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("run folder ", run_dir, " is not empty (it holds ", names[0],
                   "): give an empty or new folder, or continue the run in it with: ", program,
                   " resume ", run_dir));
}

absl::Status InUse(const std::string& run_dir) {
  const auto text = ReadFile(JoinPath(run_dir, kRunLockFile));
  const std::string holder(absl::StripAsciiWhitespace(text.ok() ? *text : ""));
  return absl::FailedPreconditionError(
      absl::StrCat("run folder ", run_dir, " is in use by ",
                   holder.empty() ? "another process" : absl::StrCat("process ", holder),
                   ": wait for it, or stop it with Ctrl-C or kill, then try again"));
}

}  // namespace

absl::StatusOr<RunLock> RunLock::Acquire(const std::string& run_dir) {
  auto file = OpenFile::Open(JoinPath(run_dir, kRunLockFile), O_RDWR | O_CREAT);
  if (!file.ok()) return AsUnavailable(file.status());
  if (::flock(file->descriptor(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return InUse(run_dir);
    return AsUnavailable(SystemError("cannot lock", file->path()));
  }
  RunLock lock(*std::move(file));
  if (::ftruncate(lock.file_.descriptor(), 0) != 0) {
    return AsUnavailable(SystemError("cannot write", lock.file_.path()));
  }
  LZ_RETURN_IF_ERROR(AsUnavailable(lock.file_.Write(absl::StrCat(::getpid(), "\n"))));
  return lock;
}

RunLock::~RunLock() {
  if (file_.descriptor() < 0) return;
  // The id goes first: the next holder must never be taken for this one. Should that fail, the next
  // holder writes its own over it.
  [[maybe_unused]] const int ignored = ::ftruncate(file_.descriptor(), 0);
}

bool IsRunInUse(const std::string& run_dir) {
  const auto file = OpenFile::Open(JoinPath(run_dir, kRunLockFile), O_RDONLY);
  return file.ok() && ::flock(file->descriptor(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::string ConfigCopyText(const std::string& config_path, const std::string& config_text) {
  std::string path = config_path;
  for (char& c : path) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = '?';  // or the comment would end
  }
  // A byte order mark is one at the beginning only.
  const size_t mark = absl::StartsWith(config_text, kByteOrderMark) ? kByteOrderMark.size() : 0;
  return absl::StrCat(
      config_text.substr(0, mark), "# Copy of ", path, "; `extends` is relative to that file.\n",
      "# Every setting of this run: ", kResolvedConfig, "\n", config_text.substr(mark));
}

absl::StatusOr<RunFolder> CreateRunFolder(const std::string& root,
                                          const RunDescription& description) {
  const std::string parent = JoinPath(root, FileNamePart(description.env_id));
  LZ_RETURN_IF_ERROR(AsUnavailable(MakeDirectories(parent)));
  const std::string base =
      absl::StrCat(JoinPath(parent, FileNamePart(description.name)), "-s", description.seed, "-",
                   FormatUtc("%Y%m%dT%H%M%SZ", description.start_time));
  std::string run_dir = base;
  // mkdir decides who owns a name when two runs start in the same second.
  for (int number = 2; ::mkdir(run_dir.c_str(), 0755) != 0; ++number) {
    if (errno != EEXIST) {
      return AsUnavailable(SystemError("cannot create run folder", run_dir));
    }
    run_dir = absl::StrCat(base, "-", number);
  }
  LZ_ASSIGN_OR_RETURN(RunLock lock, RunLock::Acquire(run_dir));
  return Fill({run_dir, std::move(lock)}, description);
}

absl::StatusOr<RunFolder> CreateRunFolderAt(const std::string& run_dir,
                                            const RunDescription& description,
                                            const std::string& program) {
  LZ_RETURN_IF_ERROR(CheckRunFolderAt(run_dir, program));
  LZ_RETURN_IF_ERROR(AsUnavailable(MakeDirectories(run_dir)));
  LZ_ASSIGN_OR_RETURN(RunLock lock, RunLock::Acquire(run_dir));
  LZ_RETURN_IF_ERROR(CheckEmpty(run_dir, program));
  return Fill({run_dir, std::move(lock)}, description);
}

absl::Status CheckRunFolderAt(const std::string& run_dir, const std::string& program) {
  if (!FileExists(run_dir)) return absl::OkStatus();
  if (!IsDirectory(run_dir)) {
    return absl::FailedPreconditionError(
        absl::StrCat("run folder ", run_dir, " is a file; allowed: an empty or new folder"));
  }
  // A folder that is refused stays as it was: no lock file is added to one that has none.
  if (FileExists(JoinPath(run_dir, kRunLockFile))) {
    LZ_RETURN_IF_ERROR(RunLock::Acquire(run_dir).status());
  }
  return CheckEmpty(run_dir, program);
}

absl::StatusOr<RunFolder> OpenRunFolder(const std::string& path) {
  if (!IsDirectory(path))
    return absl::NotFoundError(absl::StrCat("no such run folder: ", path, NearestFileHint(path)));
  for (const char* name : {kManifest, kResolvedConfig}) {
    if (!FileExists(JoinPath(path, name))) {
      return absl::NotFoundError(absl::StrCat(path, " is not the folder of a run: no ", name));
    }
  }
  LZ_ASSIGN_OR_RETURN(RunLock lock, RunLock::Acquire(path));
  LZ_RETURN_IF_ERROR(SetLogFile(JoinPath(path, kLog)));
  return RunFolder{path, std::move(lock)};
}

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
