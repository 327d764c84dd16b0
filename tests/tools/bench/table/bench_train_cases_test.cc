#include "tools/bench/table/bench_train_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"

namespace lzero::bench_train_cases_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The message of the error that `options` must give.
std::string Refusal(const BenchTrainOptions& options) {
  const auto cases = BenchTrainCases(options);
  if (cases.ok()) return "accepted";
  EXPECT_EQ(cases.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(cases.status().message());
}

TEST(BenchTrainCasesTest, NoArgumentIsTheStandardTable) {
  const auto cases = BenchTrainCases({});
  ASSERT_TRUE(cases.ok()) << cases.status();
  std::vector<std::tuple<std::string, int64_t, int64_t, int64_t, int64_t>> sizes;
  for (const BenchTrainCase& train : *cases) {
    sizes.emplace_back(train.encoder, train.embed, train.batch, train.unroll, train.threads);
    EXPECT_EQ(train.layers, 2);
    EXPECT_EQ(train.context, 8);
    EXPECT_EQ(train.support, 101);
    EXPECT_EQ(train.actions, 2);
  }
  EXPECT_THAT(
      sizes,
      ElementsAre(std::tuple("vector", 64, 64, 5, 1), std::tuple("vector", 64, 256, 5, 1),
                  std::tuple("vector", 64, 256, 10, 1), std::tuple("image", 768, 64, 10, 2)));
  EXPECT_EQ(cases->back().observation, "3x64x64");
}

TEST(BenchTrainCasesTest, ListsAreSweptAgainstEachOther) {
  BenchTrainOptions options;
  options.batch = {8, 16};
  options.unroll = {3, 4, 5};
  options.threads = {1, 2};
  const auto cases = BenchTrainCases(options);
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 12u);
  EXPECT_EQ((*cases)[1].threads, 2);
  EXPECT_EQ((*cases)[2].unroll, 4);
  EXPECT_EQ(cases->back().batch, 16);
  EXPECT_EQ(cases->back().embed, 64);
  options = {};
  options.support = {21, 51};
  EXPECT_EQ(BenchTrainCases(options)->size(), 8u);  // of the standard table
}

// By hand from the layers of model.md section 2.
TEST(BenchTrainCasesTest, CountsTheWorkOfTheSmallNet) {
  const BenchTrainCase train;  // E 64, L 2, S 101, A 2, N 256, U 5
  const int64_t first = 4 * 128, rest = 128 * 64;
  const int64_t blocks = 2 * (64 * 192 + 64 * 64 + 64 * 256 + 256 * 64);
  const int64_t value_head = 64 * 256 + 256 * 101;
  const int64_t heads = 4 * 64 * 256 + 256 * (2 + 101 + 101 + 64);
  const int64_t learned = 3 * (first + rest + 2 * blocks + heads) - first;
  const int64_t target = 2 * (first + rest) + blocks + value_head;
  EXPECT_EQ(UpdateFlops(train), 2 * 256 * 5 * (learned + target));
}

TEST(BenchTrainCasesTest, CountsTheConvolutionsOfImages) {
  BenchTrainCase train;
  train.encoder = "image";
  train.observation = "3x64x64";
  BenchTrainCase board = train;
  board.encoder = "board";
  board.observation = "64x8x8";
  // 64 channels: the stem at 32x32, a block at 16x16 and two at 8x8, the linear layer; against a
  // board's 32 channels: stem and one block.
  const int64_t stem = 27 * 64 * 1024;
  const int64_t rest = 18 * 64 * 64 * (256 + 64 + 64) + 64 * 64 * 64;
  const int64_t board_stem = 9 * 64 * 32 * 64, board_rest = 18 * 32 * 32 * 64 + 32 * 64 * 64;
  EXPECT_EQ(UpdateFlops(train) - UpdateFlops(board),
            2 * 256 * 5 * (4 * stem + 5 * rest - 4 * board_stem - 5 * board_rest));
}

TEST(BenchTrainCasesTest, TheConfigHasTheSizesOfTheCase) {
  const ExperimentConfig config = BenchTrainConfig({.embed = 96,
                                                    .layers = 3,
                                                    .heads = 4,
                                                    .batch = 5,
                                                    .unroll = 7,
                                                    .context = 6,
                                                    .support = 21,
                                                    .encoder = "board",
                                                    .threads = 2});
  EXPECT_EQ(config.model.embed_dim, 96);
  EXPECT_EQ(config.model.num_layers, 3);
  EXPECT_EQ(config.model.num_heads, 4);
  EXPECT_EQ(config.model.context_length, 6);
  EXPECT_EQ(config.model.support_size, 21);
  EXPECT_EQ(config.model.encoder, EncoderKind::kBoard);
  EXPECT_EQ(config.train.batch_size, 5);
  EXPECT_EQ(config.train.num_threads, 2);
  EXPECT_EQ(config.replay.num_unroll_steps, 7);
}

TEST(BenchTrainCasesTest, RefusesObservationsThatAreNone) {
  for (const char* bad : {"", "x", "4x", "0", "-3", "4y4", "3x4096x4096x4096", "99999999999"}) {
    BenchTrainOptions options;
    options.observations = {bad};
    EXPECT_THAT(Refusal(options), HasSubstr(absl::StrCat("--observation ", bad, ": allowed are")));
  }
  BenchTrainOptions options;
  options.batch = {4};
  options.encoders = {"image"};
  options.observations = {"3x8x8"};
  EXPECT_EQ(Refusal(options),
            "--observation 3x8x8: encoder image needs observations [channels, height, width] with "
            "sides of 16 or more");
}

TEST(BenchTrainCasesTest, RefusesWhatNoConfigCanHave) {
  BenchTrainOptions options;
  options.encoders = {"imge"};
  EXPECT_EQ(Refusal(options),
            "--encoder imge: this build has vector, board, image; did you mean 'image'?");
  options = {};
  options.batch = {0};
  EXPECT_EQ(Refusal(options), "--batch 0: allowed are 1 .. 65536");
  options = {};
  options.unroll = {10001};
  EXPECT_EQ(Refusal(options), "--unroll 10001: allowed are 1 .. 10000");
  options = {};
  options.threads = {257};
  EXPECT_EQ(Refusal(options), "--threads 257: allowed are 1 .. 256");
  options = {};
  options.heads = {3};
  EXPECT_THAT(Refusal(options), HasSubstr("must divide embed_dim; got num_heads 3, embed_dim 64"));
  options = {};
  options.support = {100};
  EXPECT_THAT(Refusal(options), HasSubstr("model.support_size: must be odd"));
}

}  // namespace
}  // namespace lzero::bench_train_cases_test
