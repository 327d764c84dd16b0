// A position of 2048, without chance; game_2048.cc makes the environment of it. Plain value.
#ifndef LZERO_ENVS_STOCHASTIC_GAME_2048_H_
#define LZERO_ENVS_STOCHASTIC_GAME_2048_H_

#include <algorithm>
#include <array>
#include <cstdint>

namespace lzero {

// A direction is an action of the environment.
struct Board2048 {
  static constexpr int kSize = 4;
  static constexpr int kNumSquares = kSize * kSize;
  static constexpr int kNumDirections = 4;
  // No game makes a larger tile than 2^17 or more in all than one tile each of 4 .. 2^17.
  static constexpr int kMaxExponent = 17;
  static constexpr int64_t kMaxSum = (int64_t{1} << (kMaxExponent + 1)) - 4;

  std::array<uint8_t, kNumSquares> exponents = {};  // [row * 4 + column], k = tile 2^k, 0 = empty

  // Moves every tile, merges equal neighbours once, the ones furthest in the direction first.
  // Returns the sum of the tiles made; 0 and no change for a move that is not legal.
  int64_t Slide(int direction);
  // Bit d: direction d changes the board.
  int LegalDirections() const;
  int NumEmpty() const {
    return static_cast<int>(std::count(exponents.begin(), exponents.end(), 0));
  }
  // Puts the tile of a chance outcome on its square, which is empty.
  void Place(int32_t outcome) { exponents[outcome / 2] = static_cast<uint8_t>(1 + outcome % 2); }
  // Whether the exponents and their sum are within the bounds above.
  bool IsPossible() const;

  friend bool operator==(const Board2048&, const Board2048&) = default;
};

}  // namespace lzero

#endif  // LZERO_ENVS_STOCHASTIC_GAME_2048_H_
