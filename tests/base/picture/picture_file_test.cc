#include "lzero/base/picture/picture_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

#include "tests/base/picture/picture_reader.h"

namespace lzero::picture_file_test {
namespace {

constexpr Color kRed = {250, 10, 20};
constexpr Color kBlue = {0, 1, 255};

// Every pixel another color, in the three channels.
Image Gradient(int width, int height) {
  Image image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.set(
          x, y,
          {static_cast<uint8_t>(x), static_cast<uint8_t>(y), static_cast<uint8_t>((x + y) / 2)});
    }
  }
  return image;
}

bool Equal(const Image& a, const Image& b) {
  return a.width == b.width && a.height == b.height && a.pixels == b.pixels;
}

// The largest difference of any channel.
int LargestError(const Image& a, const Image& b) {
  int largest = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i) {
    largest = std::max(largest, std::abs(a.pixels[i] - b.pixels[i]));
  }
  return largest;
}

TEST(PictureFileTest, APngReadsBackAsItWas) {
  for (const Image& image : {Gradient(200, 90), Image(1, 1, kRed), Image(3, 7, kBlue)}) {
    const auto read = ReadPng(*EncodePng(image));
    ASSERT_TRUE(read.has_value());
    EXPECT_TRUE(Equal(*read, image));
  }
}

TEST(PictureFileTest, APngIsCompressed) {
  EXPECT_LT(EncodePng(Image(300, 200, kRed))->size(), 2000u);  // of 180,000
}

TEST(PictureFileTest, AScaleRepeatsPixels) {
  Image image(2, 1, kRed);
  image.set(1, 0, kBlue);
  const Image large = *ReadPng(*EncodePng(image, 3));
  ASSERT_EQ(large.width, 6);
  ASSERT_EQ(large.height, 3);
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 6; ++x) EXPECT_EQ(large.at(x, y), x < 3 ? kRed : kBlue);
  }
  GifAnimation animation(3);
  ASSERT_TRUE(animation.Add(image, 100).ok());
  std::swap(image.pixels[0], image.pixels[3]);
  ASSERT_TRUE(animation.Add(image, 100).ok());
  const auto shown = ReadGif(*animation.Encode());
  ASSERT_TRUE(shown.has_value());
  EXPECT_TRUE(Equal(shown->frames[0].picture, large));
  EXPECT_TRUE(Equal(shown->frames[1].picture, *ReadPng(*EncodePng(image, 3))));
}

TEST(PictureFileTest, AnAnimationReadsBackAsItWas) {
  // Three pictures of 256 colors together: the palette is full, and exact.
  std::vector<Image> pictures(3, Image(16, 8));
  int next = 0;
  for (Image& picture : pictures) {
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 16; ++x, ++next) {
        picture.set(x, y, {static_cast<uint8_t>(next % 256), static_cast<uint8_t>(next % 16), 7});
      }
    }
  }
  GifAnimation animation;
  for (const Image& picture : pictures) ASSERT_TRUE(animation.Add(picture, 40).ok());
  EXPECT_EQ(animation.num_frames(), 3);
  const auto shown = ReadGif(*animation.Encode());
  ASSERT_TRUE(shown.has_value());
  EXPECT_TRUE(shown->loops_for_ever);
  EXPECT_EQ(shown->num_colors, 256);
  ASSERT_EQ(shown->frames.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(Equal(shown->frames[i].picture, pictures[i])) << i;
    EXPECT_EQ(shown->frames[i].delay_ms, 40);
  }
}

TEST(PictureFileTest, OneColorNeedsNoMoreThanATableOfTwo) {
  GifAnimation animation;
  ASSERT_TRUE(animation.Add(Image(5, 4, kRed), 100).ok());
  const auto shown = ReadGif(*animation.Encode());
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(shown->num_colors, 2);
  EXPECT_TRUE(Equal(shown->frames[0].picture, Image(5, 4, kRed)));
}

TEST(PictureFileTest, DelaysAreRoundedTo10Ms) {
  GifAnimation animation;
  for (const int64_t delay : {10, 14, 15, 33, 1000, 655350}) {
    ASSERT_TRUE(animation.Add(Image(2, 2, kRed), delay).ok());
  }
  const auto shown = ReadGif(*animation.Encode());
  std::vector<int> delays;
  for (const ShownFrame& frame : shown->frames) delays.push_back(frame.delay_ms);
  EXPECT_EQ(delays, (std::vector<int>{10, 10, 20, 30, 1000, 655350}));
}

TEST(PictureFileTest, OnlyWhatHasChangedIsStored) {
  Image image(100, 80, kRed);
  GifAnimation animation(2);
  ASSERT_TRUE(animation.Add(image, 100).ok());
  image.set(30, 20, kBlue);
  image.set(35, 40, kBlue);
  ASSERT_TRUE(animation.Add(image, 100).ok());
  ASSERT_TRUE(animation.Add(image, 100).ok());  // nothing has
  image.set(99, 79, kBlue);
  ASSERT_TRUE(animation.Add(image, 100).ok());
  EXPECT_EQ(animation.num_held_bytes(), 3 * (100 * 80 + 6 * 21 + 1 + 1));
  const auto shown = ReadGif(*animation.Encode());
  ASSERT_EQ(shown->frames.size(), 4u);
  const auto box = [&](size_t i) {
    const ShownFrame& frame = shown->frames[i];
    return std::vector<int>{frame.left, frame.top, frame.width, frame.height};
  };
  EXPECT_EQ(box(0), (std::vector<int>{0, 0, 200, 160}));
  EXPECT_EQ(box(1), (std::vector<int>{60, 40, 12, 42}));
  EXPECT_EQ(box(2), (std::vector<int>{0, 0, 2, 2}));  // no frame may be empty
  EXPECT_EQ(box(3), (std::vector<int>{198, 158, 2, 2}));
  EXPECT_TRUE(Equal(shown->frames[2].picture, shown->frames[1].picture));
  EXPECT_EQ(shown->frames[3].picture.at(60, 40), kBlue);  // stays from frame 1
  EXPECT_EQ(shown->frames[3].picture.at(199, 159), kBlue);
}

TEST(PictureFileTest, MoreThan256ColorsAreShownNearly) {
  const Image smooth = Gradient(128, 128);  // 16,384 colors
  Image darker = smooth;
  for (uint8_t& value : darker.pixels) value /= 2;
  GifAnimation animation;
  ASSERT_TRUE(animation.Add(smooth, 100).ok());
  ASSERT_TRUE(animation.Add(darker, 100).ok());
  const auto shown = ReadGif(*animation.Encode());
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(shown->num_colors, 256);
  // 256 cells over 128 x 128: about 8 a side, with the center 4 away from their borders.
  EXPECT_LE(LargestError(shown->frames[0].picture, smooth), 14);
  EXPECT_LE(LargestError(shown->frames[1].picture, darker), 14);
}

TEST(PictureFileTest, WrongPicturesAreRefused) {
  const auto message = [](const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(message(EncodePng(Image()).status()),
            "a picture has 0 x 0 pixels; allowed: at least 1 x 1");
  EXPECT_EQ(message(EncodePng(Image(2, 2), 0).status()),
            "a picture is to be magnified by 0; allowed: 1 or more");
  EXPECT_EQ(message(EncodePng(Image(300, 2), 219).status()),
            "a picture has 300 x 2 pixels, magnified by 219; allowed: up to 65535 pixels a side");
  EXPECT_EQ(message(EncodePng(Image(300, 2), std::numeric_limits<int>::max()).status()),
            "a picture has 300 x 2 pixels, magnified by 2147483647; allowed: up to 65535 pixels a "
            "side");
  GifAnimation animation;
  EXPECT_EQ(message(animation.Add(Image(), 100)),
            "a picture has 0 x 0 pixels; allowed: at least 1 x 1");
  EXPECT_EQ(message(animation.Add(Image(2, 2), 9)),
            "a picture is to be shown for 9 ms; allowed: 10 to 655350");
  EXPECT_EQ(message(animation.Add(Image(2, 2), 655351)),
            "a picture is to be shown for 655351 ms; allowed: 10 to 655350");
  EXPECT_EQ(animation.Encode().status().message(),
            "an animation needs at least one picture; got none");
  EXPECT_EQ(animation.Encode().status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(animation.Add(Image(2, 2, kRed), 100).ok());
  EXPECT_EQ(message(animation.Add(Image(2, 3), 100)),
            "picture 2 has 2 x 3 pixels, the first has 2 x 2 pixels; they must be equal");
  // What was refused is not in the file.
  EXPECT_EQ(animation.num_frames(), 1);
  EXPECT_EQ(ReadGif(*animation.Encode())->frames.size(), 1u);
  EXPECT_EQ(message(GifAnimation(0).Add(Image(2, 2), 100)),
            "a picture is to be magnified by 0; allowed: 1 or more");
}

// The reader that the tests rely on refuses what is no picture.
TEST(PictureReaderTest, RefusesDamagedFiles) {
  const std::string png = *EncodePng(Gradient(20, 20));
  EXPECT_FALSE(ReadPng(png.substr(0, png.size() / 2)).has_value());
  GifAnimation animation;
  ASSERT_TRUE(animation.Add(Gradient(20, 20), 100).ok());
  const std::string gif = *animation.Encode();
  EXPECT_FALSE(ReadGif(gif.substr(0, gif.size() / 2)).has_value());
}

}  // namespace
}  // namespace lzero::picture_file_test
