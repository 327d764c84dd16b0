// Several environments of one kind stepped together on a pool of threads; results are ordered by
// environment, whatever thread ran them. Batches (EnvBatch) work while the others are stepped. Does
// not reset by itself: the caller decides. Used by one thread at a time.
#ifndef LZERO_ENV_VECTOR_ENV_H_
#define LZERO_ENV_VECTOR_ENV_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/base/thread_pool.h"
#include "lzero/env/env.h"

namespace lzero {

class VectorEnv {
 public:
  // Takes the environments (at least one, equal specs). `pool` outlives this object.
  static absl::StatusOr<std::unique_ptr<VectorEnv>> Create(std::vector<std::unique_ptr<Env>> envs,
                                                           ThreadPool* pool);

  int num_envs() const { return static_cast<int>(envs_.size()); }
  const EnvSpec& spec() const { return envs_[0]->spec(); }
  Env& env(EnvId id) { return *envs_[id.value]; }
  const TimeStep& last(EnvId id) const { return last_[id.value]; }

  // Starts an episode in one environment; last(id) is its first time step.
  void Reset(EnvId id, uint64_t seed);

  // Steps environment ids[i] with actions[i]; last(ids[i]) is the result. The first error in order
  // of `ids` is returned, named by environment; environments that did not fail have stepped.
  absl::Status Step(absl::Span<const EnvId> ids, absl::Span<const Action> actions);

  // Saves and restores one environment together with last(id).
  absl::StatusOr<std::string> Save(EnvId id) const;
  absl::Status Load(EnvId id, const std::string& state);

 private:
  // The environments of one batch; `members` are positions in the ids of the call.
  struct Job {
    EnvBatch* batch = nullptr;
    std::vector<size_t> members;
    std::vector<Env*> envs;  // [members], and their actions
    std::vector<Action> actions;
  };

  VectorEnv(std::vector<std::unique_ptr<Env>> envs, ThreadPool* pool);

  std::vector<std::unique_ptr<Env>> envs_;
  std::vector<TimeStep> last_;
  ThreadPool* pool_;
  std::vector<Job> jobs_;      // of the running Step
  std::vector<size_t> alone_;  // positions of those without a batch
};

}  // namespace lzero

#endif  // LZERO_ENV_VECTOR_ENV_H_
