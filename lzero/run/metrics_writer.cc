#include "lzero/run/metrics_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

// Shortest digits that read back as the same double; valid JSON.
void AppendNumber(double value, std::string* out) {
  if (!std::isfinite(value)) {
    *out += "null";
    return;
  }
  char digits[32];
  const auto result = std::to_chars(digits, digits + sizeof(digits), value);
  out->append(digits, result.ptr);
}

}  // namespace

std::string FormatMetricsLine(int64_t env_steps, int64_t updates,
                              absl::Span<const Metric> metrics) {
  std::string line = absl::StrCat("{\"env_steps\":", env_steps, ",\"updates\":", updates);
  for (const auto& [name, value] : metrics) {
    const nlohmann::json key = name;
    absl::StrAppend(&line, ",", key.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                    ":");
    AppendNumber(value, &line);
  }
  line += "}\n";
  return line;
}

absl::StatusOr<std::unique_ptr<MetricsWriter>> MetricsWriter::Create(
    const std::string& run_dir, std::unique_ptr<TensorBoardWriter> tensorboard) {
  const std::string path = JoinPath(run_dir, "metrics.jsonl");
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return SystemError("cannot open", path);
  struct stat facts = {};
  if (::fstat(file, &facts) != 0) {
    const absl::Status status = SystemError("cannot read the size of", path);
    ::close(file);
    return status;
  }
  return std::unique_ptr<MetricsWriter>(
      new MetricsWriter(path, file, facts.st_size, std::move(tensorboard)));
}

MetricsWriter::MetricsWriter(std::string path, int file, int64_t offset,
                             std::unique_ptr<TensorBoardWriter> tensorboard)
    : path_(std::move(path)), file_(file), offset_(offset), tensorboard_(std::move(tensorboard)) {}

MetricsWriter::~MetricsWriter() { ::close(file_); }

absl::Status MetricsWriter::Write(int64_t env_steps, int64_t updates,
                                  absl::Span<const Metric> metrics) {
  const std::string line = FormatMetricsLine(env_steps, updates, metrics);
  absl::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("cannot write", path_);
    rest.remove_prefix(static_cast<size_t>(written));
    offset_ += written;
  }
  if (tensorboard_ == nullptr) return absl::OkStatus();
  for (const auto& [name, value] : metrics) tensorboard_->AddScalar(name, value, env_steps);
  return tensorboard_->Flush();
}

absl::StatusOr<int64_t> MetricsWriter::Sync() {
  if (::fdatasync(file_) != 0) return SystemError("cannot sync", path_);
  return offset_;
}

absl::StatusOr<int64_t> MetricsWriter::LineEndBefore(int64_t limit) const {
  for (; limit > 0; --limit) {
    char last = '\0';
    if (::pread(file_, &last, 1, limit - 1) != 1) return SystemError("cannot read", path_);
    if (last == '\n') break;
  }
  return limit;
}

absl::Status MetricsWriter::CheckOffset(int64_t offset) const {
  LZ_ASSIGN_OR_RETURN(const int64_t line_end, LineEndBefore(std::min(offset, offset_)));
  if (offset > offset_ || (offset >= 0 && line_end == offset)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path_, ": byte ", offset,
                   ", where the checkpoint was made, is inside a line; the file is not the one "
                   "that belongs to the checkpoint; move it away to go on without it"));
}

absl::StatusOr<std::string> MetricsWriter::CopyBehind(int64_t offset) const {
  LZ_RETURN_IF_ERROR(CheckOffset(offset));
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(path_));
  if (static_cast<int64_t>(text.size()) <= offset) return "";
  const std::string aside = path_ + ".aside";
  LZ_RETURN_IF_ERROR(WriteFileAtomic(aside, text.substr(static_cast<size_t>(offset))));
  return aside;
}

absl::Status MetricsWriter::TruncateTo(int64_t offset, int64_t env_steps) {
  LZ_RETURN_IF_ERROR(CheckOffset(offset));
  LZ_ASSIGN_OR_RETURN(const int64_t line_end, LineEndBefore(std::min(offset, offset_)));
  if (offset > offset_) {
    LZ_LOG_WARNING(path_, " had ", offset, " bytes when the checkpoint was made and has ", offset_,
                   " now: the metrics of the last ", offset - line_end,
                   " bytes before the checkpoint are lost; the run goes on");
  }
  if (::ftruncate(file_, line_end) != 0) return SystemError("cannot shorten", path_);
  offset_ = line_end;
  if (tensorboard_ == nullptr) return absl::OkStatus();
  tensorboard_->AddRestart(env_steps + 1);
  return tensorboard_->Flush();
}

}  // namespace lzero
