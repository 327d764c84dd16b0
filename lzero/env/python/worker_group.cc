#include "lzero/env/python/worker_group.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/python/worker_env.h"

namespace lzero {
namespace {

constexpr size_t kMaxIdle = 4;

bool SameCommand(const WorkerCommand& a, const WorkerCommand& b) {
  return a.python == b.python && a.task == b.task && a.step_timeout_s == b.step_timeout_s;
}

}  // namespace

std::unique_ptr<WorkerProcess> WorkerPool::Take(const WorkerCommand& command) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto idle = idle_.begin(); idle != idle_.end(); ++idle) {
    if (!SameCommand(idle->command, command)) continue;
    std::unique_ptr<WorkerProcess> process = std::move(idle->process);
    idle_.erase(idle);
    return process;
  }
  return nullptr;
}

void WorkerPool::GiveBack(const WorkerCommand& command, std::unique_ptr<WorkerProcess> process) {
  std::unique_ptr<WorkerProcess> oldest;  // closed outside the lock: that may take a moment
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() == kMaxIdle) {
    oldest = std::move(idle_.front().process);
    idle_.erase(idle_.begin());
  }
  idle_.push_back({command, std::move(process)});
}

absl::StatusOr<std::shared_ptr<WorkerGroup>> WorkerGroup::Create(Options options, int num_envs,
                                                                 std::shared_ptr<WorkerPool> pool) {
  std::shared_ptr<WorkerGroup> group(
      new WorkerGroup(std::move(options), num_envs, std::move(pool)));
  LZ_RETURN_IF_ERROR(group->OpenProcess());
  return group;
}

WorkerGroup::WorkerGroup(Options options, int num_envs, std::shared_ptr<WorkerPool> pool)
    : options_(std::move(options)),
      pool_(std::move(pool)),
      generations_(static_cast<size_t>(num_envs), 0),
      is_spoilt_(static_cast<size_t>(num_envs), 0),
      masks_(static_cast<size_t>(num_envs)) {}

WorkerGroup::~WorkerGroup() {
  // A process that still owes an answer would give it to its next user.
  if (process_ != nullptr && broken_.ok() && !is_begun_)
    pool_->GiveBack(options_.command, std::move(process_));
}

absl::Status WorkerGroup::OpenProcess() {
  for (;;) {
    std::unique_ptr<WorkerProcess> process = pool_->Take(options_.command);
    const bool was_idle = process != nullptr;
    if (!was_idle) {
      LZ_ASSIGN_OR_RETURN(process, WorkerProcess::Start(options_.command));
    }
    const absl::Status status = OpenIn(std::move(process));
    // A process that died while nobody used it is found out here; the pool runs dry of those.
    if (!was_idle || !absl::IsUnavailable(status)) return status;
  }
}

absl::Status WorkerGroup::OpenIn(std::unique_ptr<WorkerProcess> process) {
  spec_ = process->spec();
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<FrameView> view, options_.make_view(spec_));
  LZ_RETURN_IF_ERROR(
      process->Open(static_cast<int>(generations_.size()), view->num_frames(), view->max_repeat()));
  process_ = std::move(process);
  std::fill(is_spoilt_.begin(), is_spoilt_.end(), 0);
  return absl::OkStatus();
}

void WorkerGroup::LoseProcess() {
  process_ = nullptr;
  for (uint64_t& generation : generations_) ++generation;
}

absl::Status WorkerGroup::Count(const absl::Status& what) {
  ++num_restarts_;
  if (num_restarts_ <= options_.max_restarts) {
    LZ_LOG_WARNING(
        std::string(what.message()), "\n",
        process_ == nullptr ? "the process is started again, " : "the environment is made again, ",
        num_restarts_, " of ", options_.max_restarts, " times (env.max_restarts)");
    return absl::OkStatus();
  }
  broken_ = absl::InternalError(absl::StrCat(
      what.message(), "\ngiven up after ", options_.max_restarts, " restarts (env.max_restarts)"));
  return broken_;
}

absl::Status WorkerGroup::FailureOf(int slot) {
  const absl::StatusOr<std::string> traceback = process_->Traceback(slot);
  if (!traceback.ok()) return traceback.status();
  return absl::InternalError(absl::StrCat("environment '", options_.command.task.Name(),
                                          "' raised an exception:\n", *traceback));
}

absl::StatusOr<WorkerResult> WorkerGroup::Request(int slot,
                                                  const std::function<void(WorkerMemory&)>& ask) {
  process_->memory().BeginRequest();
  ask(process_->memory());
  process_->Send();
  LZ_RETURN_IF_ERROR(process_->Wait());
  LZ_ASSIGN_OR_RETURN(const WorkerResult result, process_->memory().Read(slot));
  if (result.failed) return FailureOf(slot);
  return result;
}

absl::Status WorkerGroup::TakeFirst(FrameView& view, const WorkerResult& result) const {
  return Annotate(view.First(result),
                  absl::StrCat("environment '", options_.command.task.Name(), "', at its reset"));
}

absl::Status WorkerGroup::ResetOnce(int slot, uint64_t seed, FrameView& view) {
  if (process_ == nullptr) LZ_RETURN_IF_ERROR(OpenProcess());
  const bool remake = is_spoilt_[slot] != 0;
  if (view.BeginEpisode(seed) || remake) {
    LZ_ASSIGN_OR_RETURN(const WorkerResult result, Request(slot, [&](WorkerMemory& memory) {
                          memory.AskReset(slot, seed, remake);
                        }));
    is_spoilt_[slot] = 0;
    LZ_RETURN_IF_ERROR(TakeFirst(view, result));
    masks_[slot].assign(result.mask.begin(),
                        result.has_mask ? result.mask.end() : result.mask.begin());
  }
  const std::vector<int32_t> prelude = view.Prelude();
  if (prelude.empty()) return absl::OkStatus();
  LZ_ASSIGN_OR_RETURN(const WorkerResult result,
                      Request(slot, [&](WorkerMemory& memory) { memory.AskStep(slot, prelude); }));
  if (!result.terminated && !result.truncated) return TakeFirst(view, result);
  // The prelude ended the episode: begin without it.
  view.Forget();
  view.BeginEpisode(seed);
  LZ_ASSIGN_OR_RETURN(const WorkerResult fresh, Request(slot, [&](WorkerMemory& memory) {
                        memory.AskReset(slot, seed, false);
                      }));
  return TakeFirst(view, fresh);
}

absl::Status WorkerGroup::Reset(int slot, uint64_t seed, FrameView& view) {
  LZ_CHECK(!is_begun_, "Reset between Begin and Finish");
  while (broken_.ok()) {
    const absl::Status status = ResetOnce(slot, seed, view);
    if (status.ok()) return status;
    if (process_ != nullptr && !process_->is_running()) LoseProcess();
    is_spoilt_[slot] = 1;
    view.Forget();
    LZ_RETURN_IF_ERROR(Count(status));
  }
  return broken_;
}

void WorkerGroup::Begin(absl::Span<Env* const> envs, absl::Span<const Action> actions) {
  LZ_CHECK(!is_begun_, "Begin twice without Finish");
  is_begun_ = true;
  asked_.clear();
  refused_.clear();
  if (process_ != nullptr) process_->memory().BeginRequest();
  for (size_t i = 0; i < envs.size(); ++i) {
    auto* const env = static_cast<WorkerEnv*>(envs[i]);
    LZ_CHECK(env->group_.get() == this, "an environment of another group");
    asked_.push_back(env);
    refused_.push_back(broken_.ok() ? env->Check(actions[i]) : broken_);
    if (refused_.back().ok() && !env->is_lost()) env->Ask(process_->memory(), actions[i]);
  }
  if (process_ != nullptr) process_->Send();
}

int64_t WorkerGroup::ProcessBytes() const {
  return process_ == nullptr ? 0 : ResidentBytesOf(process_->pid());
}

void WorkerGroup::Finish(absl::Span<absl::StatusOr<TimeStep>> results) {
  LZ_CHECK(is_begun_, "Finish without Begin");
  LZ_CHECK(results.size() == asked_.size(), results.size(), " results for ", asked_.size());
  is_begun_ = false;
  // Wait for the process, then read the result of each environment.
  absl::Status lost = process_ == nullptr ? absl::OkStatus() : process_->Wait();
  std::vector<std::pair<size_t, absl::Status>>
      failed;  // OK: its traceback is still to be asked for
  for (size_t i = 0; i < asked_.size(); ++i) {
    WorkerEnv* const env = asked_[i];
    if (!refused_[i].ok()) {
      results[i] = refused_[i];
    } else if (env->is_lost() || !lost.ok()) {
      results[i] = env->Interrupt();
    } else {
      const absl::StatusOr<WorkerResult> result = process_->memory().Read(env->slot_);
      const bool raised = result.ok() && result->failed;
      if (!raised) results[i] = env->Absorb(result);
      if (!raised && results[i].ok()) continue;
      failed.emplace_back(i, raised ? absl::OkStatus() : results[i].status());
      results[i] = env->Interrupt();
    }
  }
  // The buffer is read: only now may other messages be exchanged.
  for (const auto& [i, cause] : failed) {
    is_spoilt_[asked_[i]->slot_] = 1;
    const absl::Status failure = cause.ok() ? FailureOf(asked_[i]->slot_) : cause;
    if (!process_->is_running()) lost = failure;
    if (!lost.ok()) break;
    const absl::Status given_up = Count(failure);
    if (!given_up.ok()) results[i] = given_up;
  }
  // The process died: end it and count the loss.
  if (lost.ok()) return;
  LoseProcess();
  const absl::Status given_up = Count(lost);
  if (!given_up.ok() && !results.empty()) results[0] = given_up;
}

absl::StatusOr<Image> WorkerGroup::Render(int slot) {
  LZ_CHECK(!is_begun_, "a picture between Begin and Finish");
  if (process_ == nullptr) return absl::UnavailableError("the worker process has died");
  absl::StatusOr<Image> image = process_->Render(slot);
  if (process_->is_running()) return image;
  LoseProcess();
  LZ_RETURN_IF_ERROR(Count(image.status()));
  return image;
}

}  // namespace lzero
