// What an update computes, from the staged batches of its tasks to the numbers that are read back:
// losses and backward of each task, clip, AdamW, EMA target network. On a device with graphs an
// update that serves one task is recorded once for a kind of batch and then replayed, one launch an
// update; else its operations run one after the other. Not what happens on the host: learner.h.
// Learner's thread only, with the backend's stream current.
#ifndef LZERO_TRAIN_UPDATE_UPDATE_STEP_H_
#define LZERO_TRAIN_UPDATE_UPDATE_STEP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/graph/graph_backend.h"
#include "lzero/model/batch_tensors.h"
#include "lzero/model/network.h"
#include "lzero/train/update/batch_staging.h"
#include "lzero/train/update/optimizer.h"
#include "lzero/train/update/task_weights.h"

namespace lzero {

// What one task brings to an update.
struct StagedTask {
  size_t task = 0;
  BatchStaging* staging = nullptr;
  bool with_errors = false;  // the value errors are wanted
};

// Numbers of one task in UpdateOutputs::numbers.
struct TaskOutputs {
  size_t task = 0;
  std::vector<std::string> finite;   // what must be finite, the loss first
  std::vector<std::string> metrics;  // of LossTerms
  int64_t num_errors = 0;            // N where they are wanted, else 0
  BatchTensors batch;                // in the memory of its staging
};

struct UpdateOutputs {
  std::vector<TaskOutputs> tasks;
  // Pairs of tasks whose gradients of the shared parts are compared.
  std::vector<std::pair<size_t, size_t>> compared;
  // For each task [finite + metrics + errors]; the gradient norm, which must be finite; the cosine
  // of each pair. float32 on the device.
  at::Tensor numbers;
};

class UpdateStep {
 public:
  using GraphList = std::vector<std::unique_ptr<CapturedGraph>>;

  // `tasks`, as TaskConfigs gives them, one for each view of the weights. The weights, the
  // optimiser and the backend must outlive the step. `backend`, null on the CPU, is the step's own:
  // its graphs are unloaded together.
  UpdateStep(std::vector<ExperimentConfig> tasks, TaskWeights* model, TaskWeights* target,
             AdamW* optimizer, GraphBackend* backend);

  // Records the update for such a batch of this task, where graphs are on, updates serve one task
  // each and it is not recorded yet; nothing is learned. FailedPrecondition with the cause when the
  // device refuses and the config does not allow to go on without (inference.graphs: required;
  // train.dtype: tf32 beside searches).
  absl::Status Record(const StagedTask& staged);

  // Puts one update on the device, for the batches of these tasks in their order, after Record;
  // waits for nothing, but with multitask.balance for the gradients. A step that is not finite is
  // left out there: `outputs` tell. They are valid until the next call. `learning_rate` is that of
  // the staging; `compares`: also the cosines between the gradients of the tasks, where updates are
  // made apart the last of each since ForgetGradients; not where updates are recorded.
  absl::StatusOr<const UpdateOutputs*> Run(absl::Span<const StagedTask> staged,
                                           double learning_rate, bool compares);

  // Gradients of earlier updates are not compared with later ones.
  void ForgetGradients() { model_.ForgetKept(); }

  // Lets go of what was recorded and computed, and gives the graphs to the caller, who must unload
  // them.
  GraphList TakeGraphs();

 private:
  struct Recorded {
    std::unique_ptr<CapturedGraph> graph;
    UpdateOutputs outputs;
  };
  // The task, and what differs between batches of one shape: with value errors, with observations
  // to bootstrap from.
  using Kind = std::tuple<size_t, bool, bool>;
  static Kind KindOf(const StagedTask& staged) {
    return {staged.task, staged.with_errors, staged.staging->bootstraps()};
  }

  UpdateOutputs Compute(absl::Span<const StagedTask> staged, double learning_rate, bool compares);
  // Losses and backward; `weight` of this task in the sum of the losses.
  LossTerms Backward(const StagedTask& staged, double weight, BatchTensors* batch);
  absl::Status FallBack(const absl::Status& refused);
  at::Device device() const { return model_.device(); }

  const std::vector<ExperimentConfig> tasks_;
  const ExperimentConfig& config_;  // of one of them, for what all share
  TaskWeights& model_;
  TaskWeights& target_;
  AdamW& optimizer_;
  GraphBackend* backend_;
  const bool serves_one_;  // each update one task
  bool records_;           // graphs are on, and none was refused yet
  at::Tensor
      is_left_out_;  // float32 scalar, 1: nothing is learned, for what comes before a capture
  std::map<Kind, Recorded> recorded_;
  UpdateOutputs outputs_;  // of the last update that was not recorded
};

}  // namespace lzero

#endif  // LZERO_TRAIN_UPDATE_UPDATE_STEP_H_
