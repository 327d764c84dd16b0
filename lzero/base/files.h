// Whole-file reading and durable writing. Errors name the path. Blocks on the disk.
#ifndef LZERO_BASE_FILES_H_
#define LZERO_BASE_FILES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace lzero {

// "what path: the system's words for errno"; NotFound where the path does not exist, else
// Unavailable.
absl::Status SystemError(absl::string_view what, const std::string& path);
// DataLoss "path: what".
absl::Status DamagedFile(absl::string_view path, absl::string_view what);

// A file that is closed with its object. One thread.
class OpenFile {
 public:
  // As ::open; `flags` without O_CLOEXEC. "cannot open path: ...", or another `what`.
  static absl::StatusOr<OpenFile> Open(const std::string& path, int flags,
                                       absl::string_view what = "cannot open");
  OpenFile(OpenFile&& other) noexcept { *this = std::move(other); }
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }
  absl::Status Write(absl::string_view content) const;  // all of it
  // Fills `out` as far as the file goes; the bytes read.
  absl::StatusOr<size_t> Read(absl::Span<char> out) const;
  absl::Status Sync() const;

 private:
  OpenFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;  // -1: moved from
  std::string path_;
};

// The whole file as bytes. NotFound when it does not exist.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Writes `content` to `path`.tmp, fsyncs, and renames: after a crash the path holds either the old
// or the new content, never a mixture.
absl::Status WriteFileAtomic(const std::string& path, absl::string_view content);

// For a path that a user named: a file is written atomically, also behind a symbolic link, and what
// is no regular file (a device, a pipe), or where this process prints, is written into and stays
// what it is. InvalidArgument when there is no folder for it.
absl::Status WriteOutput(const std::string& path, absl::string_view content);

// Appends `content` to `path` (created if missing), not durable.
absl::Status AppendFile(const std::string& path, absl::string_view content);

// `path` without slashes at its end ("/" stays).
std::string WithoutEndSlashes(std::string path);

absl::Status MakeDirectories(const std::string& path);
absl::Status RemoveTree(const std::string& path);
// Renames a file or folder over `to` and fsyncs the parent folder.
absl::Status RenameDurably(const std::string& from, const std::string& to);
// Makes `link` point at `target` (relative), replacing an older link in one step.
absl::Status ReplaceSymlink(const std::string& target, const std::string& link);
bool FileExists(const std::string& path);
bool IsDirectory(const std::string& path);
// "; did you mean 'a/name'?" for a path that does not exist: up to the first part that is missing,
// for which the nearest name stands; "" when none is near.
std::string NearestFileHint(const std::string& path);
// Names (not paths) in a folder, sorted.
absl::StatusOr<std::vector<std::string>> ListDirectory(const std::string& path);
// a/b joined with one slash.
std::string JoinPath(absl::string_view a, absl::string_view b);

// CRC-32C (Castagnoli) of `bytes`, continued from `crc` (0 to begin).
uint32_t Crc32c(absl::string_view bytes, uint32_t crc = 0);

}  // namespace lzero

#endif  // LZERO_BASE_FILES_H_
