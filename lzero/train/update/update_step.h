// What an update computes, from the staged batch to the numbers that are read back: losses,
// backward, clip, AdamW, EMA target network. On a device with graphs it is recorded once for a kind
// of batch and then replayed, one launch an update; else its operations run one after the other.
// Not what happens on the host: learner.h. Learner's thread only, with the backend's stream
// current.
#ifndef LZERO_TRAIN_UPDATE_UPDATE_STEP_H_
#define LZERO_TRAIN_UPDATE_UPDATE_STEP_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/graph/graph_backend.h"
#include "lzero/model/batch_tensors.h"
#include "lzero/model/network.h"
#include "lzero/train/update/batch_staging.h"
#include "lzero/train/update/optimizer.h"

namespace lzero {

struct UpdateOutputs {
  std::vector<std::string> finite;   // what must be finite: the loss first, the gradient norm last
  std::vector<std::string> metrics;  // of LossTerms
  // [finite + metrics], for new priorities followed by the value errors [N]; float32 on the device.
  at::Tensor numbers;
  BatchTensors batch;  // of the update, in the memory of its staging
};

class UpdateStep {
 public:
  using GraphList = std::vector<std::unique_ptr<CapturedGraph>>;

  // The networks, the optimiser and the backend must outlive the step. `backend`, null on the CPU,
  // is the step's own: its graphs are unloaded together.
  UpdateStep(const ExperimentConfig& config, Network* model, Network* target, AdamW* optimizer,
             GraphBackend* backend);

  // Records the update for such a batch, where graphs are on and it is not recorded yet; nothing is
  // learned. FailedPrecondition with the cause when the device refuses and the config does not
  // allow to go on without (inference.graphs: required; train.dtype: tf32 beside searches).
  absl::Status Record(BatchStaging* staging, bool with_errors);

  // Puts one update on the device, for the batch in `staging`, after Record; waits for nothing. A
  // step that is not finite is left out there: `outputs` tell. They are valid until the next call.
  // `learning_rate` is that of `staging`; `with_errors`: the value errors are wanted.
  absl::StatusOr<const UpdateOutputs*> Run(BatchStaging* staging, double learning_rate,
                                           bool with_errors);

  // Lets go of what was recorded and computed, and gives the graphs to the caller, who must unload
  // them.
  GraphList TakeGraphs();

 private:
  struct Recorded {
    std::unique_ptr<CapturedGraph> graph;
    UpdateOutputs outputs;
  };
  // What differs between batches of one shape: with value errors, with observations to bootstrap
  // from.
  using Kind = std::pair<bool, bool>;

  UpdateOutputs Compute(BatchStaging* staging, double learning_rate, bool with_errors);
  absl::Status FallBack(const absl::Status& refused);
  at::Device device() const { return model_.device(); }

  const ExperimentConfig& config_;
  Network& model_;
  Network& target_;
  AdamW& optimizer_;
  GraphBackend* backend_;
  bool records_;  // graphs are on, and none was refused yet
  at::Tensor
      is_left_out_;  // float32 scalar, 1: nothing is learned, for what comes before a capture
  std::map<Kind, Recorded> recorded_;
  UpdateOutputs outputs_;  // of the last update that was not recorded
};

}  // namespace lzero

#endif  // LZERO_TRAIN_UPDATE_UPDATE_STEP_H_
