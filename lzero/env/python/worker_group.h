// Environments that share one worker process, and what happens when it dies: the episodes it was
// playing end as interrupted, the next one starts it again, and after too many times the error is
// passed on. Made by MakeWorkerGroup; used through WorkerEnv. One thread at a time.
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
  void GiveBack(const WorkerCommand& command, std::unique_ptr<WorkerProcess> process);

 private:
  struct Idle {
    WorkerCommand command;
    std::unique_ptr<WorkerProcess> process;
  };
  std::mutex mutex_;
  std::vector<Idle> idle_;  // guarded by mutex_
};

class WorkerEnv;

class WorkerGroup : public EnvBatch {
 public:
  using ViewMaker = std::function<absl::StatusOr<std::unique_ptr<FrameView>>(const WorkerSpec&)>;

  struct Options {
    WorkerCommand command;
    int64_t max_restarts = 3;
    ViewMaker make_view;
  };

  // Takes a process from `pool`, or starts one, and makes `num_envs` environments in it. Errors as
  // WorkerProcess::Start.
  static absl::StatusOr<std::shared_ptr<WorkerGroup>> Create(Options options, int num_envs,
                                                             std::shared_ptr<WorkerPool> pool);
  int num_envs() const { return static_cast<int>(generations_.size()); }
  ~WorkerGroup() override;

  const WorkerSpec& spec() const { return spec_; }
  // A view of the environments of this group, checked when it was made.
  std::unique_ptr<FrameView> MakeView() const { return *options_.make_view(spec_); }

  // WorkerEnvs of this group.
  void Begin(absl::Span<Env* const> envs, absl::Span<const Action> actions) override;
  void Finish(absl::Span<absl::StatusOr<TimeStep>> results) override;
  int64_t ProcessBytes() const override;

  // Resets the environment of `slot` and plays what the view wants first. Starts the process again
  // when it died; an error is the one that every later call gives, too.
  absl::Status Reset(int slot, uint64_t seed, FrameView& view);
  absl::StatusOr<Image> Render(int slot);

  // How often the process, or a single environment, was started again after an error.
  int64_t num_restarts() const { return num_restarts_; }
  pid_t pid() const { return process_ == nullptr ? -1 : process_->pid(); }

 private:
  friend class WorkerEnv;

  WorkerGroup(Options options, int num_envs, std::shared_ptr<WorkerPool> pool);

  absl::Status OpenProcess();
  absl::Status TakeFirst(FrameView& view, const WorkerResult& result) const;
  absl::Status OpenIn(std::unique_ptr<WorkerProcess> process);
  // One request about one slot; the answer, an error of the environment, or Unavailable.
  absl::StatusOr<WorkerResult> Request(int slot, const std::function<void(WorkerMemory&)>& ask);
  absl::Status ResetOnce(int slot, uint64_t seed, FrameView& view);
  // Logs what happened and counts it; the error of the group when it was once too often.
  absl::Status Count(const absl::Status& what);
  absl::Status FailureOf(int slot);
  void LoseProcess();

  const Options options_;
  const std::shared_ptr<WorkerPool> pool_;
  WorkerSpec spec_;
  std::unique_ptr<WorkerProcess> process_;   // null after it died
  std::vector<uint64_t> generations_;        // [slot] changes when its episode is lost
  std::vector<uint8_t> is_spoilt_;           // [slot] its environment raised an exception
  std::vector<std::vector<uint8_t>> masks_;  // [slot] legal actions at the last reset; empty: all
  int64_t num_restarts_ = 0;
  absl::Status broken_ = absl::OkStatus();  // once it is given up
  bool is_begun_ = false;                   // between Begin and Finish
  std::vector<WorkerEnv*> asked_;           // of the running Begin
  std::vector<absl::Status> refused_;       // [asked_] before anything was sent
};

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_WORKER_GROUP_H_
