// Stones on a Go board: chains, their liberties, captures, the point that simple ko forbids, a hash
// of the whole board and its area. Not a game: whose turn it is, passes, superko and the end are
// those of go.h. Points are row * size + column; players are 0 (black) and 1. One thread at a time.
//
// Chains are circular lists. Each keeps its pseudo-liberties (a free point counts once for each of
// its stones beside it) with their sum and sum of squares: all are the same point exactly when
// count * sum of squares = sum ^ 2 (Cauchy-Schwarz), and so atari costs no search.
#ifndef LZERO_ENVS_BOARDS_GO_POSITION_H_
#define LZERO_ENVS_BOARDS_GO_POSITION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace lzero {

class GoPosition {
 public:
  static constexpr int kMaxSize = 19;
  static constexpr int kNoPoint = -1;

  // An empty board, `size` 2 .. 19.
  explicit GoPosition(int size);

  int size() const { return size_; }
  int num_points() const { return size_ * size_; }
  // The player whose stone is on `point`, -1 where it is free.
  int StoneAt(int point) const {
    const uint8_t content = contents_[CellOf(point)];
    return content == kFree ? -1 : content;
  }
  // Where the last stone took another that could take it back, else kNoPoint.
  int ko_point() const { return ko_point_; }
  void ForgetKo() { ko_point_ = kNoPoint; }
  // The same for equal stones, whoever is to move; different boards may share one by an accident of
  // probability 2^-64. [Zobrist 1970]
  uint64_t hash() const { return hash_; }

  // Free, and not suicide; ko is not asked.
  bool CanPlace(int player, int point) const { return CanPlaceAt(player, CellOf(point)); }
  // The hash after Place(player, point), which can be placed.
  uint64_t HashAfter(int player, int point) const;
  // Places a stone that can be placed and takes what has no liberty left. Returns how many stones.
  int Place(int player, int point);
  // mask[point] = 1 where CanPlace, else 0; [num_points].
  void FillPlaceable(int player, absl::Span<uint8_t> mask) const;
  // plane[point] = 1 where `player` has a stone, else 0; [num_points].
  void FillStones(int player, absl::Span<float> plane) const;

  // Points of player 0 minus those of player 1: stones and free regions that touch stones of one
  // player only. [Tromp-Taylor rules]
  int AreaLead() const;
  // The same when each free point counts for the player with the nearer stone, by steps between
  // free points; a guess of the area before the board is divided.
  int NearerLead() const;

 private:
  enum Content : uint8_t { kBlack = 0, kWhite = 1, kFree = 2, kBorder = 3 };

  // Kept at the head of a chain.
  struct Chain {
    uint64_t hash = 0;  // of its stones
    uint32_t liberty_sum = 0;
    uint32_t liberty_squares = 0;
    uint16_t num_liberties = 0;  // pseudo-liberties
    uint16_t num_stones = 0;

    void Add(uint32_t cell) {
      ++num_liberties, liberty_sum += cell, liberty_squares += cell * cell;
    }
    void Remove(uint32_t cell) {
      --num_liberties, liberty_sum -= cell, liberty_squares -= cell * cell;
    }
    bool has_one_liberty() const {
      return static_cast<uint64_t>(num_liberties) * liberty_squares ==
             static_cast<uint64_t>(liberty_sum) * liberty_sum;
    }
  };

  // Cells are points with a border of one cell around: (row + 1) * stride + column + 1; the right
  // border of a row is the left one of the next.
  int stride() const { return size_ + 1; }
  int CellOf(int point) const { return point + point / size_ + size_ + 2; }
  int PointOf(int cell) const { return cell - (cell / stride() - 1) - size_ - 2; }
  Chain& ChainAt(int cell) { return chains_[heads_[cell]]; }
  const Chain& ChainAt(int cell) const { return chains_[heads_[cell]]; }

  // Whether a stone on the free `cell` has no free cell beside it and may stand all the same.
  bool CanPlaceBetweenStones(int player, int cell) const;
  bool CanPlaceAt(int player, int cell) const;
  // [cells] Steps over free cells from the nearest stone of `player`, plus 1; 0: none.
  std::vector<uint16_t> StepsFrom(int player) const;
  void Join(int cell, int neighbour);
  void TakeChain(int cell);

  int size_;
  int ko_point_ = kNoPoint;
  uint64_t hash_ = 0;
  std::vector<uint8_t> contents_;  // [cells] Content
  std::vector<uint16_t> heads_;    // [cells] of stones: the cell that keeps their chain
  std::vector<uint16_t> nexts_;    // [cells] of stones: the next of the chain
  std::vector<Chain> chains_;      // [cells]
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_GO_POSITION_H_
