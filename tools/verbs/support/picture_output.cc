#include "tools/verbs/support/picture_output.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/files.h"
#include "lzero/base/picture/picture_file.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"

namespace lzero {
namespace {

constexpr int64_t kEndHoldMs = 500;  // for which the end of an episode is shown longer

std::string ByteText(int64_t num_bytes) {
  if (num_bytes < 1000) return absl::StrCat(num_bytes, " bytes");
  if (num_bytes < 1000000) return absl::StrFormat("%.1f kB", static_cast<double>(num_bytes) / 1e3);
  return absl::StrFormat("%.1f MB", static_cast<double>(num_bytes) / 1e6);
}

// What was taken, for the message at the end.
struct Tally {
  int64_t num_pictures = 0;
  int64_t num_bytes = 0;  // of the files
  int width = 0, height = 0;

  std::string Text() const {
    return absl::StrCat(num_pictures, num_pictures == 1 ? " picture of " : " pictures of ", width,
                        " x ", height, " pixels, ", ByteText(num_bytes));
  }
};

absl::Status CheckRange(absl::string_view name, std::optional<int64_t> value, int most) {
  if (!value.has_value() || (*value >= 1 && *value <= most)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", *value, "; allowed: an integer from 1 to ", most));
}

class GifRecorder : public PictureRecorder {
 public:
  GifRecorder(std::string path, int scale, int64_t delay_ms, const PictureLimits& limits)
      : path_(std::move(path)),
        scale_(scale),
        delay_ms_(delay_ms),
        limits_(limits),
        animation_(scale) {}

  absl::Status Add(const Env& env, bool episode_ended) override {
    if (is_full()) return absl::OkStatus();
    LZ_ASSIGN_OR_RETURN(const Image image, env.RenderRgb());
    tally_.width = image.width * scale_;
    tally_.height = image.height * scale_;
    return animation_.Add(image, delay_ms_ + (episode_ended ? kEndHoldMs : 0));
  }

  bool is_full() const override {
    return animation_.num_frames() >= limits_.num_pictures ||
           animation_.num_held_bytes() >= limits_.num_held_bytes;
  }

  absl::StatusOr<std::string> Finish() override {
    LZ_ASSIGN_OR_RETURN(const std::string content, animation_.Encode());
    LZ_RETURN_IF_ERROR(WriteOutput(path_, content));
    tally_.num_pictures = animation_.num_frames();
    tally_.num_bytes = static_cast<int64_t>(content.size());
    return absl::StrCat(path_, " (", tally_.Text(), ")");
  }

 private:
  std::string path_;
  int scale_;
  int64_t delay_ms_;
  PictureLimits limits_;
  GifAnimation animation_;
  Tally tally_;
};

std::string PngName(int64_t number) { return absl::StrFormat("frame_%04d.png", number); }

bool IsPngName(absl::string_view name) {
  return absl::StartsWith(name, "frame_") && absl::EndsWith(name, ".png");
}

// Writes every picture as it comes.
class PngRecorder : public PictureRecorder {
 public:
  PngRecorder(std::string folder, int scale, int64_t most_pictures)
      : folder_(std::move(folder)), scale_(scale), most_pictures_(most_pictures) {}

  absl::Status Add(const Env& env, bool) override {
    if (is_full()) return absl::OkStatus();
    LZ_ASSIGN_OR_RETURN(const Image image, env.RenderRgb());
    LZ_ASSIGN_OR_RETURN(const std::string content, EncodePng(image, scale_));
    if (tally_.num_pictures == 0) LZ_RETURN_IF_ERROR(MakeDirectories(folder_));
    LZ_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(folder_, PngName(tally_.num_pictures)), content));
    ++tally_.num_pictures;
    tally_.num_bytes += static_cast<int64_t>(content.size());
    tally_.width = image.width * scale_;
    tally_.height = image.height * scale_;
    return absl::OkStatus();
  }

  bool is_full() const override { return tally_.num_pictures >= most_pictures_; }

  absl::StatusOr<std::string> Finish() override {
    return absl::StrCat(JoinPath(folder_, PngName(0)), " .. ",
                        PngName(std::max<int64_t>(0, tally_.num_pictures - 1)), " (", tally_.Text(),
                        ")");
  }

 private:
  std::string folder_;
  int scale_;
  int64_t most_pictures_;
  Tally tally_;
};

// A folder that is mistyped or cannot be written is told before anything is played.
absl::Status CheckFolderOf(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code code;
  if (IsDirectory(path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--out: '", path, "' is a folder; allowed with --render gif: a file"));
  }
  const fs::path file = fs::exists(path, code) ? fs::canonical(path, code) : fs::path(path);
  if (code || (fs::exists(file) && !fs::is_regular_file(file))) return absl::OkStatus();  // a pipe
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  if (!IsDirectory(folder)) {
    return absl::InvalidArgumentError(absl::StrCat("cannot create ", path, ": no folder ", folder));
  }
  // The file that it is written as at first.
  const std::string probe = absl::StrCat(file.string(), ".tmp");
  LZ_RETURN_IF_ERROR(OpenFile::Open(probe, O_WRONLY | O_CREAT, "cannot create").status());
  fs::remove(probe, code);
  return absl::OkStatus();
}

// Pictures of two rollouts in one folder would look like those of one.
absl::Status CheckPngFolder(const std::string& folder) {
  if (absl::EndsWith(absl::AsciiStrToLower(folder), ".png")) {
    return absl::InvalidArgumentError(absl::StrCat("--out: got '", folder,
                                                   "', allowed with --render png: a folder, which "
                                                   "gets ",
                                                   PngName(0), ", ", PngName(1), " and so on"));
  }
  if (!FileExists(folder)) return absl::OkStatus();
  if (!IsDirectory(folder)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--out: '", folder, "' is a file; allowed with --render png: a folder"));
  }
  LZ_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(folder));
  const auto found = std::find_if(names.begin(), names.end(), IsPngName);
  if (found == names.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--out: folder ", folder, " holds ", *found,
                                                 " already; allowed: one without such pictures"));
}

}  // namespace

absl::Status CheckPictureOptions(const PictureOptions& options,
                                 absl::Span<const absl::string_view> formats) {
  if (!options.format.empty() &&
      std::find(formats.begin(), formats.end(), options.format) == formats.end()) {
    return absl::InvalidArgumentError(absl::StrCat("--render: got ",
                                                   QuotedForMessage(options.format),
                                                   ", allowed: ", absl::StrJoin(formats, ", ")));
  }
  LZ_RETURN_IF_ERROR(CheckRange("--fps", options.fps, kMostFramesPerSecond));
  LZ_RETURN_IF_ERROR(CheckRange("--scale", options.scale, kMostScale));
  if (options.fps.has_value() && options.format != "gif") {
    return absl::InvalidArgumentError("--fps is of an animation; add --render gif");
  }
  if (options.scale.has_value() && options.format != "gif" && options.format != "png") {
    const bool has_png = std::find(formats.begin(), formats.end(), "png") != formats.end();
    return absl::InvalidArgumentError(absl::StrCat("--scale is of pictures; add --render gif",
                                                   has_png ? " or --render png" : ""));
  }
  return absl::OkStatus();
}

std::string DefaultPicturePath(const std::string& id, const std::string& format) {
  std::string path = id;
  for (char& c : path) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '_';
  }
  return absl::StrCat(path, format == "png" ? "_frames" : absl::StrCat(".", format));
}

std::string ShownEpisodesText(size_t num_whole, size_t num_episodes) {
  if (num_whole == num_episodes) return absl::StrCat("all ", num_episodes);
  if (num_whole == 0) return "the beginning of the first, then it is full";
  return absl::StrCat("the first ", num_whole, " of ", num_episodes, ", then it is full");
}

absl::StatusOr<std::unique_ptr<PictureRecorder>> PictureRecorder::Create(
    const PictureOptions& options, const std::string& out_path, const EnvSpec& spec,
    const PictureLimits& limits) {
  const std::string path =
      out_path.empty() ? DefaultPicturePath(spec.id, options.format) : out_path;
  const int scale = static_cast<int>(options.scale.value_or(1));
  if (options.format == "png") {
    LZ_RETURN_IF_ERROR(CheckPngFolder(path));
    return std::make_unique<PngRecorder>(path, scale, limits.num_pictures);
  }
  LZ_RETURN_IF_ERROR(CheckFolderOf(path));
  const int64_t fps = options.fps.value_or(spec.num_players == 2 ? 2 : 10);
  return std::make_unique<GifRecorder>(path, scale, 1000 / fps, limits);
}

}  // namespace lzero
