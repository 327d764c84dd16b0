// Counts of move sequences from known positions; deeper ones are in deep/.
#include "lzero/env/check/perft.h"

#include "tests/envs/boards/chess/chess_testing.h"

namespace lzero::chess_perft_test {
namespace {

std::vector<int64_t> Count(const char* fen, int depth) {
  EnvOptions options;
  options.settings = {{"fen", fen}};
  return *Perft(**ChessEntry().factory(options), depth);
}

TEST(ChessPerftTest, MoveSequencesAreCounted) {
  EXPECT_EQ(Count(kChessPositions[0], 5), (std::vector<int64_t>{20, 400, 8902, 197281, 4865609}));
  EXPECT_EQ(Count(kChessPositions[1], 4), (std::vector<int64_t>{48, 2039, 97862, 4085603}));
  EXPECT_EQ(Count(kChessPositions[2], 5), (std::vector<int64_t>{14, 191, 2812, 43238, 674624}));
  EXPECT_EQ(Count(kChessPositions[3], 4), (std::vector<int64_t>{6, 264, 9467, 422333}));
  EXPECT_EQ(Count(kChessPositions[4], 3), (std::vector<int64_t>{44, 1486, 62379}));
  EXPECT_EQ(Count(kChessPositions[5], 3), (std::vector<int64_t>{46, 2079, 89890}));
}

}  // namespace
}  // namespace lzero::chess_perft_test
