// A picture in memory: what environments draw and picture files hold. Plain data, no thread rule.
#ifndef LZERO_BASE_PICTURE_IMAGE_H_
#define LZERO_BASE_PICTURE_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lzero {

struct Color {
  uint8_t red = 0, green = 0, blue = 0;

  friend bool operator==(const Color&, const Color&) = default;
};

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> pixels;  // [height, width, 3] red, green, blue; row 0 at the top

  Image() = default;
  Image(int image_width, int image_height, Color fill = {})
      : width(image_width),
        height(image_height),
        pixels(static_cast<size_t>(image_width) * static_cast<size_t>(image_height) * 3) {
    for (size_t i = 0; i < pixels.size(); i += 3) {
      pixels[i] = fill.red, pixels[i + 1] = fill.green, pixels[i + 2] = fill.blue;
    }
  }

  Color at(int x, int y) const {
    const uint8_t* pixel = &pixels[(static_cast<size_t>(y) * width + x) * 3];
    return {pixel[0], pixel[1], pixel[2]};
  }
  void set(int x, int y, Color color) {
    uint8_t* pixel = &pixels[(static_cast<size_t>(y) * width + x) * 3];
    pixel[0] = color.red, pixel[1] = color.green, pixel[2] = color.blue;
  }
};

}  // namespace lzero

#endif  // LZERO_BASE_PICTURE_IMAGE_H_
