#include "lzero/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "lzero/base/nearest.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

absl::Status FromErrorCode(absl::string_view what, const std::string& path,
                           const std::error_code& code) {
  errno = code.value();
  return code ? SystemError(what, path) : absl::OkStatus();
}

absl::Status SyncDirectoryOf(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  LZ_ASSIGN_OR_RETURN(const OpenFile folder,
                      OpenFile::Open(parent, O_RDONLY | O_DIRECTORY, "cannot open folder"));
  folder.Sync().IgnoreError();  // not every file system can
  return absl::OkStatus();
}

}  // namespace

absl::Status SystemError(absl::string_view what, const std::string& path) {
  const int code = errno;
  const std::string message = absl::StrCat(what, " ", path, ": ", std::strerror(code));
  return code == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
}

absl::Status DamagedFile(absl::string_view path, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(path, ": ", what));
}

absl::StatusOr<OpenFile> OpenFile::Open(const std::string& path, int flags,
                                        absl::string_view what) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (descriptor < 0) return SystemError(what, path);
  return OpenFile(descriptor, path);
}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

absl::Status OpenFile::Write(absl::string_view content) const {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor_, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("cannot write", path_);
    content.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> OpenFile::Read(absl::Span<char> out) const {
  size_t filled = 0;
  while (filled < out.size()) {
    const ssize_t got = ::read(descriptor_, out.data() + filled, out.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("cannot read", path_);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  return filled;
}

absl::Status OpenFile::Sync() const {
  return ::fsync(descriptor_) == 0 ? absl::OkStatus() : SystemError("cannot sync", path_);
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  LZ_ASSIGN_OR_RETURN(const OpenFile file, OpenFile::Open(path, O_RDONLY));
  std::string content;
  struct stat facts = {};
  if (::fstat(file.descriptor(), &facts) == 0 && facts.st_size > 0) {
    content.reserve(static_cast<size_t>(facts.st_size));
  }
  char buffer[1 << 16];
  size_t got = sizeof(buffer);
  while (got == sizeof(buffer)) {
    LZ_ASSIGN_OR_RETURN(got, file.Read(absl::MakeSpan(buffer)));
    content.append(buffer, got);
  }
  return content;
}

absl::Status WriteFileAtomic(const std::string& path, absl::string_view content) {
  const std::string temporary = path + ".tmp";
  LZ_ASSIGN_OR_RETURN(const OpenFile file,
                      OpenFile::Open(temporary, O_WRONLY | O_CREAT | O_TRUNC, "cannot create"));
  absl::Status status = file.Write(content);
  if (status.ok()) status = file.Sync();
  if (status.ok()) status = RenameDurably(temporary, path);
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

// Where a path leads, also to what is not there yet; a link when they lead around in a circle.
std::filesystem::path BehindLinks(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::error_code code;
  std::filesystem::path target = std::filesystem::absolute(path, code);
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(target, code); ++i) {
    target = target.parent_path() / std::filesystem::read_symlink(target, code);
  }
  return target;
}

// Whether this process prints there.
bool IsOwnOutput(const struct stat& facts) {
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own = {};
    if (::fstat(output, &own) != 0) continue;
    if (own.st_dev == facts.st_dev && own.st_ino == facts.st_ino) return true;
  }
  return false;
}

absl::Status WriteOutput(const std::string& path, absl::string_view content) {
  struct stat facts = {};
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  if (exists && (!S_ISREG(facts.st_mode) || IsOwnOutput(facts))) {
    LZ_ASSIGN_OR_RETURN(const OpenFile file, OpenFile::Open(path, O_WRONLY | O_APPEND));
    return file.Write(content);
  }
  std::error_code code;
  const std::filesystem::path target = BehindLinks(path);
  if (std::filesystem::is_symlink(target, code)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot create ", path, ": links lead around in a circle"));
  }
  const std::filesystem::path folder = target.parent_path();
  if (!std::filesystem::is_directory(folder, code)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot create ", path, ": no folder ", folder.string()));
  }
  return WriteFileAtomic(target.string(), content);
}

absl::Status AppendFile(const std::string& path, absl::string_view content) {
  LZ_ASSIGN_OR_RETURN(const OpenFile file, OpenFile::Open(path, O_WRONLY | O_CREAT | O_APPEND));
  return file.Write(content);
}

absl::Status MakeDirectories(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  return FromErrorCode("cannot create folder", path, code);
}

absl::Status RemoveTree(const std::string& path) {
  std::error_code code;
  std::filesystem::remove_all(path, code);
  return FromErrorCode("cannot remove", path, code);
}

absl::Status RenameDurably(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return SystemError(absl::StrCat("cannot rename ", from, " to"), to);
  }
  return SyncDirectoryOf(to);
}

absl::Status ReplaceSymlink(const std::string& target, const std::string& link) {
  const std::string temporary = link + ".tmp";
  ::unlink(temporary.c_str());
  if (::symlink(target.c_str(), temporary.c_str()) != 0) {
    return SystemError("cannot create link", temporary);
  }
  return RenameDurably(temporary, link);
}

bool FileExists(const std::string& path) {
  std::error_code code;
  return std::filesystem::exists(path, code);
}

bool IsDirectory(const std::string& path) {
  std::error_code code;
  return std::filesystem::is_directory(path, code);
}

std::string NearestFileHint(const std::string& path) {
  std::filesystem::path missing = path;
  if (!missing.has_filename()) missing = missing.parent_path();  // of a slash at the end
  while (missing.has_parent_path() && !FileExists(missing.parent_path().string()) &&
         missing != missing.parent_path()) {
    missing = missing.parent_path();
  }
  const std::string folder = missing.parent_path().string();
  const auto names = ListDirectory(folder.empty() ? "." : folder);
  const std::string nearest =
      names.ok() ? NearestName(missing.filename().string(), *names) : std::string();
  if (nearest.empty()) return "";
  return absl::StrCat("; did you mean '", (missing.parent_path() / nearest).string(), "'?");
}

absl::StatusOr<std::vector<std::string>> ListDirectory(const std::string& path) {
  std::error_code code;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(path, code);
  const std::filesystem::directory_iterator end;
  while (!code && entry != end) {
    names.push_back(entry->path().filename().string());
    entry.increment(code);
  }
  LZ_RETURN_IF_ERROR(FromErrorCode("cannot list folder", path, code));
  std::sort(names.begin(), names.end());
  return names;
}

std::string WithoutEndSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string JoinPath(absl::string_view a, absl::string_view b) {
  if (a.empty()) return std::string(b);
  return absl::StrCat(a, a.back() == '/' ? "" : "/", b);
}

namespace {

constexpr std::array<std::array<uint32_t, 256>, 8> MakeCrcTables() {
  std::array<std::array<uint32_t, 256>, 8> tables = {};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0u);
    tables[0][i] = crc;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    for (int t = 1; t < 8; ++t) {
      tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
    }
  }
  return tables;
}

}  // namespace

uint32_t Crc32c(absl::string_view bytes, uint32_t crc) {
  static constexpr auto kTables = MakeCrcTables();  // slicing by eight
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  crc = ~crc;
  while (left >= 8) {
    uint32_t low, high;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + 4, 4);
    low ^= crc;
    crc = kTables[7][low & 0xff] ^ kTables[6][low >> 8 & 0xff] ^ kTables[5][low >> 16 & 0xff] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^ kTables[2][high >> 8 & 0xff] ^
          kTables[1][high >> 16 & 0xff] ^ kTables[0][high >> 24];
    at += 8;
    left -= 8;
  }
  while (left-- > 0) crc = crc >> 8 ^ kTables[0][(crc ^ *at++) & 0xff];
  return ~crc;
}

}  // namespace lzero
