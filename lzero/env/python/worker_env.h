// An environment that lives in a worker process: the Env interface, with step cap, legal actions
// and returns kept on this side. Beyond its bounds a box action is clipped before Python sees it.
// Cannot save its state. One thread at a time, and one for all of its group.
#ifndef LZERO_ENV_PYTHON_WORKER_ENV_H_
#define LZERO_ENV_PYTHON_WORKER_ENV_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/env/env.h"
#include "lzero/env/python/worker_group.h"

namespace lzero {

class WorkerEnv : public Env {
 public:
  // The environment of `slot`. `id` is lzero's name of it; max_episode_steps 0: the package's cap.
  WorkerEnv(std::shared_ptr<WorkerGroup> group, int slot, const std::string& id,
            int64_t max_episode_steps);

  const EnvSpec& spec() const override { return spec_; }
  // What goes wrong here is told by the next Step.
  TimeStep Reset(uint64_t seed) override;
  absl::StatusOr<TimeStep> Step(const Action& action) override;
  EnvBatch* batch() override { return group_.get(); }
  absl::StatusOr<Image> RenderRgb() const override;

 private:
  friend class WorkerGroup;

  enum class Phase { kNotStarted, kRunning, kEnded };

  // The three parts of a step. Check: FailedPrecondition and InvalidArgument as Env::Step says.
  absl::Status Check(const Action& action) const;
  void Ask(WorkerMemory& memory, const Action& action);
  // An answer that makes no sense is an error: the episode is to be interrupted.
  absl::StatusOr<TimeStep> Absorb(const absl::StatusOr<WorkerResult>& result);
  // The end of an episode that cannot go on.
  TimeStep Interrupt();

  bool is_lost() const { return group_->generations_[slot_] != generation_; }
  void TakeMask(const WorkerResult& result);
  TimeStep MakeTimeStep() const;

  const std::shared_ptr<WorkerGroup> group_;
  const int slot_;
  const std::unique_ptr<FrameView> view_;
  EnvSpec spec_;
  Phase phase_ = Phase::kNotStarted;
  absl::Status reset_error_ = absl::OkStatus();
  uint64_t generation_ = 0;
  int64_t num_steps_ = 0;
  double episode_return_ = 0.0;
  std::vector<uint8_t> mask_;  // [num_actions] while the episode runs; empty for a box
};

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_WORKER_ENV_H_
