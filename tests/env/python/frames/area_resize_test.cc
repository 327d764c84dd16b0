#include "lzero/env/python/frames/area_resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "lzero/base/rng.h"

namespace lzero::area_resize_test {
namespace {

std::vector<uint8_t> RandomPicture(int height, int width, int channels, uint64_t seed) {
  RandomStream random(seed, "picture");
  std::vector<uint8_t> picture(static_cast<size_t>(height) * width * channels);
  for (uint8_t& byte : picture) byte = static_cast<uint8_t>(random.NextUint32());
  return picture;
}

std::vector<uint8_t> Resize(const std::vector<uint8_t>& picture, int height, int width,
                            int channels, int size) {
  std::vector<uint8_t> result(static_cast<size_t>(channels) * size * size, 77);
  AreaResize(height, width, channels, size).Run(picture, absl::MakeSpan(result));
  return result;
}

// Share of pixel `source` of `length` that lies in pixel `i` of `size`, times size: whole numbers.
double Overlap(int i, int source, int length, int size) {
  const double begin =
      std::max(static_cast<double>(i) * length, static_cast<double>(source) * size);
  const double end =
      std::min(static_cast<double>(i + 1) * length, static_cast<double>(source + 1) * size);
  return std::max(0.0, end - begin);
}

// The definition: every pixel of the picture, weighed by the area that both share. All numbers up
// to the last division are whole, so a tie is one exactly, and nearbyint rounds it to even.
double Mean(const std::vector<uint8_t>& picture, int height, int width, int channels, int size,
            int channel, int y, int x) {
  double sum = 0.0;
  for (int row = y * height / size; row < height && Overlap(y, row, height, size) > 0; ++row) {
    for (int column = x * width / size; column < width; ++column) {
      const double share = Overlap(x, column, width, size);
      if (share <= 0) break;
      const size_t at = (static_cast<size_t>(row) * width + column) * channels + channel;
      sum += Overlap(y, row, height, size) * share * picture[at];
    }
  }
  return sum / (static_cast<double>(height) * width);
}

class AreaResizeSizeTest : public testing::TestWithParam<std::tuple<int, int, int, int>> {};

TEST_P(AreaResizeSizeTest, EqualsTheMeanOfAreas) {
  const auto [height, width, channels, size] = GetParam();
  const std::vector<uint8_t> picture = RandomPicture(height, width, channels, 3);
  const std::vector<uint8_t> result = Resize(picture, height, width, channels, size);
  for (int channel = 0; channel < channels; ++channel) {
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const double mean = Mean(picture, height, width, channels, size, channel, y, x);
        ASSERT_EQ(result[(static_cast<size_t>(channel) * size + y) * size + x],
                  static_cast<int>(std::nearbyint(mean)))
            << "channel " << channel << ", " << y << ", " << x << ": mean " << mean;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, AreaResizeSizeTest,
                         testing::Values(std::make_tuple(210, 160, 3, 64),
                                         std::make_tuple(210, 160, 1, 84),
                                         std::make_tuple(210, 160, 1, 96),
                                         std::make_tuple(250, 160, 1, 160),
                                         std::make_tuple(7, 5, 1, 3), std::make_tuple(7, 5, 4, 5),
                                         std::make_tuple(5, 7, 2, 4), std::make_tuple(8, 8, 3, 4),
                                         std::make_tuple(9, 6, 1, 1), std::make_tuple(1, 1, 1, 1),
                                         std::make_tuple(13, 17, 3, 12)));

TEST(AreaResizeTest, KeepsAPictureOfItsOwnSize) {
  const std::vector<uint8_t> picture = RandomPicture(16, 16, 1, 9);
  EXPECT_EQ(Resize(picture, 16, 16, 1, 16), picture);
}

TEST(AreaResizeTest, PutsChannelsFirst) {
  // Two by two pixels of red, green and blue.
  const std::vector<uint8_t> picture = {1, 11, 21, 2, 12, 22, 3, 13, 23, 4, 14, 24};
  EXPECT_EQ(Resize(picture, 2, 2, 3, 2),
            (std::vector<uint8_t>{1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24}));
}

TEST(AreaResizeTest, RoundsTiesToEven) {
  EXPECT_EQ(Resize({0, 0, 1, 1}, 2, 2, 1, 1)[0], 0);            // 0.5
  EXPECT_EQ(Resize({1, 2, 1, 2}, 2, 2, 1, 1)[0], 2);            // 1.5
  EXPECT_EQ(Resize({2, 3, 2, 3}, 2, 2, 1, 1)[0], 2);            // 2.5
  EXPECT_EQ(Resize({254, 255, 255, 254}, 2, 2, 1, 1)[0], 254);  // 254.5
  EXPECT_EQ(Resize({253, 254, 253, 254}, 2, 2, 1, 1)[0], 254);  // 253.5
  EXPECT_EQ(Resize({0, 1, 1, 1}, 2, 2, 1, 1)[0], 1);            // 0.75
  EXPECT_EQ(Resize({0, 1, 0, 0}, 2, 2, 1, 1)[0], 0);            // 0.25
}

// Three pixels of which the middle one belongs to both halves.
TEST(AreaResizeTest, SharesAPixelBetweenTwo) {
  const std::vector<uint8_t> row = {30, 60, 90};
  std::vector<uint8_t> picture;
  for (int i = 0; i < 3; ++i) picture.insert(picture.end(), row.begin(), row.end());
  // (30 * 2 + 60) / 3 = 40, (60 + 90 * 2) / 3 = 80.
  EXPECT_EQ(Resize(picture, 3, 3, 1, 2), (std::vector<uint8_t>{40, 80, 40, 80}));
}

// The largest sums that are allowed: 4095 * 4096 pixels of 255.
TEST(AreaResizeTest, DoesNotOverflowOnLargeBrightPictures) {
  const std::vector<uint8_t> bright(size_t{4095} * 4096, 255);
  EXPECT_EQ(Resize(bright, 4095, 4096, 1, 2), std::vector<uint8_t>(4, 255));
}

TEST(AreaResizeTest, CanBeRunAgain) {
  const AreaResize resize(6, 4, 2, 3);
  const std::vector<uint8_t> first = RandomPicture(6, 4, 2, 1), second = RandomPicture(6, 4, 2, 2);
  std::vector<uint8_t> a(18), b(18), again(18);
  resize.Run(first, absl::MakeSpan(a));
  resize.Run(second, absl::MakeSpan(b));
  resize.Run(first, absl::MakeSpan(again));
  EXPECT_EQ(a, again);
  EXPECT_NE(a, b);
}

TEST(AreaResizeDeathTest, RefusesWhatItCannotDo) {
  EXPECT_DEATH(AreaResize(3, 8, 1, 4), "from 3 x 8 x 1 to 4");
  EXPECT_DEATH(AreaResize(8, 3, 1, 4), "from 8 x 3 x 1 to 4");
  EXPECT_DEATH(AreaResize(8, 8, 0, 4), "from 8 x 8 x 0 to 4");
  EXPECT_DEATH(AreaResize(4096, 4096, 1, 4), "too large");
  std::vector<uint8_t> small(3), picture(16), result(4);
  const AreaResize resize(4, 4, 1, 2);
  EXPECT_DEATH(resize.Run(small, absl::MakeSpan(result)), "3 bytes");
  EXPECT_DEATH(resize.Run(picture, absl::MakeSpan(small)), "3 bytes");
}

}  // namespace
}  // namespace lzero::area_resize_test
