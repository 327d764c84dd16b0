#include "envs/grid/grid_drawing.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "tests/envs/grid/drawn_world.h"

namespace lzero::grid_drawing_test {
namespace {

TEST(GridTextTest, HasALetterPairForEverything) {
  GridWorld world = DrawnWorld({"#######", "#koy~G#", "#_DL.r#", "#^....#", "#######"});
  EXPECT_EQ(GridText(world),
            "WGWGWGWGWGWGWG\n"
            "WGKYABAYVRGGWG\n"
            "WG__DYLY  KRWG\n"
            "WG^^        WG\n"
            "WGWGWGWGWGWGWG\n"
            "carrying: nothing\n");
  world.Set({2, 3}, GridCell::Ball(GridColor::kPurple));
  world.Act(GridAction::kRight);
  EXPECT_EQ(GridText(world).substr(45, 15), "WG>>AP      WG\n");
  world.Act(GridAction::kPickUp);
  world.Act(GridAction::kRight);
  EXPECT_EQ(GridText(world).substr(45),
            "WGVV        WG\nWGWGWGWGWGWGWG\n"
            "carrying: purple ball\n");
  world.Act(GridAction::kRight);
  EXPECT_EQ(GridText(world).substr(45, 15), "WG<<        WG\n");
}

TEST(GridPictureTest, TilesFitThePicture) {
  const auto size_of = [](int width, int height) {
    GridWorld world(width, height, true);
    world.SetAgent({{1, 1}, 0});
    const Image image = GridPicture(world);
    return std::pair(image.width, image.height);
  };
  EXPECT_EQ(size_of(5, 5), std::pair(120, 120));  // 24 pixels a tile
  EXPECT_EQ(size_of(7, 3), std::pair(168, 72));
  EXPECT_EQ(size_of(19, 19), std::pair(399, 399));  // 21
  EXPECT_EQ(size_of(25, 25), std::pair(400, 400));  // 16
}

// The middle of the tile at (x, y), of 24 pixels.
Color MiddleOf(const Image& image, int x, int y) { return image.at(x * 24 + 12, y * 24 + 12); }

bool IsBrighter(Color a, Color b) { return a.red > b.red && a.green > b.green && a.blue > b.blue; }

TEST(GridPictureTest, WhatTheAgentSeesIsBrighter) {
  // The door hides the cell behind it and the wall on the right.
  const Image image = GridPicture(DrawnWorld({"#####", "#>D.#", "#####"}));
  EXPECT_TRUE(IsBrighter(MiddleOf(image, 1, 0), MiddleOf(image, 4, 1)));
  EXPECT_EQ(MiddleOf(image, 4, 0), MiddleOf(image, 4, 1));
  const Image open = GridPicture(DrawnWorld({"#####", "#>_.#", "#####"}));
  EXPECT_TRUE(IsBrighter(MiddleOf(open, 3, 1), MiddleOf(image, 3, 1)));
  EXPECT_EQ(MiddleOf(open, 4, 1), MiddleOf(image, 1, 0));
}

// No two kinds of cell, and no two ways of facing, may look alike.
TEST(GridPictureTest, EverythingLooksDifferent) {
  std::set<std::vector<uint8_t>> pictures;
  for (const char cell : std::string(".#G~kroy_DL")) {
    pictures.insert(
        GridPicture(DrawnWorld({"####", std::string("#>") + cell + "#", "####"})).pixels);
  }
  for (const char agent : std::string("v<^")) {
    pictures.insert(
        GridPicture(DrawnWorld({"####", std::string("#") + agent + ".#", "####"})).pixels);
  }
  GridWorld carrying = DrawnWorld({"####", "#>k#", "####"});
  carrying.Act(GridAction::kPickUp);
  pictures.insert(GridPicture(carrying).pixels);
  EXPECT_EQ(pictures.size(), 15u);
}

// The triangle ends ahead in the middle, and is narrow there.
TEST(GridPictureTest, TheAgentPointsAhead) {
  const std::vector<std::tuple<char, int, int>> tips = {
      {'>', 19, 12}, {'v', 12, 19}, {'<', 4, 12}, {'^', 12, 4}};
  for (const auto& [agent, x, y] : tips) {
    const Image image = GridPicture(DrawnWorld({"###", std::string("#") + agent + "#", "###"}));
    const auto is_red = [&](int tile_x, int tile_y) {
      const Color color = image.at(24 + tile_x, 24 + tile_y);
      return color.red > 200 && color.green < 120;
    };
    EXPECT_TRUE(is_red(12, 12)) << agent;
    EXPECT_TRUE(is_red(x, y)) << agent;
    // The tips of the two directions across.
    EXPECT_FALSE(is_red(y, x)) << agent;
    EXPECT_FALSE(is_red(23 - y, 23 - x)) << agent;
  }
}

}  // namespace
}  // namespace lzero::grid_drawing_test
