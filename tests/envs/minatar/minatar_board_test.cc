#include "envs/minatar/minatar_board.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace lzero::minatar_board_test {
namespace {

constexpr Color kRed = {255, 0, 0}, kGreen = {0, 255, 0}, kBlue = {0, 0, 255};
constexpr std::array<MinAtarChannel, 3> kChannels = {
    {{"first", 'a', kRed}, {"behind", '-', kGreen, /*is_behind=*/true}, {"last", 'b', kBlue}}};

TEST(MinAtarBoardTest, ChannelsComeFirstThenRows) {
  std::vector<float> cells(300, 7.0f);
  MinAtarBoard board(absl::MakeSpan(cells));
  board.Mark(2, /*x=*/3, /*y=*/4);
  std::vector<float> expected(300, 0.0f);
  expected[243] = 1.0f;
  EXPECT_EQ(cells, expected);
}

TEST(MinAtarBoardTest, WhatIsBehindIsOffTheBoardAtItsEdges) {
  std::vector<float> cells(100);
  MinAtarBoard board(absl::MakeSpan(cells));
  board.MarkBehind(0, 0, 1, /*moves_right=*/true);
  board.MarkBehind(0, 9, 1, /*moves_right=*/false);
  EXPECT_EQ(cells, std::vector<float>(100, 0.0f));
  board.MarkBehind(0, 1, 1, /*moves_right=*/true);
  board.MarkBehind(0, 8, 1, /*moves_right=*/false);
  EXPECT_EQ(cells[10], 1.0f);
  EXPECT_EQ(cells[19], 1.0f);
}

TEST(MinAtarBoardTest, CellsShowTheirFirstChannelThatIsNotBehind) {
  std::vector<float> cells(300);
  MinAtarBoard board(absl::MakeSpan(cells));
  for (int channel = 0; channel < 3; ++channel) {
    for (int x = channel; x < 3; ++x) board.Mark(channel, x, 9);
    board.Mark(channel, 5 + channel, 9);
  }
  board.Mark(0, 3, 9);
  board.Mark(1, 3, 9);
  board.Mark(1, 4, 9);
  board.Mark(2, 4, 9);
  const std::string text = MinAtarText(kChannels, cells);
  EXPECT_EQ(text.substr(0, 11), "..........\n");
  EXPECT_EQ(text.substr(99), "aaaaba-b..\n");
  const Image image = MinAtarPicture(kChannels, cells);
  EXPECT_EQ(image.width, 240);
  EXPECT_EQ(image.height, 240);
  const auto color = [&](int x) { return image.at(x * 24 + 12, 228); };
  EXPECT_EQ(color(0), kRed);
  EXPECT_EQ(color(4), kBlue);
  EXPECT_EQ(color(6), kGreen);
  EXPECT_EQ(color(8), image.at(12, 12));
}

}  // namespace
}  // namespace lzero::minatar_board_test
