// Chooses the colors of a picture file that can hold 256 at most: exactly those of the pixels when
// they are few, otherwise means of groups of similar ones. Knows no file format (picture_file.h).
// A Palette may be read by any thread, a PaletteBuilder is used by one at a time.
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

  const std::vector<Color>& colors() const { return colors_; }
  // Whether every color that was added is in the palette itself.
  bool is_exact() const { return bins_.empty(); }
  // Index of the nearest color of the palette, up to the width of a bin. The caller must ask only
  // for colors that were added.
  uint8_t IndexOf(Color color) const;

 private:
  friend class PaletteBuilder;

  std::vector<Color> colors_;
  absl::flat_hash_map<uint32_t, uint8_t> exact_;  // by KeyOf; for an exact palette
  std::vector<uint8_t> bins_;                     // by bin; for one that is not
};

class PaletteBuilder {
 public:
  PaletteBuilder();

  // `pixels` [n, 3] red, green, blue.
  void Add(absl::Span<const uint8_t> pixels);

  // The colors that were added, black alone when there were none. Beyond 256 the colors fall into
  // bins of 4 x 4 x 4, and the group with the largest squared error is split at the mean of its
  // widest channel until there are 256 (after Heckbert 1982, Color image quantization for frame
  // buffer display, which splits at the median).
  Palette Build() const;

 private:
  struct Bin {
    uint64_t count = 0;
    uint64_t sums[3] = {};
  };

  Palette BuildExact() const;

  std::vector<Bin> bins_;
  absl::flat_hash_map<uint32_t, uint8_t> exact_;  // no more than 257 of the colors
};

}  // namespace lzero

#endif  // LZERO_BASE_PICTURE_PALETTE_H_
