// The counts of perft_test.cc some plies deeper, with the speed of each.
#include <iostream>

#include "absl/strings/str_format.h"
#include "lzero/base/stopwatch.h"
#include "lzero/env/check/perft.h"
#include "tests/envs/boards/chess/chess_testing.h"

namespace lzero::deep_perft_test {
namespace {

struct Count {
  int position;  // of kChessPositions
  int depth;
  int64_t num_sequences;
};

class DeepPerftTest : public testing::TestWithParam<Count> {};

TEST_P(DeepPerftTest, MoveSequencesAreCounted) {
  const Count& count = GetParam();
  EnvOptions options;
  options.settings = {{"fen", kChessPositions[count.position]}};
  const auto env = *ChessEntry().factory(options);
  const double start = MonotonicSeconds();
  EXPECT_EQ(Perft(*env, count.depth)->back(), count.num_sequences);
  const double seconds = MonotonicSeconds() - start;
  std::cout << absl::StrFormat("depth %d: %d, %.0f million a second\n", count.depth,
                               count.num_sequences,
                               1e-6 * static_cast<double>(count.num_sequences) / seconds);
}

INSTANTIATE_TEST_SUITE_P(All, DeepPerftTest,
                         testing::Values(Count{0, 6, 119060324}, Count{1, 5, 193690690},
                                         Count{2, 6, 11030083}, Count{3, 5, 15833292},
                                         Count{4, 5, 89941194}, Count{5, 5, 164075551}));

}  // namespace
}  // namespace lzero::deep_perft_test
