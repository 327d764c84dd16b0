// The 10 x 10 cells of MinAtar in several channels: filled by a game, shown as text and picture.
// x is the column from the left, y the row from the top. Plain values and pure functions, no thread
// rule.
#ifndef LZERO_ENVS_MINATAR_MINATAR_BOARD_H_
#define LZERO_ENVS_MINATAR_MINATAR_BOARD_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/base/picture/image.h"

namespace lzero {

inline constexpr int kMinAtarSize = 10;
inline constexpr int kMinAtarLast = kMinAtarSize - 1;  // of rows and columns
inline constexpr int kMinAtarCells = kMinAtarSize * kMinAtarSize;

// What a channel marks and how it is shown.
struct MinAtarChannel {
  absl::string_view name;
  char letter = '?';
  Color color = {};
  bool is_behind = false;  // shown only where no other channel is
};

class MinAtarBoard {
 public:
  // `cells` [channels, 10, 10] outlives the board, which begins empty.
  explicit MinAtarBoard(absl::Span<float> cells);

  void Mark(int channel, int x, int y) {
    cells_[channel * kMinAtarCells + y * kMinAtarSize + x] = 1.0f;
  }
  // Marks the cell behind (x, y), unless it is off the board.
  void MarkBehind(int channel, int x, int y, bool moves_right);

 private:
  absl::Span<float> cells_;
};

// Ten lines: the letter of the first channel of each cell, '.' where there is none. `cells`
// [channels, 10, 10].
std::string MinAtarText(absl::Span<const MinAtarChannel> channels, absl::Span<const float> cells);

// The same in colours, 24 x 24 pixels a cell.
Image MinAtarPicture(absl::Span<const MinAtarChannel> channels, absl::Span<const float> cells);

}  // namespace lzero

#endif  // LZERO_ENVS_MINATAR_MINATAR_BOARD_H_
