#include "lzero/run/metrics_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace lzero {
std::string FormatNumber(double value) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

std::string FormatMetricsLine(int64_t env_steps, int64_t updates,
                              absl::Span<const Metric> metrics) {
  std::string line = absl::StrCat("{\"env_steps\":", env_steps, ",\"updates\":", updates);
  for (const auto& [name, value] : metrics) {
    const nlohmann::json key = name;
    absl::StrAppend(&line, ",", key.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                    ":", std::isfinite(value) ? FormatNumber(value) : "null");
  }
  line += "}\n";
  return line;
}

absl::StatusOr<std::unique_ptr<MetricsWriter>> MetricsWriter::Create(
    const std::string& run_dir, std::unique_ptr<TensorBoardWriter> tensorboard) {
  const std::string path = JoinPath(run_dir, "metrics.jsonl");
  LZ_ASSIGN_OR_RETURN(OpenFile file, OpenFile::Open(path, O_RDWR | O_CREAT | O_APPEND));
  struct stat facts = {};
  if (::fstat(file.descriptor(), &facts) != 0) return SystemError("cannot read the size of", path);
  return std::unique_ptr<MetricsWriter>(
      new MetricsWriter(std::move(file), facts.st_size, std::move(tensorboard)));
}

absl::Status MetricsWriter::Write(int64_t env_steps, int64_t updates,
                                  absl::Span<const Metric> metrics) {
  const std::string line = FormatMetricsLine(env_steps, updates, metrics);
  LZ_RETURN_IF_ERROR(file_.Write(line));
  offset_ += static_cast<int64_t>(line.size());
  if (tensorboard_ == nullptr) return absl::OkStatus();
  for (const auto& [name, value] : metrics) tensorboard_->AddScalar(name, value, env_steps);
  return tensorboard_->Flush();
}

absl::StatusOr<int64_t> MetricsWriter::Sync() {
  if (::fdatasync(file_.descriptor()) != 0) return SystemError("cannot sync", file_.path());
  return offset_;
}

absl::StatusOr<int64_t> MetricsWriter::LineEndBefore(int64_t limit) const {
  if (limit <= 0) return limit;
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(file_.path()));
  return static_cast<int64_t>(text.rfind('\n', static_cast<size_t>(limit - 1)) + 1);
}

absl::Status MetricsWriter::CheckOffset(int64_t offset) const {
  LZ_ASSIGN_OR_RETURN(const int64_t line_end, LineEndBefore(std::min(offset, offset_)));
  if (offset > offset_ || (offset >= 0 && line_end == offset)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(file_.path(), ": byte ", offset,
                   ", where the checkpoint was made, is inside a line; the file is not the one "
                   "that belongs to the checkpoint; move it away to go on without it"));
}

absl::StatusOr<std::string> MetricsWriter::CopyBehind(int64_t offset) const {
  LZ_RETURN_IF_ERROR(CheckOffset(offset));
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(file_.path()));
  if (static_cast<int64_t>(text.size()) <= offset) return "";
  const std::string aside = file_.path() + ".aside";
  LZ_RETURN_IF_ERROR(WriteFileAtomic(aside, text.substr(static_cast<size_t>(offset))));
  return aside;
}

absl::Status MetricsWriter::TruncateTo(int64_t offset, int64_t env_steps) {
  LZ_RETURN_IF_ERROR(CheckOffset(offset));
  LZ_ASSIGN_OR_RETURN(const int64_t line_end, LineEndBefore(std::min(offset, offset_)));
  if (offset > offset_) {
    LZ_LOG_WARNING(file_.path(), " had ", offset, " bytes when the checkpoint was made and has ",
                   offset_, " now: the metrics of the last ", offset - line_end,
                   " bytes before the checkpoint are lost; the run goes on");
  }
  if (::ftruncate(file_.descriptor(), line_end) != 0)
    return SystemError("cannot shorten", file_.path());
  offset_ = line_end;
  if (tensorboard_ == nullptr) return absl::OkStatus();
  tensorboard_->AddRestart(env_steps + 1);
  return tensorboard_->Flush();
}

}  // namespace lzero
