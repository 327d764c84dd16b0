#include "envs/classic/mountain_car_picture.h"

#include <gtest/gtest.h>

namespace lzero::mountain_car_picture_test {
namespace {

// The bottom of the valley is at -pi / 6, where sin(3 x) is -1.
TEST(MountainCarPictureTest, DrawsTheValleyInCharacters) {
  EXPECT_EQ(MountainCarText(-0.5236, 0.25, 0.5),
            R"(                                                   F
                                               ........
                                            ...
                                         ...
...                                    ..
   ..                                ..
     ..                           ...
       ...                      ..
          ..                 ...
            ....    o     ...
                ..........
position -0.5236  velocity 0.25
)");
}

// 166.7 pixels a unit: the bottom is 17 pixels above the lower edge, the flag at 283.
TEST(MountainCarPictureTest, PaintsHillCarAndFlag) {
  const Image image = MountainCarPicture(-0.5236, 0.5);
  ASSERT_EQ(image.width, 300);
  ASSERT_EQ(image.height, 200);
  const Color sky = image.at(113, 20);
  const Color ground = image.at(113, 197);
  const Color car = image.at(113, 176);
  const Color flag = image.at(288, 10);
  EXPECT_NE(sky, ground);
  EXPECT_NE(car, sky);
  EXPECT_NE(car, ground);
  EXPECT_NE(flag, sky);
  EXPECT_EQ(image.at(200, 190), ground);
  EXPECT_EQ(image.at(30, 100), sky);
  // Elsewhere: the car up the left slope, another flag.
  const Image other = MountainCarPicture(-0.9, 0.45);
  EXPECT_EQ(other.at(113, 176), sky);
  EXPECT_EQ(other.at(280, 11), flag);
}

}  // namespace
}  // namespace lzero::mountain_car_picture_test
