// Shrinks pictures of bytes by averaging areas: each pixel of the result is the mean of the part of
// the picture that it covers, pixels at its edge by their share, rounded to the nearest, ties to
// even. Exact in integers, so that it can be compared byte for byte. Immutable after Create: any
// thread.
#ifndef LZERO_ENV_PYTHON_FRAMES_AREA_RESIZE_H_
#define LZERO_ENV_PYTHON_FRAMES_AREA_RESIZE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace lzero {

class AreaResize {
 public:
  // From [height, width, channels] to [size, size]. The caller must give a size that is not
  // larger.
  AreaResize(int height, int width, int channels, int size);

  // `from` [height, width, channels], `to` [channels, size, size].
  void Run(absl::Span<const uint8_t> from, absl::Span<uint8_t> to) const;

 private:
  // A pixel of the picture and how much of it belongs to a pixel of the result.
  struct Part {
    int source = 0;
    uint32_t weight = 0;
  };
  struct Axis {
    std::vector<int> first;   // [size + 1] of the parts of a pixel of the result
    std::vector<Part> parts;  // weights of one pixel sum to the length of the axis
  };
  static Axis MakeAxis(int length, int size);

  const int height_, width_, channels_, size_;
  const Axis rows_, columns_;
};

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_FRAMES_AREA_RESIZE_H_
