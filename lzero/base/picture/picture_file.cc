#include "lzero/base/picture/picture_file.h"

#include <gif_lib.h>
#include <png.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/picture/palette.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr int64_t kLongestSide = 65535;  // a GIF file keeps it in 16 bits

std::string SizeText(const Image& image) {
  return absl::StrCat(image.width, " x ", image.height, " pixels");
}

absl::Status CheckPicture(const Image& image, int scale) {
  if (scale < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a picture is to be magnified by ", scale, "; allowed: 1 or more"));
  }
  if (image.width < 1 || image.height < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a picture has ", SizeText(image), "; allowed: at least 1 x 1"));
  }
  if (static_cast<int64_t>(std::max(image.width, image.height)) * scale > kLongestSide) {
    return absl::InvalidArgumentError(absl::StrCat("a picture has ", SizeText(image),
                                                   ", magnified by ", scale, "; allowed: up to ",
                                                   kLongestSide, " pixels a side"));
  }
  return absl::OkStatus();
}

Image Magnified(const Image& image, int scale) {
  Image large(image.width * scale, image.height * scale);
  for (int y = 0; y < large.height; ++y) {
    for (int x = 0; x < large.width; ++x) large.set(x, y, image.at(x / scale, y / scale));
  }
  return large;
}

// Pixels [left, right) x [top, bottom).
struct Box {
  int left = 0, top = 0, right = 0, bottom = 0;
};

// The smallest box around what differs; one pixel where nothing does, since no frame may be empty.
Box ChangedBox(const Image& before, const Image& after) {
  Box box{after.width, after.height, 0, 0};
  for (int y = 0; y < after.height; ++y) {
    for (int x = 0; x < after.width; ++x) {
      if (before.at(x, y) == after.at(x, y)) continue;
      box.left = std::min(box.left, x);
      box.right = std::max(box.right, x + 1);
      box.top = std::min(box.top, y);
      box.bottom = y + 1;
    }
  }
  return box.right > 0 ? box : Box{0, 0, 1, 1};
}

Image Cut(const Image& image, const Box& box) {
  Image part(box.right - box.left, box.bottom - box.top);
  for (int y = 0; y < part.height; ++y) {
    for (int x = 0; x < part.width; ++x) part.set(x, y, image.at(box.left + x, box.top + y));
  }
  return part;
}

absl::Status GifFailure(int error) {
  const char* text = GifErrorString(error);
  return absl::InternalError(
      absl::StrCat("giflib cannot write: ", text != nullptr ? text : "unknown reason"));
}

// A GIF file that grows in a string.
class GifWriter {
 public:
  ~GifWriter() {
    if (file_ != nullptr) EGifCloseFile(file_, nullptr);
    GifFreeMapObject(colors_);
  }

  // The head of the file: size in pixels, the palette of all frames, and that it loops for ever.
  absl::Status Open(int width, int height, const Palette& palette) {
    int error = 0;
    file_ = EGifOpen(this, &GifWriter::Append, &error);
    if (file_ == nullptr) return GifFailure(error);
    // A table has a power of two as its size, 2 at least.
    const int num_colors = static_cast<int>(palette.colors().size());
    const int bits = std::max(1, GifBitSize(num_colors));
    colors_ = GifMakeMapObject(1 << bits, nullptr);
    if (colors_ == nullptr) return GifFailure(E_GIF_ERR_NOT_ENOUGH_MEM);
    for (int i = 0; i < num_colors; ++i) {
      const Color color = palette.colors()[i];
      colors_->Colors[i] = {color.red, color.green, color.blue};
    }
    EGifSetGifVersion(file_, true);
    LZ_RETURN_IF_ERROR(Check(EGifPutScreenDesc(file_, width, height, bits, 0, colors_)));
    const unsigned char loop_count[] = {1, 0, 0};  // sub-block 1; 0 times stands for ever
    LZ_RETURN_IF_ERROR(Check(EGifPutExtensionLeader(file_, APPLICATION_EXT_FUNC_CODE)));
    LZ_RETURN_IF_ERROR(Check(EGifPutExtensionBlock(file_, 11, "NETSCAPE2.0")));
    LZ_RETURN_IF_ERROR(Check(EGifPutExtensionBlock(file_, sizeof(loop_count), loop_count)));
    return Check(EGifPutExtensionTrailer(file_));
  }

  // `image`, magnified, at (left, top) of the small picture; what is around it stays.
  absl::Status Put(const Image& image, int left, int top, int scale, int64_t delay_ms,
                   const Palette& palette) {
    GraphicsControlBlock control = {};
    control.DisposalMode = DISPOSE_DO_NOT;
    control.DelayTime = static_cast<int>((delay_ms + 5) / 10);
    control.TransparentColor = NO_TRANSPARENT_COLOR;
    GifByteType packed[4];
    const size_t packed_size = EGifGCBToExtension(&control, packed);
    LZ_RETURN_IF_ERROR(Check(
        EGifPutExtension(file_, GRAPHICS_EXT_FUNC_CODE, static_cast<int>(packed_size), packed)));
    LZ_RETURN_IF_ERROR(Check(EGifPutImageDesc(file_, left * scale, top * scale, image.width * scale,
                                              image.height * scale, false, nullptr)));
    std::vector<GifPixelType> row(static_cast<size_t>(image.width) * scale);
    for (int y = 0; y < image.height; ++y) {
      FillRow(image, y, scale, palette, row);
      for (int i = 0; i < scale; ++i) {
        LZ_RETURN_IF_ERROR(Check(EGifPutLine(file_, row.data(), static_cast<int>(row.size()))));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Finish() {
    int error = 0;
    if (EGifCloseFile(std::exchange(file_, nullptr), &error) == GIF_ERROR) return GifFailure(error);
    return std::move(content_);
  }

 private:
  static int Append(GifFileType* file, const GifByteType* bytes, int count) {
    static_cast<GifWriter*>(file->UserData)
        ->content_.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
    return count;
  }

  absl::Status Check(int result) const {
    return result == GIF_ERROR ? GifFailure(file_->Error) : absl::OkStatus();
  }

  // Neighbours often have one color, which is looked up once.
  static void FillRow(const Image& image, int y, int scale, const Palette& palette,
                      std::vector<GifPixelType>& row) {
    Color last = image.at(0, y);
    GifPixelType index = palette.IndexOf(last);
    auto at = row.begin();
    for (int x = 0; x < image.width; ++x) {
      const Color color = image.at(x, y);
      if (!(color == last)) last = color, index = palette.IndexOf(color);
      at = std::fill_n(at, scale, index);
    }
  }

  std::string content_;
  GifFileType* file_ = nullptr;
  ColorMapObject* colors_ = nullptr;
};

}  // namespace

absl::StatusOr<std::string> EncodePng(const Image& image, int scale) {
  LZ_RETURN_IF_ERROR(CheckPicture(image, scale));
  const Image large = scale == 1 ? image : Magnified(image, scale);
  png_image header = {};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(large.width);
  header.height = static_cast<png_uint_32>(large.height);
  header.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string content(size, '\0');
  if (png_image_write_to_memory(&header, content.data(), &size, 0, large.pixels.data(), 0,
                                nullptr) == 0) {
    const std::string message = absl::StrCat("libpng cannot write: ", header.message);
    png_image_free(&header);
    return absl::InternalError(message);
  }
  content.resize(size);
  return content;
}

absl::Status GifAnimation::Add(const Image& image, int64_t delay_ms) {
  constexpr int64_t kLongestDelay = 655350;
  LZ_RETURN_IF_ERROR(CheckPicture(image, scale_));
  if (delay_ms < 10 || delay_ms > kLongestDelay) {
    return absl::InvalidArgumentError(absl::StrCat("a picture is to be shown for ", delay_ms,
                                                   " ms; allowed: 10 to ", kLongestDelay));
  }
  Box box{0, 0, image.width, image.height};
  if (!frames_.empty()) {
    if (image.width != last_.width || image.height != last_.height) {
      return absl::InvalidArgumentError(absl::StrCat("picture ", frames_.size() + 1, " has ",
                                                     SizeText(image), ", the first has ",
                                                     SizeText(last_), "; they must be equal"));
    }
    box = ChangedBox(last_, image);
  }
  frames_.push_back({box.left, box.top, Cut(image, box), delay_ms});
  num_held_bytes_ += static_cast<int64_t>(frames_.back().changed.pixels.size());
  last_ = image;
  return absl::OkStatus();
}

absl::StatusOr<std::string> GifAnimation::Encode() const {
  if (frames_.empty()) {
    return absl::FailedPreconditionError("an animation needs at least one picture; got none");
  }
  Palette palette;
  for (const Frame& frame : frames_) palette.Add(frame.changed.pixels);
  palette.Choose();
  GifWriter writer;
  LZ_RETURN_IF_ERROR(writer.Open(last_.width * scale_, last_.height * scale_, palette));
  for (const Frame& frame : frames_) {
    LZ_RETURN_IF_ERROR(
        writer.Put(frame.changed, frame.left, frame.top, scale_, frame.delay_ms, palette));
  }
  return writer.Finish();
}

}  // namespace lzero
