// The control messages between lzero and a worker process: JSON texts that travel over a socket,
// and what they say about the environments of the process. Texts from a worker are not trusted:
// reading answers with an error or a spec that makes sense. Pure functions.
#ifndef LZERO_ENV_PYTHON_WORKER_MESSAGES_H_
#define LZERO_ENV_PYTHON_WORKER_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/base/picture/image.h"
#include "lzero/env/env.h"
#include "lzero/env/env_setting.h"
#include "lzero/env/python/worker_memory.h"

namespace lzero {

// Changes whenever messages or memory mean something else.
inline constexpr int kWorkerProtocolVersion = 1;
// Longest text, and most bytes of a picture, that is taken from a worker.
inline constexpr int64_t kMaxWorkerText = 16 << 20;
inline constexpr int64_t kMaxWorkerPicture = 64 << 20;

// Which environment a worker makes.
struct WorkerTask {
  std::string kind;  // "gymnasium" or "dm_control"
  std::string id;    // as that package names it
  // Arguments of its constructor; true, false, null and numbers are handed over as such.
  EnvSettingTexts settings;
  bool keeps_pixels = false;         // pictures are given as they are, [height, width, channels]
  std::string observation = "auto";  // as WorkerOptions has it, and these
  std::vector<std::string> wrappers = {};
  std::vector<std::string> python_path = {};

  std::string Name() const { return kind + ":" + id; }
  friend bool operator==(const WorkerTask&, const WorkerTask&) = default;
};

// What a worker says of its environments.
struct WorkerSpec {
  ObservationSpec observation;  // of one frame
  ActionSpec action;
  int64_t max_episode_steps = 0;  // the package's own cap; 0: none
  bool has_action_mask = false;
  bool has_lives = false;
  bool draws_text = false;  // and no pictures
};

std::string MakeText(const WorkerTask& task, int num_envs);
std::string AttachText(const WorkerLayout& layout);
// "render", "text" and "error" of a slot; "remake" and "close" without.
std::string VerbText(absl::string_view verb, int slot = -1);

// Why a worker refused, told by it.
struct WorkerRefusal {
  std::string error;
  std::string missing_package;  // Python's name of it; empty: nothing is missing
  std::string traceback;        // empty: the error says it all
};

// Ok for {"ok":true, ...}. FailedPrecondition when a package is missing, else InvalidArgument with
// the worker's error, and `refusal` (may be null) filled. Internal for a text that is no answer.
absl::Status ReadAnswer(absl::string_view text, WorkerRefusal* refusal = nullptr);
// The answer to MakeText. Internal for another version or a spec that makes no sense.
absl::StatusOr<WorkerSpec> ReadSpec(absl::string_view text, WorkerRefusal* refusal = nullptr);
// The answer to "error": a traceback, maybe empty.
absl::StatusOr<std::string> ReadTraceback(absl::string_view text);
// The answer to "text": what the environment draws. Errors as ReadAnswer.
absl::StatusOr<std::string> ReadDrawnText(absl::string_view text);

// The answer to "render": a picture of its size, still black, whose pixels follow it.
absl::StatusOr<Image> ReadBlankPicture(absl::string_view text);

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_WORKER_MESSAGES_H_
