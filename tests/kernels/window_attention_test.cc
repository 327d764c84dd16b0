// Attention of single rows over windows of pointers, with every instruction set, against the
// reference in double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "lzero/kernels/attention_kernels.h"
#include "tests/kernels/kernel_testing.h"
#include "tests/support/packed_reference.h"

namespace lzero::window_attention_test {
namespace {

class WindowAttentionTest : public InstructionSetTest {};
LZ_TEST_ALL_INSTRUCTION_SETS(WindowAttentionTest);

struct AttentionShape {
  int64_t num_heads;
  int64_t head_size;
  int64_t context_length;
  int64_t num_rows;
  int64_t num_layers = 1;
  int64_t layer = 0;

  int64_t embed_dim() const { return num_heads * head_size; }
};

// Rows with random windows over random tokens, each token at the end of readable memory.
class AttentionProblem {
 public:
  AttentionProblem(const AttentionShape& shape, float width, std::mt19937* random)
      : shape_(shape),
        queries_(shape.num_rows, shape.embed_dim() + 3),
        cosines_(shape.context_length * PaddedSize(shape.head_size)),
        sines_(shape.context_length * PaddedSize(shape.head_size)),
        windows_(static_cast<size_t>(shape.num_rows * (shape.context_length + 2))),
        window_sizes_(static_cast<size_t>(shape.num_rows)) {
    queries_.FillRandom(random, -width, width);
    FillTables();
    const int64_t token_size = 2 * shape.num_layers * shape.embed_dim();
    for (int64_t i = 0; i < shape.context_length + shape.num_rows; ++i) {
      tokens_.push_back(std::make_unique<FloatsAtTheEnd>(token_size));
      for (int64_t k = 0; k < token_size; ++k) {
        tokens_.back()->first()[k] = RandomNumber(random, -width, width);
      }
    }
    for (int64_t r = 0; r < shape.num_rows; ++r) {
      // All sizes from 1 to W are met where there are rows enough.
      const int64_t size = 1 + r % shape.context_length;
      window_sizes_[static_cast<size_t>(r)] = static_cast<int32_t>(size);
      for (int64_t j = 0; j < size; ++j)
        window(r)[j] = token(RandomInt(random, 0, NumTokens() - 1));
    }
  }

  void Run(int64_t first, int64_t num_rows, Rows* y) const {
    AlignedArray<float> scores(shape_.num_heads * PaddedSize(shape_.context_length + 2));
    for (int64_t i = 0; i < scores.size(); ++i) scores[i] = kNan;
    WindowAttentionTask task;
    task.rows = num_rows;
    task.heads = shape_.num_heads;
    task.head_size = shape_.head_size;
    task.queries = queries_.row(first);
    task.query_stride = queries_.stride();
    task.windows = windows_.data() + first * (shape_.context_length + 2);
    task.window_stride = shape_.context_length + 2;
    task.window_sizes = window_sizes_.data() + first;
    task.layer_offset = shape_.layer * 2 * shape_.embed_dim();
    task.cosines = cosines_.data();
    task.sines = sines_.data();
    task.table_stride = PaddedSize(shape_.head_size);
    task.scores = scores.data();
    AttendWindows(task, y->row(0), y->stride());
  }

  packed::reference::Row Expected(int64_t r) const {
    const int64_t embed_dim = shape_.embed_dim(), keys_at = shape_.layer * 2 * embed_dim;
    std::vector<packed::reference::Row> keys, values;
    for (int64_t j = 0; j < window_sizes_[static_cast<size_t>(r)]; ++j) {
      keys.push_back(packed::reference::RowOf(window(r)[j] + keys_at, embed_dim));
      values.push_back(packed::reference::RowOf(window(r)[j] + keys_at + embed_dim, embed_dim));
    }
    return packed::reference::Attention(packed::reference::RowOf(queries_.row(r), embed_dim), keys,
                                        values, shape_.num_heads);
  }

  float* query(int64_t r) { return queries_.row(r); }
  float* token(int64_t i) { return tokens_[static_cast<size_t>(i)]->first(); }
  const float** window(int64_t r) { return &windows_[r * (shape_.context_length + 2)]; }
  const float* const* window(int64_t r) const {
    return &windows_[static_cast<size_t>(r * (shape_.context_length + 2))];
  }
  int64_t NumTokens() const { return static_cast<int64_t>(tokens_.size()); }

 private:
  // As attention_kernels.h says: by distance, both numbers of a pair equal, of sines the first
  // negated.
  void FillTables() {
    for (int64_t distance = 0; distance < shape_.context_length; ++distance) {
      for (int64_t i = 0; i < shape_.head_size; i += 2) {
        const double exponent = -static_cast<double>(i) / static_cast<double>(shape_.head_size);
        const double angle = static_cast<double>(distance) * std::pow(10000.0, exponent);
        const int64_t place = distance * PaddedSize(shape_.head_size) + i;
        cosines_[place] = cosines_[place + 1] = static_cast<float>(std::cos(angle));
        sines_[place] = static_cast<float>(-std::sin(angle));
        sines_[place + 1] = static_cast<float>(std::sin(angle));
      }
    }
  }

  AttentionShape shape_;
  Rows queries_;
  AlignedArray<float> cosines_, sines_;
  std::vector<std::unique_ptr<FloatsAtTheEnd>> tokens_;
  std::vector<const float*> windows_;
  std::vector<int32_t> window_sizes_;
};

double Error(const AttentionShape& shape, float width, std::mt19937* random) {
  const AttentionProblem problem(shape, width, random);
  Rows y(shape.num_rows, shape.embed_dim() + 1);
  y.Fill(kNan);
  problem.Run(0, shape.num_rows, &y);
  double error = 0.0;
  for (int64_t r = 0; r < shape.num_rows; ++r) {
    error = std::max(error, RelativeError(y.row(r), problem.Expected(r), width));
  }
  return error;
}

TEST_P(WindowAttentionTest, FollowsTheDefinitionForAllHeadSizes) {
  std::mt19937 random(1);
  for (int64_t head_size = 2; head_size <= 64; head_size += 2) {
    const AttentionShape shape = {RandomInt(&random, 1, 4), head_size, RandomInt(&random, 1, 9), 4};
    ASSERT_LE(Error(shape, 1.0f, &random), 2e-6)
        << shape.num_heads << " heads of " << head_size << ", W " << shape.context_length;
  }
}

TEST_P(WindowAttentionTest, FollowsTheDefinitionForAllWindowSizes) {
  std::mt19937 random(2);
  for (const int64_t context_length : {1, 2, 15, 16, 17, 40}) {
    const AttentionShape shape = {2, 6, context_length, context_length};
    ASSERT_LE(Error(shape, 1.0f, &random), 2e-6) << "W " << context_length;
  }
}

TEST_P(WindowAttentionTest, FollowsTheDefinitionInEveryLayer) {
  std::mt19937 random(3);
  for (int64_t layer = 0; layer < 3; ++layer) {
    const AttentionShape shape = {3, 10, 7, 7, 3, layer};
    ASSERT_LE(Error(shape, 1.0f, &random), 2e-6) << layer;
  }
}

// Scores of hundreds: nearly all weight on one token.
TEST_P(WindowAttentionTest, FollowsTheDefinitionWithLargeScores) {
  std::mt19937 random(4);
  const AttentionShape shape = {2, 16, 8, 8};
  EXPECT_LE(Error(shape, 16.0f, &random), 2e-4);
}

TEST_P(WindowAttentionTest, GivesTheOnlyValueOfAWindowOfOne) {
  std::mt19937 random(5);
  const AttentionShape shape = {2, 18, 1, 1};
  AttentionProblem problem(shape, 1.0f, &random);
  Rows y(1, 48);
  problem.Run(0, 1, &y);
  EXPECT_TRUE(SameBits(y.row(0), problem.window(0)[0] + 36, 36));
}

// D = 2: the only pair turns by its distance. A query (1, 0) and equal keys (4, 0) at distances 0
// and 1: scores 4 / sqrt(2) and 4 cos(1) / sqrt(2).
TEST_P(WindowAttentionTest, TurnsKeysByTheirDistanceByHand) {
  std::mt19937 random(6);
  AttentionProblem problem({1, 2, 2, 2}, 1.0f, &random);
  const float older[] = {4, 0, 1, 0}, own[] = {4, 0, 0, 1};
  std::copy_n(older, 4, problem.token(0));
  std::copy_n(own, 4, problem.token(1));
  problem.window(1)[0] = problem.token(0);
  problem.window(1)[1] = problem.token(1);
  problem.query(1)[0] = 1;
  problem.query(1)[1] = 0;
  Rows y(2, 16);
  problem.Run(0, 2, &y);
  const double older_weight = 1.0 / (1.0 + std::exp(4.0 * (1.0 - std::cos(1.0)) / std::sqrt(2.0)));
  EXPECT_NEAR(y.row(1)[0], older_weight, 1e-6);
  EXPECT_NEAR(y.row(1)[1], 1.0 - older_weight, 1e-6);
  // A key (0, 4) behind turns by -1 to (4 sin 1, 4 cos 1): its score is 4 sin(1) / sqrt(2), and its
  // mirror image would be refused.
  problem.token(0)[0] = 0;
  problem.token(0)[1] = 4;
  problem.Run(0, 2, &y);
  EXPECT_NEAR(y.row(1)[0], 1.0 / (1.0 + std::exp(4.0 * (1.0 - std::sin(1.0)) / std::sqrt(2.0))),
              1e-6);
}

// Scores of -8,000 and -8,004 / sqrt(2): the softmax is that of 0 and their distance.
TEST_P(WindowAttentionTest, WeighsTokensOfVeryLowScores) {
  std::mt19937 random(11);
  AttentionProblem problem({1, 2, 2, 2}, 1.0f, &random);
  const float older[] = {0, 0, 1, 0}, own[] = {-2000, 0, 0, 1};
  std::copy_n(older, 4, problem.token(0));
  std::copy_n(own, 4, problem.token(1));
  problem.token(0)[0] = static_cast<float>(-2001.0 * std::cos(1.0));
  problem.token(0)[1] = static_cast<float>(-2001.0 * std::sin(1.0));
  problem.window(1)[0] = problem.token(0);
  problem.window(1)[1] = problem.token(1);
  problem.query(1)[0] = 4;
  problem.query(1)[1] = 0;
  Rows y(2, 16);
  problem.Run(0, 2, &y);
  EXPECT_NEAR(y.row(1)[0], 1.0 / (1.0 + std::exp(4.0 / std::sqrt(2.0))), 1e-3);
  EXPECT_NEAR(y.row(1)[0] + y.row(1)[1], 1.0f, 1e-6f);
}

TEST_P(WindowAttentionTest, GivesARowTheSameBitsInAnyCall) {
  std::mt19937 random(7);
  const AttentionShape shape = {3, 22, 6, 12};
  AttentionProblem problem(shape, 1.0f, &random);
  Rows together(12, 80), alone(1, 80);
  problem.Run(0, 12, &together);
  for (int64_t r = 0; r < 12; ++r) {
    problem.Run(r, 1, &alone);
    EXPECT_TRUE(SameBits(together.row(r), alone.row(0), shape.embed_dim())) << r;
  }
}

TEST_P(WindowAttentionTest, LetsNanAndInfinityThroughInTheirRowAlone) {
  std::mt19937 random(8);
  const AttentionShape shape = {2, 10, 5, 5};
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    for (int64_t bad_row = 0; bad_row < 5; ++bad_row) {
      AttentionProblem problem(shape, 1.0f, &random);
      Rows good(5, 32), y(5, 32);
      problem.Run(0, 5, &good);
      // A query of the second head: the first head stays as it is.
      problem.query(bad_row)[13] = bad;
      problem.Run(0, 5, &y);
      for (int64_t r = 0; r < 5; ++r) {
        const bool is_bad = r == bad_row;
        EXPECT_TRUE(SameBits(y.row(r), good.row(r), is_bad ? 10 : 20)) << r;
        for (int64_t i = 10; is_bad && i < 20; ++i) {
          ASSERT_TRUE(std::isnan(y.row(r)[i])) << bad << " in row " << r;
        }
      }
    }
  }
}

TEST_P(WindowAttentionTest, LetsNanOfKeysAndValuesThrough) {
  std::mt19937 random(9);
  const AttentionShape shape = {1, 6, 4, 4};
  for (int64_t place = 0; place < 4; ++place) {
    for (const int64_t i : {0, 5, 6, 11}) {  // keys, then values
      AttentionProblem problem(shape, 1.0f, &random);
      // Row 3 sees 4 tokens: distinct ones here.
      for (int64_t j = 0; j < 4; ++j) problem.window(3)[j] = problem.token(j);
      problem.token(place)[i] = kNan;
      Rows y(1, 16);
      problem.Run(3, 1, &y);
      for (int64_t k = 0; k < 6; ++k) {
        ASSERT_EQ(std::isnan(y.row(0)[k]), i < 6 || k == i - 6) << place << " " << i << " " << k;
      }
    }
  }
}

TEST_P(WindowAttentionTest, WritesNothingForNoRows) {
  std::mt19937 random(10);
  const AttentionProblem problem({1, 4, 2, 2}, 1.0f, &random);
  Rows y(1, 16);
  y.Fill(-7.0f);
  problem.Run(0, 0, &y);
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ(y.row(0)[i], -7.0f);
}

}  // namespace
}  // namespace lzero::window_attention_test
