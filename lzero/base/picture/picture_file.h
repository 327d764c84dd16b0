// Picture files, made in memory: a PNG of one Image, an animated GIF of many. Not a reader, and it
// draws nothing (envs/support/canvas.h). Pictures are magnified by a whole number, pixel by pixel.
// Used by one thread at a time.
#ifndef LZERO_BASE_PICTURE_PICTURE_FILE_H_
#define LZERO_BASE_PICTURE_PICTURE_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/base/picture/image.h"

namespace lzero {

// The file as bytes: 8 bits each of red, green and blue, lossless. InvalidArgument for a scale
// below 1, an image without pixels, or a magnified side above 65535 pixels.
absl::StatusOr<std::string> EncodePng(const Image& image, int scale = 1);

// Pictures of one size that are shown one after the other, for ever. Holds of each what has changed
// since the one before, the smallest rectangle around it, and stores no more in the file.
class GifAnimation {
 public:
  explicit GifAnimation(int scale = 1) : scale_(scale) {}

  // Shows `image` for `delay_ms`, rounded to 10 ms, 10 to 655350. InvalidArgument (nothing changed)
  // for another size than that of the first, and as EncodePng.
  absl::Status Add(const Image& image, int64_t delay_ms);

  int64_t num_frames() const { return static_cast<int64_t>(frames_.size()); }
  // Bytes of the pixels that are held: all of the first picture, the changed ones of the others.
  int64_t num_held_bytes() const { return num_held_bytes_; }

  // The file as bytes. All frames share one palette: exact while they have at most 256 colors, else
  // the nearest of 256 that are chosen for them (palette.h). FailedPrecondition when there is
  // no picture.
  absl::StatusOr<std::string> Encode() const;

 private:
  struct Frame {
    int left = 0, top = 0;
    Image changed;  // what is drawn there
    int64_t delay_ms = 0;
  };

  int scale_;
  Image last_;
  std::vector<Frame> frames_;
  int64_t num_held_bytes_ = 0;
};

}  // namespace lzero

#endif  // LZERO_BASE_PICTURE_PICTURE_FILE_H_
