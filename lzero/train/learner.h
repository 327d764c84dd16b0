// Updates of an agent's network, of one task or several: batches in, metrics and priorities out;
// what is computed between is update_step.h. Owns the training copy of the weights and, on a
// device, an unload unit with a stream of its own, which gives all memory back when the learner
// goes. Not a loop: the trainer decides when to update. Learner's thread only.
#ifndef LZERO_TRAIN_LEARNER_H_
#define LZERO_TRAIN_LEARNER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/named_array.h"
#include "lzero/config/experiment_config.h"
#include "lzero/inference/tensor/engine_device.h"
#include "lzero/model/network.h"
#include "lzero/replay/batch/train_batch.h"
#include "lzero/train/update/batch_staging.h"
#include "lzero/train/update/optimizer.h"
#include "lzero/train/update/task_weights.h"
#include "lzero/train/update/update_step.h"

namespace lzero {

// The setting that names the learner's device.
inline const char* LearnerDeviceKey(const ExperimentConfig& config) {
  return config.train.device.has_value() ? "train.device" : kInferenceDevice;
}

// Means over the updates since the last ReadMetrics, under their metric names ("loss/total", ...).
using MetricMap = std::map<std::string, double>;

// What one task brings to an update: a batch, and where its new priorities [N] go (the mean
// absolute value error of each sample), if anywhere. Tasks as TaskConfigs orders them.
struct TaskBatch {
  size_t task = 0;
  const TrainBatch* batch = nullptr;
  std::vector<float>* priorities = nullptr;
};

class Learner {
 public:
  // `shapes`, one for each task of the config.
  static absl::StatusOr<std::unique_ptr<Learner>> Create(const ExperimentConfig& config,
                                                         absl::Span<const WorldModelShape> shapes);
  static absl::StatusOr<std::unique_ptr<Learner>> Create(const ExperimentConfig& config,
                                                         const WorldModelShape& shape) {
    return Create(config, absl::MakeConstSpan(&shape, 1));
  }
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  ~Learner();

  // Makes ready for updates with batches of this shape: on a device with graphs it records the
  // update of the task, where it serves no other, which would else be done in the first one, beside
  // other work.
  // Nothing is learned. FailedPrecondition as UpdateStep::Record.
  absl::Status Prepare(const BatchShape& shape, size_t task = 0);

  // One update with this learning rate, of at least one task, in ascending order. Aborted when a
  // loss, the gradient norm or a new priority is not finite: the weights are as before the call.
  // Waits for a device once, at the end. A batch of another shape than the task's last one is
  // prepared for anew; errors as Prepare.
  absl::Status Update(absl::Span<const TaskBatch> batches, double learning_rate);
  absl::Status Update(const TrainBatch& batch, double learning_rate,
                      std::vector<float>* priorities) {
    return Update({TaskBatch{0, &batch, priorities}}, learning_rate);
  }

  // train.reset_every_updates: heads begin anew, of all other weights a share of
  // train.reset_share does, the target network becomes the network, the optimiser begins anew. The
  // fresh weights are a function of the config's seed and of num_updates().
  absl::Status Reset();

  // The networks of a task, what it shares included. No update may run beside.
  const Network& model(size_t task = 0) { return ViewOf(&*model_, task); }
  const Network& target(size_t task = 0) { return ViewOf(&*target_, task); }
  // False where all that the task uses is frozen: updates leave it out.
  bool Learns(size_t task) const { return !model_->ActiveOwners({task}).empty(); }
  int64_t num_updates() const { return num_updates_; }
  // With several tasks, what is one task's begins with "task/NAME/".
  MetricMap ReadMetrics();
  // Errors of the model's imagination on the batch of the last Update of each task, by horizon:
  // "open_loop/{reward,value,latent}_<steps>"; empty without an update since the last
  // call or Import, and for a family that imagines nothing. Costs some dozens of forward passes.
  absl::StatusOr<MetricMap> MeasureOpenLoop();
  // The next measurement is of batches to come alone.
  void ForgetBatches();
  // Gradients of updates before are not compared with those of updates to come.
  void ForgetGradients() { step_->ForgetGradients(); }

  // Takes first weights from those of another run: of each pair the name of one of ours and of the
  // one there. InvalidArgument with a line for each that differs; nothing has changed then.
  absl::Status StartFrom(absl::Span<const NamedArray> weights,
                         absl::Span<const std::pair<std::string, std::string>> names);
  std::vector<std::string> WeightNames() const;

  // Files of a checkpoint: model, target, optimizer.
  std::map<std::string, std::vector<NamedArray>> Export() const;
  // InvalidArgument with a line for each tensor that differs; nothing has changed then.
  absl::Status Import(const std::map<std::string, std::vector<NamedArray>>& files,
                      int64_t num_updates);

 private:
  // What a task learns from.
  struct Source {
    std::string prefix;                      // of its metrics
    std::optional<BatchStaging> staging;     // of the shape of the last batch
    std::optional<BatchTensors> last_batch;  // in the memory of staging
  };
  struct Mean {
    double sum = 0.0;
    int64_t count = 0;
  };

  Learner(const ExperimentConfig& config, EngineDevice device);
  // Weights, optimiser and step; on the device's stream.
  absl::Status MakeParts(absl::Span<const WorldModelShape> shapes);
  // Makes the staging of `source` for this shape, unless it is there.
  absl::Status StageFor(const BatchShape& shape, Source* source);
  absl::Status UpdateNow(absl::Span<const TaskBatch> batches, double learning_rate);
  // Copies a batch in and records the update where that is still to be done.
  absl::StatusOr<StagedTask> Stage(const TaskBatch& batch, double learning_rate);
  absl::Status ReadBack(const at::Tensor& numbers, std::vector<float>* values);
  // Takes the numbers of a task from `values`, [numbers] from `*next` on, which moves behind them.
  void TakeNumbers(const TaskOutputs& outputs, const TaskBatch& batch,
                   const std::vector<float>& values, size_t* next);
  void AddSharedMetrics(const UpdateOutputs& outputs, double loss, double gradient_norm,
                        double learning_rate, const float* cosines);
  absl::StatusOr<MetricMap> MeasureOpenLoopNow();
  void AddMetric(const std::string& name, double value);
  bool AlwaysBootstraps(size_t task) const;
  // For any stream.
  const Network& ViewOf(TaskWeights* weights, size_t task);

  ExperimentConfig config_;
  std::vector<ExperimentConfig> tasks_;
  EngineDevice device_;  // destroyed after all that lies on it
  std::optional<TaskWeights> model_;
  std::optional<TaskWeights> target_;
  std::optional<AdamW> optimizer_;
  std::optional<UpdateStep> step_;
  std::vector<Source> sources_;  // by task
  at::Tensor pinned_;            // [numbers] float32, what is read back from a device
  int64_t num_updates_ = 0;
  std::map<std::string, Mean> means_;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_LEARNER_H_
