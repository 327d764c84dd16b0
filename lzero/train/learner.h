// Updates of an agent's network: batches in, metrics and priorities out; what is computed between
// is update_step.h. Owns the training copy of the weights and, on a device, an unload unit with a
// stream of its own, which gives all memory back when the learner goes. Not a loop: the trainer
// decides when to update. Learner's thread only.
#ifndef LZERO_TRAIN_LEARNER_H_
#define LZERO_TRAIN_LEARNER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/base/named_array.h"
#include "lzero/config/experiment_config.h"
#include "lzero/inference/engine_device.h"
#include "lzero/model/network.h"
#include "lzero/replay/batch/train_batch.h"
#include "lzero/train/update/batch_staging.h"
#include "lzero/train/update/optimizer.h"
#include "lzero/train/update/update_step.h"

namespace lzero {

// The setting that names the learner's device.
inline const char* LearnerDeviceKey(const ExperimentConfig& config) {
  return config.train.device.has_value() ? "train.device" : kInferenceDevice;
}

// Means over the updates since the last ReadMetrics, under their metric names ("loss/total", ...).
using MetricMap = std::map<std::string, double>;

class Learner {
 public:
  static absl::StatusOr<std::unique_ptr<Learner>> Create(const ExperimentConfig& config,
                                                         const WorldModelShape& shape);
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  ~Learner();

  // Makes ready for updates with batches of this shape: on a device with graphs it records the
  // update, which would else be done in the first one, beside other work. Nothing is learned.
  // FailedPrecondition as UpdateStep::Record.
  absl::Status Prepare(const BatchShape& shape);

  // One update with this learning rate. `priorities` [N], if given, receives new priorities (mean
  // absolute value error of each sample). Aborted when the loss, the gradient norm or a new
  // priority is not finite: the weights are as before the call. Waits for a device once, at the
  // end. A batch of another shape than the last one is prepared for anew; errors as Prepare.
  absl::Status Update(const TrainBatch& batch, double learning_rate,
                      std::vector<float>* priorities);

  const Network& model() const { return *model_; }
  const Network& target() const { return *target_; }
  int64_t num_updates() const { return num_updates_; }
  MetricMap ReadMetrics();
  // Errors of the model's imagination on the batch of the last Update, by horizon:
  // "open_loop/{reward,value,latent}_<steps>"; empty without an update since the last
  // call or Import, and for a family that imagines nothing. Costs some dozens of forward passes.
  absl::StatusOr<MetricMap> MeasureOpenLoop();

  // Files of a checkpoint: model, target, optimizer.
  std::map<std::string, std::vector<NamedArray>> Export() const;
  // InvalidArgument with a line for each tensor that differs; nothing has changed then.
  absl::Status Import(const std::map<std::string, std::vector<NamedArray>>& files,
                      int64_t num_updates);

 private:
  Learner(const ExperimentConfig& config, EngineDevice device, std::shared_ptr<Network> model,
          std::shared_ptr<Network> target);
  // Makes the staging for this shape, unless it is there.
  absl::Status StageFor(const BatchShape& shape);
  absl::Status UpdateNow(const TrainBatch& batch, double learning_rate,
                         std::vector<float>* priorities);
  absl::Status ReadBack(const at::Tensor& numbers, std::vector<float>* values);
  absl::StatusOr<MetricMap> MeasureOpenLoopNow();
  void AddMetric(const std::string& name, double value) { sums_[name] += value; }
  bool AlwaysBootstraps() const;

  ExperimentConfig config_;
  EngineDevice device_;  // destroyed after all that lies on it
  std::shared_ptr<Network> model_;
  std::shared_ptr<Network> target_;
  std::optional<AdamW> optimizer_;
  std::optional<UpdateStep> step_;
  std::optional<BatchStaging> staging_;     // of the shape of the last batch
  std::optional<BatchTensors> last_batch_;  // in the memory of staging_
  at::Tensor pinned_;                       // [numbers] float32, what is read back from a device
  int64_t num_updates_ = 0;
  MetricMap sums_;
  int64_t num_summed_ = 0;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_LEARNER_H_
