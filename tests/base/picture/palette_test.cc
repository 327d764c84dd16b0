#include "lzero/base/picture/palette.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace lzero::palette_test {
namespace {

// [n, 3] pixels of the colors, each once.
std::vector<uint8_t> Pixels(const std::vector<Color>& colors) {
  std::vector<uint8_t> pixels;
  for (const Color& color : colors) {
    for (const uint8_t value : {color.red, color.green, color.blue}) pixels.push_back(value);
  }
  return pixels;
}

Palette BuildFrom(const std::vector<Color>& colors) {
  Palette palette;
  palette.Add(Pixels(colors));
  palette.Choose();
  return palette;
}

// `count` colors whose neighbours differ by one in blue.
std::vector<Color> CloseColors(int count) {
  std::vector<Color> colors;
  for (int i = 0; i < count; ++i) {
    colors.push_back({10, static_cast<uint8_t>(i / 256), static_cast<uint8_t>(i % 256)});
  }
  return colors;
}

TEST(PaletteTest, KeepsAsMuchAs256ColorsExactly) {
  for (const int count : {1, 2, 255, 256}) {
    const std::vector<Color> colors = CloseColors(count);
    const Palette palette = BuildFrom(colors);
    EXPECT_TRUE(palette.is_exact());
    EXPECT_EQ(palette.colors().size(), static_cast<size_t>(count));
    for (const Color& color : colors) EXPECT_EQ(palette.colors()[palette.IndexOf(color)], color);
  }
}

TEST(PaletteTest, CountsOverSeveralPictures) {
  const std::vector<Color> colors = CloseColors(257);
  Palette palette;
  palette.Add(Pixels({colors.begin(), colors.begin() + 200}));
  palette.Add(Pixels({colors.begin() + 100, colors.begin() + 256}));
  palette.Choose();
  EXPECT_TRUE(palette.is_exact());
  palette.Add(Pixels({colors[256]}));
  palette.Choose();
  EXPECT_FALSE(palette.is_exact());
}

TEST(PaletteTest, WithoutPixelsItIsBlack) {
  const Palette palette = BuildFrom({});
  EXPECT_EQ(palette.colors(), std::vector<Color>{Color{}});
}

// One color beyond 256: they lie in 64 bins of 4 x 4 x 4, and each bin becomes the mean of its
// colors.
TEST(PaletteTest, BeyondThatItRoundsWithinABin) {
  const std::vector<Color> colors = CloseColors(257);
  const Palette palette = BuildFrom(colors);
  EXPECT_FALSE(palette.is_exact());
  EXPECT_EQ(palette.colors().size(), 64u);
  for (const Color& color : colors) {
    const Color shown = palette.colors()[palette.IndexOf(color)];
    EXPECT_EQ(shown.red, 10);
    EXPECT_LE(std::abs(shown.green - color.green), 1);
    EXPECT_LE(std::abs(shown.blue - color.blue), 2);
  }
}

// The whole cube of colors, which 256 can cover no better than in cells of about 40 a side.
TEST(PaletteTest, CoversTheWholeCube) {
  std::vector<Color> colors;
  for (int red = 0; red < 256; red += 17) {
    for (int green = 0; green < 256; green += 17) {
      for (int blue = 0; blue < 256; blue += 17) {
        colors.push_back(
            {static_cast<uint8_t>(red), static_cast<uint8_t>(green), static_cast<uint8_t>(blue)});
      }
    }
  }
  const Palette palette = BuildFrom(colors);
  EXPECT_EQ(palette.colors().size(), 256u);
  int largest = 0;
  double sum = 0.0;
  for (const Color& color : colors) {
    const Color shown = palette.colors()[palette.IndexOf(color)];
    for (const int error :
         {shown.red - color.red, shown.green - color.green, shown.blue - color.blue}) {
      largest = std::max(largest, std::abs(error));
      sum += std::abs(error);
    }
  }
  EXPECT_LE(largest, 51);
  EXPECT_LE(sum / (3.0 * static_cast<double>(colors.size())), 15.0);
}

// What fills most of a picture is shown as it is, however many other colors there are.
TEST(PaletteTest, ALargePlainAreaKeepsItsColor) {
  const Color background = {201, 34, 77};
  Palette palette;
  palette.Add(Pixels(std::vector<Color>(20000, background)));
  std::vector<Color> others;
  for (int i = 0; i < 1000; ++i) {
    others.push_back(
        {static_cast<uint8_t>(i * 7), static_cast<uint8_t>(i * 31), static_cast<uint8_t>(i * 101)});
  }
  palette.Add(Pixels(others));
  palette.Choose();
  EXPECT_FALSE(palette.is_exact());
  EXPECT_EQ(palette.colors()[palette.IndexOf(background)], background);
}

TEST(PaletteDeathTest, AColorThatWasNotAddedIsOurBug) {
  const Palette palette = BuildFrom({{1, 2, 3}});
  EXPECT_DEATH((void)palette.IndexOf({1, 2, 4}), "was not added to the palette");
}

}  // namespace
}  // namespace lzero::palette_test
