// Environments that share one worker process, and what happens when it dies: the episodes it was
// playing end as interrupted, the next one starts it again, and after too many times the error is
// passed on. One thread at a time, also for all environments of a group together.
#ifndef LZERO_ENV_PYTHON_WORKER_GROUP_H_
#define LZERO_ENV_PYTHON_WORKER_GROUP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/env/env.h"
#include "lzero/env/python/frames/frame_view.h"
#include "lzero/env/python/worker_process.h"

namespace lzero {

// Processes that nobody uses, ready to be used again: starting Python takes longer than most
// checks. Thread-safe.
class WorkerPool {
 public:
  // A process of this command that was used before, or null. It may have died unheard of.
  std::unique_ptr<WorkerProcess> Take(const WorkerCommand& command);
  void GiveBack(std::unique_ptr<WorkerProcess> process);
  // The message of a failure to log: whole where it is another one than the last, else its first
  // and its last line.
  std::string MessageOf(const absl::Status& failure);

 private:
  std::mutex mutex_;
  std::string last_failure_;                          // guarded by mutex_
  std::vector<std::unique_ptr<WorkerProcess>> idle_;  // guarded by mutex_, the oldest first
};

class WorkerEnv;

class WorkerGroup : public EnvBatch {
 public:
  struct Options {
    WorkerCommand command;
    int64_t max_restarts = 3;
    int first_env = 0;  // the number of slot 0 among all environments, for messages
    std::function<absl::StatusOr<std::unique_ptr<FrameView>>(const WorkerSpec&)> make_view;
  };

  // Takes a process from `pool`, or starts one, and makes `num_envs` environments in it. Errors as
  // WorkerProcess::Start.
  static absl::StatusOr<std::shared_ptr<WorkerGroup>> Create(Options options, int num_envs,
                                                             std::shared_ptr<WorkerPool> pool);
  // The environment of `slot`, 0 .. num_envs - 1, once for each. `id` is lzero's name of it;
  // max_episode_steps 0: the package's cap. What goes wrong in its Reset is told by the next Step.
  static std::unique_ptr<Env> MakeEnv(std::shared_ptr<WorkerGroup> group, int slot,
                                      const std::string& id, int64_t max_episode_steps);
  ~WorkerGroup() override;

  const WorkerSpec& spec() const { return spec_; }
  // Environments of this group.
  void Begin(absl::Span<Env* const> envs, absl::Span<const Action> actions) override;
  void Finish(absl::Span<absl::StatusOr<TimeStep>> results) override;
  int64_t ProcessBytes() const override;

  // How often the process, or a single environment, was started again after an error.
  int64_t num_restarts() const { return num_restarts_; }
  pid_t pid() const { return process_ == nullptr ? -1 : process_->pid(); }

 private:
  friend class WorkerEnv;

  WorkerGroup(Options options, int num_envs, std::shared_ptr<WorkerPool> pool);

  absl::Status OpenProcess();
  absl::Status OpenIn(std::unique_ptr<WorkerProcess> process);
  void LoseProcess();
  // Resets the environment and plays what its view wants first. Starts the process again when it
  // died; an error is the one that every later call gives, too.
  absl::Status Reset(WorkerEnv& env, uint64_t seed);
  absl::Status ResetOnce(WorkerEnv& env, uint64_t seed);
  // What comes of the request in memory about one slot: an error of the environment, or
  // Unavailable.
  absl::StatusOr<WorkerResult> Answer(int slot);
  // Logs what happened, to `env` alone where one is given, and counts it; the error of the group
  // when it was once too often.
  absl::Status Count(const absl::Status& what, const WorkerEnv* env = nullptr);
  absl::Status FailureOf(int slot);
  // What `draw` of the process gives; a process that dies of it is counted.
  template <typename Drawn>
  absl::StatusOr<Drawn> Draw(absl::StatusOr<Drawn> (WorkerProcess::*draw)(int),
                             const WorkerEnv& env);

  const Options options_;
  const int num_envs_;
  const std::shared_ptr<WorkerPool> pool_;
  WorkerSpec spec_;
  std::unique_ptr<WorkerProcess> process_;  // null after it died
  uint64_t generation_ = 0;                 // changes when the process is lost, and when it begins
  int64_t num_restarts_ = 0;
  absl::Status broken_ = absl::OkStatus();  // once it is given up
  bool is_begun_ = false;                   // between Begin and Finish
  std::vector<WorkerEnv*> asked_;           // of the running Begin
  std::vector<absl::Status> refused_;       // [asked_] before anything was sent
};

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_WORKER_GROUP_H_
