// The numbers of a run over environment steps: metrics.jsonl, one JSON object a line, and the same
// numbers as TensorBoard scalars. Equal calls write an equal metrics.jsonl, byte for byte (wall
// time is only in the TensorBoard file). Belongs to one thread; every line is handed to the
// operating system before Write returns.
#ifndef LZERO_RUN_METRICS_WRITER_H_
#define LZERO_RUN_METRICS_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/files.h"
#include "lzero/run/tensorboard_writer.h"

namespace lzero {

using Metric = std::pair<std::string, double>;

class MetricsWriter {
 public:
  // Appends to `run_dir`/metrics.jsonl (created if missing); `tensorboard` may be null.
  static absl::StatusOr<std::unique_ptr<MetricsWriter>> Create(
      const std::string& run_dir, std::unique_ptr<TensorBoardWriter> tensorboard);

  // Adds {"env_steps":..,"updates":..,<metrics in their order>}. Numbers have the fewest digits
  // that give the same double again. NaN and infinities, which JSON lacks, become null (and stay in
  // TensorBoard). Unavailable when the disk refuses.
  absl::Status Write(int64_t env_steps, int64_t updates, absl::Span<const Metric> metrics);

  int64_t offset() const { return offset_; }  // length of metrics.jsonl

  // Waits until all lines are on the disk, so that a power cut leaves them there, and returns the
  // length of metrics.jsonl: what a checkpoint stores. Unavailable when the disk refuses.
  absl::StatusOr<int64_t> Sync();

  // Copies what metrics.jsonl holds behind `offset` to metrics.jsonl.aside, replacing an older one.
  // Returns its path, or "" when nothing is behind `offset`. InvalidArgument as TruncateTo.
  absl::StatusOr<std::string> CopyBehind(int64_t offset) const;

  // Gives the InvalidArgument of TruncateTo; changes nothing.
  absl::Status CheckOffset(int64_t offset) const;

  // Cuts metrics.jsonl to the length it had at a checkpoint of step `env_steps`, and tells
  // TensorBoard to forget later points. A file that is shorter, or gone, has lost lines: a warning
  // says how much, and the whole lines that are left stay. InvalidArgument when `offset` is not the
  // end of a line of a longer file.
  absl::Status TruncateTo(int64_t offset, int64_t env_steps);

 private:
  // The end of the last whole line within the first `limit` bytes.
  absl::StatusOr<int64_t> LineEndBefore(int64_t limit) const;
  MetricsWriter(OpenFile file, int64_t offset, std::unique_ptr<TensorBoardWriter> tensorboard)
      : file_(std::move(file)), offset_(offset), tensorboard_(std::move(tensorboard)) {}

  OpenFile file_;
  int64_t offset_;
  std::unique_ptr<TensorBoardWriter> tensorboard_;
};

// The fewest digits that read back as the same double; valid JSON when `value` is finite.
std::string FormatNumber(double value);

// The line that Write adds, with its line feed.
std::string FormatMetricsLine(int64_t env_steps, int64_t updates, absl::Span<const Metric> metrics);

}  // namespace lzero

#endif  // LZERO_RUN_METRICS_WRITER_H_
