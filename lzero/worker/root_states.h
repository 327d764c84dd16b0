// The saved states of roots, for models that simulate with the environment (InferenceModel::
// NeedsState). For others it does nothing. One thread.
#ifndef LZERO_WORKER_ROOT_STATES_H_
#define LZERO_WORKER_ROOT_STATES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/env/vector_env.h"
#include "lzero/mcts/inference_model.h"

namespace lzero {

class RootStates {
 public:
  // Points `state` of each of `roots` [B] to what its environment, Root::env of `envs`, saves now;
  // good until the next call. Errors of Env::Save, which name the environment. Does nothing where
  // `model` does not ask for it.
  absl::Status Fill(const InferenceModel& model, VectorEnv& envs, absl::Span<Root> roots);

 private:
  std::vector<std::string> states_;
};

}  // namespace lzero

#endif  // LZERO_WORKER_ROOT_STATES_H_
