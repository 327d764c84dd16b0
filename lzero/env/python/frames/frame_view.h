// How the raw actions and frames of a worker process become those of an environment: the plain way,
// one action a step and the observation as it is. Atari's way is another (atari_view.h). One thread
// at a time.
#ifndef LZERO_ENV_PYTHON_FRAMES_FRAME_VIEW_H_
#define LZERO_ENV_PYTHON_FRAMES_FRAME_VIEW_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/env/env.h"
#include "lzero/env/python/worker_memory.h"
#include "lzero/env/python/worker_messages.h"

namespace lzero {

// What a step comes to.
struct ViewedStep {
  double reward = 0.0;
  bool terminated = false;
  bool truncated = false;
};

class FrameView {
 public:
  explicit FrameView(const WorkerSpec& spec);
  virtual ~FrameView() = default;

  virtual int num_frames() const { return 1; }
  virtual int max_repeat() const { return 1; }
  // Shape, bounds and cap of the environment; the caller sets the rest of the spec.
  virtual ObservationSpec observation() const { return spec_.observation; }
  virtual int64_t max_episode_steps() const { return spec_.max_episode_steps; }

  // Begins an episode. False: the process goes on where it is instead of resetting.
  virtual bool BeginEpisode(uint64_t /*seed*/) { return true; }
  // Nothing is known of the process any more: the next BeginEpisode must be true.
  virtual void Forget() {}
  // Actions to play before the first observation; empty: none.
  virtual std::vector<int32_t> Prelude() { return {}; }
  // The actions that one `action` of the agent is played as.
  virtual std::vector<int32_t> Repeats(int32_t action) { return {action}; }

  // What the first observation, and a step, were. The result is one of the sizes above. After an
  // error Observe gives the state before.
  virtual absl::Status First(const WorkerResult& result) { return Keep(result); }
  virtual absl::StatusOr<ViewedStep> Next(const WorkerResult& result);
  // Fills `observation` with the state after First or Next.
  virtual void Observe(absl::Span<float> observation) const;

 private:
  absl::Status Keep(const WorkerResult& result);

  WorkerSpec spec_;
  std::vector<float> observation_;
  std::vector<float> incoming_;  // scratch: one that is not checked yet
};

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_FRAMES_FRAME_VIEW_H_
