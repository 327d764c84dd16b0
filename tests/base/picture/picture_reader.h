// Reads picture files in tests, with the readers of libpng and giflib; what they refuse is no
// picture. Frames of an animation are laid over each other, as a viewer shows them.
#ifndef LZERO_TESTS_BASE_PICTURE_PICTURE_READER_H_
#define LZERO_TESTS_BASE_PICTURE_PICTURE_READER_H_

#include <gif_lib.h>
#include <png.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "lzero/base/picture/image.h"

namespace lzero {

inline std::optional<Image> ReadPng(const std::string& content) {
  png_image header = {};
  header.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&header, content.data(), content.size()) == 0) return {};
  header.format = PNG_FORMAT_RGB;
  Image image(static_cast<int>(header.width), static_cast<int>(header.height));
  if (png_image_finish_read(&header, nullptr, image.pixels.data(), 0, nullptr) == 0) return {};
  return image;
}

struct ShownFrame {
  Image picture;              // all of it
  int left = 0, top = 0;      // of what the file holds for this frame
  int width = 0, height = 0;  // likewise
  int delay_ms = 0;
};

struct ShownAnimation {
  std::vector<ShownFrame> frames;
  bool loops_for_ever = false;
  int num_colors = 0;  // of the palette
};

inline bool IsEndlessLoop(const GifFileType& file) {
  const SavedImage& first = file.SavedImages[0];
  for (int i = 0; i + 1 < first.ExtensionBlockCount; ++i) {
    const ExtensionBlock& name = first.ExtensionBlocks[i];
    const ExtensionBlock& count = first.ExtensionBlocks[i + 1];
    if (name.Function == APPLICATION_EXT_FUNC_CODE && name.ByteCount == 11 &&
        std::memcmp(name.Bytes, "NETSCAPE2.0", 11) == 0 && count.ByteCount == 3) {
      return count.Bytes[0] == 1 && count.Bytes[1] == 0 && count.Bytes[2] == 0;
    }
  }
  return false;
}

inline std::optional<ShownAnimation> ReadGif(const std::string& content) {
  struct Source {
    const std::string& content;
    size_t at = 0;
  } source{content};
  const auto read = [](GifFileType* file, GifByteType* bytes, int count) {
    Source& from = *static_cast<Source*>(file->UserData);
    const size_t given = std::min(static_cast<size_t>(count), from.content.size() - from.at);
    std::memcpy(bytes, from.content.data() + from.at, given);
    from.at += given;
    return static_cast<int>(given);
  };
  GifFileType* file = DGifOpen(&source, read, nullptr);
  if (file == nullptr) return {};
  ShownAnimation animation;
  if (DGifSlurp(file) != GIF_OK || file->ImageCount == 0 || file->SColorMap == nullptr) {
    DGifCloseFile(file, nullptr);
    return {};
  }
  animation.loops_for_ever = IsEndlessLoop(*file);
  animation.num_colors = file->SColorMap->ColorCount;
  Image shown(file->SWidth, file->SHeight);
  for (int i = 0; i < file->ImageCount; ++i) {
    const SavedImage& part = file->SavedImages[i];
    const GifImageDesc& box = part.ImageDesc;
    for (int y = 0; y < box.Height; ++y) {
      for (int x = 0; x < box.Width; ++x) {
        const GifColorType& color =
            file->SColorMap->Colors[part.RasterBits[static_cast<size_t>(y) * box.Width + x]];
        shown.set(box.Left + x, box.Top + y, {color.Red, color.Green, color.Blue});
      }
    }
    GraphicsControlBlock control = {};
    DGifSavedExtensionToGCB(file, i, &control);
    animation.frames.push_back(
        {shown, box.Left, box.Top, box.Width, box.Height, control.DelayTime * 10});
  }
  DGifCloseFile(file, nullptr);
  return animation;
}

}  // namespace lzero

#endif  // LZERO_TESTS_BASE_PICTURE_PICTURE_READER_H_
