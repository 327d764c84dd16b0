#include "lzero/mcts/tree/score_row.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::score_row_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Rows of both kinds over the same 8 scores.
struct Rows {
  explicit Rows(const std::vector<float>& scores) {
    for (int a = 0; a < 8; a += kLanes) {
      in_registers.Add(Load(scores.data() + a), a);
      in_memory.Add(Load(scores.data() + a), a);
    }
  }
  std::vector<float> scratch = std::vector<float>(8), other_scratch = std::vector<float>(8);
  ScoreRow<2> in_registers{scratch.data()};
  ScoreRow<0> in_memory{other_scratch.data()};
};

TEST(ScoreRowTest, BothKindsTakeTheFirstOfTheBest) {
  const float low = -kInfinity;
  const struct {
    std::vector<float> scores;
    int best;
  } cases[] = {{{1, 2, 3, 4, 5, 6, 7, 8}, 7},
               {{9, 2, 3, 9, 5, 9, 7, 8}, 0},
               {{1, 2, 8, 4, 5, 6, 8, 8}, 2},
               {{low, low, low, low, low, -5, low, low}, 5},
               {{low, low, low, low, low, low, low, low}, 0},
               {{kNan, low, 3, kNan, 3, 1, 1, 1}, 2},
               {{kNan, low, low, low, low, low, low, low}, 0}};
  for (const auto& c : cases) {
    const Rows rows(c.scores);
    EXPECT_EQ(rows.in_registers.FirstBest(), c.best);
    EXPECT_EQ(rows.in_memory.FirstBest(), c.best);
    EXPECT_EQ(rows.in_registers.best(), rows.in_memory.best());
  }
}

TEST(ScoreRowTest, ScoresCanBeReadBack) {
  const std::vector<float> scores = {1, 2, 3, 4, 5, 6, 7, 8};
  const Rows rows(scores);
  for (int a = 0; a < 8; ++a) {
    EXPECT_EQ(rows.in_registers.InMemory()[a], scores[static_cast<size_t>(a)]);
    EXPECT_EQ(rows.in_memory.InMemory()[a], scores[static_cast<size_t>(a)]);
  }
}

}  // namespace
}  // namespace lzero::score_row_test
