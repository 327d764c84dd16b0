#include "envs/minatar/minatar_board.h"

#include <algorithm>

#include "envs/support/canvas.h"

namespace lzero {
namespace {

constexpr Color kGridLine = {34, 36, 44};
constexpr MinAtarChannel kEmpty = {"empty", '.', {16, 17, 22}};

// What is seen of the cell y * 10 + x.
const MinAtarChannel& ShownChannel(absl::Span<const MinAtarChannel> channels,
                                   absl::Span<const float> cells, int cell) {
  const MinAtarChannel* shown = &kEmpty;
  for (size_t i = 0; i < channels.size(); ++i) {
    if (cells[i * kMinAtarCells + cell] == 0.0f) continue;
    if (!channels[i].is_behind) return channels[i];
    if (shown == &kEmpty) shown = &channels[i];
  }
  return *shown;
}

}  // namespace

MinAtarBoard::MinAtarBoard(absl::Span<float> cells) : cells_(cells) {
  std::fill(cells_.begin(), cells_.end(), 0.0f);
}

void MinAtarBoard::MarkBehind(int channel, int x, int y, bool moves_right) {
  const int behind = moves_right ? x - 1 : x + 1;
  if (behind >= 0 && behind <= kMinAtarLast) Mark(channel, behind, y);
}

std::string MinAtarText(absl::Span<const MinAtarChannel> channels, absl::Span<const float> cells) {
  std::string text;
  for (int cell = 0; cell < kMinAtarCells; ++cell) {
    text += ShownChannel(channels, cells, cell).letter;
    if (cell % kMinAtarSize == kMinAtarLast) text += '\n';
  }
  return text;
}

Image MinAtarPicture(absl::Span<const MinAtarChannel> channels, absl::Span<const float> cells) {
  constexpr int kSide = 24;
  Image image(kMinAtarSize * kSide, kMinAtarSize * kSide, kGridLine);
  Canvas canvas(&image);
  for (int cell = 0; cell < kMinAtarCells; ++cell) {
    const int left = cell % kMinAtarSize * kSide;
    const int top = cell / kMinAtarSize * kSide;
    canvas.FillRectangle(left + 1, top + 1, kSide - 2, kSide - 2,
                         ShownChannel(channels, cells, cell).color);
  }
  return image;
}

}  // namespace lzero
