// Chooses the colors of a picture file that can hold 256 at most: exactly those of the pixels when
// they are few, otherwise means of groups of similar ones. Knows no file format (picture_file.h).
// Used by one thread at a time.
#ifndef LZERO_BASE_PICTURE_PALETTE_H_
#define LZERO_BASE_PICTURE_PALETTE_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "lzero/base/picture/image.h"

namespace lzero {

class Palette {
 public:
  static constexpr int kMostColors = 256;

  Palette();

  // `pixels` [n, 3] red, green, blue.
  void Add(absl::Span<const uint8_t> pixels);

  // Makes the palette of the colors that were added, black alone when there were none. Beyond 256
  // the colors fall into bins of 4 x 4 x 4, and the group with the largest squared error is split
  // at the mean of its widest channel until there are 256 (after Heckbert 1982, Color image
  // quantization for frame buffer display, which splits at the median).
  void Choose();

  // Those that were chosen last.
  const std::vector<Color>& colors() const { return colors_; }
  // Whether every color that was added is in the palette itself.
  bool is_exact() const { return exact_.size() <= kMostColors; }
  // Index of the nearest color of the palette, up to the width of a bin. The caller must ask only
  // for colors that were added before the choice.
  uint8_t IndexOf(Color color) const;

 private:
  struct Bin {
    uint64_t count = 0;
    uint64_t sums[3] = {};
    uint8_t index = 0;  // of the color, for a palette that is not exact
  };

  std::vector<Color> colors_;
  std::vector<Bin> bins_;
  absl::flat_hash_map<uint32_t, uint8_t> exact_;  // index by KeyOf; no more than 257 of the colors
};

}  // namespace lzero

#endif  // LZERO_BASE_PICTURE_PALETTE_H_
