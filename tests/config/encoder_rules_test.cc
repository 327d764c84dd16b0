// Which shapes each encoder takes, and what the misfits are told.
#include "lzero/config/encoder_rules.h"

#include "gtest/gtest.h"

namespace lzero {
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
    EXPECT_EQ(misfit->allowed, "vector, board");
  }
}

}  // namespace
}  // namespace lzero
