// Answers another program's requests to one environment (frames kEnvReset, kStep, kSave, kText,
// kPicture). Knows no pipe (frame_server.h). One thread.
#ifndef LZERO_PIPE_ENV_SERVER_H_
#define LZERO_PIPE_ENV_SERVER_H_

#include <string>

#include "absl/status/statusor.h"
#include "lzero/env/env.h"
#include "lzero/pipe/frame.h"

namespace lzero {

class EnvServer {
 public:
  // `env` outlives the server.
  explicit EnvServer(Env* env) : env_(env) {}

  // The frame that answers `request`. DataLoss where it is malformed; errors of the environment.
  absl::StatusOr<std::string> Answer(const Frame& request);

 private:
  absl::StatusOr<std::string> Reset(const Frame& frame);
  absl::StatusOr<std::string> Step(const Frame& frame);
  absl::StatusOr<std::string> Picture() const;

  Env* const env_;
};

// The action of a frame kStep. DataLoss where the body is no action; whether it is legal is for the
// environment to say.
absl::StatusOr<Action> ReadAction(const Frame& frame, const ActionSpec& spec);

}  // namespace lzero

#endif  // LZERO_PIPE_ENV_SERVER_H_
