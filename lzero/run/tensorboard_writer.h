// Writes a TensorBoard event file: records framed as TFRecord (length and data each with a masked
// CRC-32C), each an Event protocol buffer encoded by hand. Writes scalars and restart marks,
// nothing else; reads nothing. Belongs to one thread. [tensorflow/core/lib/io/record_writer.h,
// core/util/event.proto, core/framework/summary.proto]
#ifndef LZERO_RUN_TENSORBOARD_WRITER_H_
#define LZERO_RUN_TENSORBOARD_WRITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lzero {

// Seconds since 1970, UTC.
using WallClock = std::function<double()>;
double SystemWallSeconds();

class TensorBoardWriter {
 public:
  // Creates `folder` if needed. The first Flush creates events.out.tfevents.<seconds>.<n>.lzero in
  // it, so a run that is refused leaves no file; n is the first number that is free now. The name
  // has no host and no process number.
  static absl::StatusOr<std::unique_ptr<TensorBoardWriter>> Create(
      const std::string& folder, WallClock clock = SystemWallSeconds);

  // Each adds an event to the buffer; Flush writes it. Scalars are stored as float32.
  void AddScalar(absl::string_view tag, double value, int64_t step);
  // TensorBoard drops points of this file's folder at `step` and later that came before this mark.
  void AddRestart(int64_t step);

  // Hands the buffered events to the operating system. Unavailable when the disk refuses; the
  // buffer is empty afterwards in any case.
  absl::Status Flush();

  const std::string& path() const { return path_; }

 private:
  TensorBoardWriter(std::string path, WallClock clock);
  void AddEvent(int64_t step, absl::string_view payload);

  std::string path_;
  WallClock clock_;
  std::string buffer_;
};

}  // namespace lzero

#endif  // LZERO_RUN_TENSORBOARD_WRITER_H_
