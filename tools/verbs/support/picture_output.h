// What --render png and --render gif write: the pictures that an environment draws of itself, as
// numbered PNG files or as one animated GIF. Shared by `envs rollout` and `eval`; who plays is not
// known here. No file is ever seen half written. Used by one thread at a time.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_PICTURE_OUTPUT_H_
#define LZERO_TOOLS_VERBS_SUPPORT_PICTURE_OUTPUT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/env/env.h"

namespace lzero {

// --render and the options that belong to it.
struct PictureOptions {
  std::string format;                 // "" for none; text, png, gif
  std::optional<int64_t> fps = {};    // of gif; absent: 10, for a game of two players 2
  std::optional<int64_t> scale = {};  // of png and gif: whole magnification; absent: 1
};

// What a recorder takes at most.
struct PictureLimits {
  int64_t num_pictures = 0;
  int64_t num_held_bytes = int64_t{512} << 20;  // of a gif before it is written
};

inline constexpr int kMostFramesPerSecond = 50;  // browsers show more of them slower
inline constexpr int kMostScale = 16;

// InvalidArgument for a format that is not among `formats`, for a number out of range, and for
// --fps or --scale where they mean nothing.
absl::Status CheckPictureOptions(const PictureOptions& options,
                                 absl::Span<const absl::string_view> formats);

// Where pictures of environment `id` go when nobody says: "catch.gif", "catch_frames".
std::string DefaultPicturePath(const std::string& id, const std::string& format);

// Which episodes an animation shows, `num_whole` of them to their end: "all 20", or what fitted.
std::string ShownEpisodesText(size_t num_whole, size_t num_episodes);

class PictureRecorder {
 public:
  virtual ~PictureRecorder() = default;

  // For format png or gif of `options`, which were checked. `out_path` is the GIF file, or the
  // folder of the PNG files, which is made; "": the default. InvalidArgument when there is no
  // folder for the file, for one with such pictures in it or a name that cannot be meant.
  static absl::StatusOr<std::unique_ptr<PictureRecorder>> Create(const PictureOptions& options,
                                                                 const std::string& out_path,
                                                                 const EnvSpec& spec,
                                                                 const PictureLimits& limits);

  // Takes a picture of `env`; that of an episode's end is shown longer. Nothing happens once
  // is_full(). The error of an environment that cannot draw itself.
  virtual absl::Status Add(const Env& env, bool episode_ended) = 0;
  // Whether no more are taken.
  virtual bool is_full() const = 0;
  // Writes what is not written yet and says what it was: "catch.gif (10 pictures of 100 x 200
  // pixels, 5.1 kB)".
  virtual absl::StatusOr<std::string> Finish() = 0;
};

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_PICTURE_OUTPUT_H_
