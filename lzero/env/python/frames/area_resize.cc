#include "lzero/env/python/frames/area_resize.h"

#include <algorithm>

#include "lzero/base/check.h"

namespace lzero {

AreaResize::AreaResize(int height, int width, int channels, int size)
    : height_(height),
      width_(width),
      channels_(channels),
      size_(size),
      rows_(MakeAxis(height, size)),
      columns_(MakeAxis(width, size)) {
  LZ_CHECK(size >= 1 && size <= height && size <= width && channels >= 1, "from ", height, " x ",
           width, " x ", channels, " to ", size);
  LZ_CHECK(static_cast<int64_t>(height) * width < (int64_t{1} << 24), "the picture is too large");
}

AreaResize::Axis AreaResize::MakeAxis(int length, int size) {
  // In units of 1 / size of a pixel of the picture: pixel i of the result covers [i, i + 1) *
  // length.
  Axis axis;
  for (int64_t i = 0; i < size; ++i) {
    axis.first.push_back(static_cast<int>(axis.parts.size()));
    const int64_t begin = i * length, end = begin + length;
    for (int64_t source = begin / size; source * size < end; ++source) {
      const int64_t covered = std::min(end, (source + 1) * size) - std::max(begin, source * size);
      axis.parts.push_back({static_cast<int>(source), static_cast<uint32_t>(covered)});
    }
  }
  axis.first.push_back(static_cast<int>(axis.parts.size()));
  return axis;
}

void AreaResize::Run(absl::Span<const uint8_t> from, absl::Span<uint8_t> to) const {
  const int row_size = width_ * channels_;
  LZ_CHECK(from.size() == static_cast<size_t>(height_) * row_size, from.size(), " bytes");
  LZ_CHECK(to.size() == static_cast<size_t>(channels_) * size_ * size_, to.size(), " bytes");
  // Sums of one row of the result: at most 255 * height, then 255 * height * width < 2^32.
  std::vector<uint32_t> sums(static_cast<size_t>(row_size));
  const uint32_t area = static_cast<uint32_t>(height_) * static_cast<uint32_t>(width_);
  for (int y = 0; y < size_; ++y) {
    // Weighted sum of the source rows.
    std::fill(sums.begin(), sums.end(), 0u);
    for (int p = rows_.first[y]; p < rows_.first[y + 1]; ++p) {
      const uint8_t* row = from.data() + static_cast<int64_t>(rows_.parts[p].source) * row_size;
      const uint32_t weight = rows_.parts[p].weight;
      for (int i = 0; i < row_size; ++i) sums[i] += weight * row[i];
    }
    // Weighted sum of its columns, divided by the area, halves to even.
    for (int x = 0; x < size_; ++x) {
      for (int channel = 0; channel < channels_; ++channel) {
        uint32_t sum = 0;
        for (int p = columns_.first[x]; p < columns_.first[x + 1]; ++p) {
          sum += columns_.parts[p].weight * sums[columns_.parts[p].source * channels_ + channel];
        }
        const uint32_t whole = sum / area, rest = sum % area;
        const bool up = 2 * rest > area || (2 * rest == area && whole % 2 == 1);
        to[(static_cast<int64_t>(channel) * size_ + y) * size_ + x] =
            static_cast<uint8_t>(whole + (up ? 1 : 0));
      }
    }
  }
}

}  // namespace lzero
