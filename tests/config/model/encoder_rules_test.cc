// Which shapes each encoder takes, and what the misfits are told.
#include "lzero/config/model/encoder_rules.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::encoder_rules_test {
namespace {

using Shape = std::vector<int64_t>;

TEST(EncoderRulesTest, AVectorEncoderTakesEverything) {
  for (const Shape& shape : {Shape{4}, Shape{3, 3, 3}, Shape{3, 64, 64}, Shape{2, 2}}) {
    EXPECT_FALSE(FindEncoderMisfit(EncoderKind::kVector, shape).has_value());
  }
}

TEST(EncoderRulesTest, BoardsAndImagesNeedThreeAxes) {
  for (const Shape& shape : {Shape{4}, Shape{64, 64}, Shape{1, 3, 64, 64}}) {
    const auto board = FindEncoderMisfit(EncoderKind::kBoard, shape);
    ASSERT_TRUE(board.has_value());
    EXPECT_EQ(board->needs, "board needs observations [channels, height, width]");
    EXPECT_EQ(board->allowed, "vector");
    const auto image = FindEncoderMisfit(EncoderKind::kImage, shape);
    ASSERT_TRUE(image.has_value());
    EXPECT_EQ(image->needs, "image needs observations [channels, height, width]");
    EXPECT_EQ(image->allowed, "vector");
  }
  EXPECT_FALSE(FindEncoderMisfit(EncoderKind::kBoard, {3, 3, 3}).has_value());
}

TEST(EncoderRulesTest, AnImageIsNotSmallerThanSixteen) {
  for (const Shape& shape :
       {Shape{3, 64, 64}, Shape{4, 96, 96}, Shape{1, 16, 16}, Shape{1, 84, 17}}) {
    EXPECT_FALSE(FindEncoderMisfit(EncoderKind::kImage, shape).has_value());
  }
  for (const Shape& shape : {Shape{3, 15, 64}, Shape{3, 64, 15}, Shape{3, 3, 3}}) {
    const auto misfit = FindEncoderMisfit(EncoderKind::kImage, shape);
    ASSERT_TRUE(misfit.has_value());
    EXPECT_EQ(misfit->needs,
              "image needs observations [channels, height, width] with sides of 16 or more");
    EXPECT_EQ(misfit->allowed, "board, vector");
  }
}

// 96: 48, 24, 12, 6; a side that is short already goes on being halved with the other.
TEST(EncoderRulesTest, ImagesAreHalvedUntilNoSideIsMoreThanEight) {
  const auto halved = [](int64_t height, int64_t width) {
    std::vector<std::pair<int64_t, int64_t>> sizes;
    for (const PlaneSize& size : ImageEncoderSizes(height, width)) {
      sizes.emplace_back(size.height, size.width);
    }
    return sizes;
  };
  using Sizes = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ(halved(96, 96), (Sizes{{48, 48}, {24, 24}, {12, 12}, {6, 6}}));
  EXPECT_EQ(halved(17, 30), (Sizes{{9, 15}, {5, 8}}));
  EXPECT_EQ(halved(8, 8), Sizes{});
}

}  // namespace
}  // namespace lzero::encoder_rules_test
