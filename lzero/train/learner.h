// One update of an agent's network: losses, backward, clip, AdamW, EMA target network. Owns the
// training copy of the weights. Not a loop: the trainer decides when to update. Learner's thread
// only.
#ifndef LZERO_TRAIN_LEARNER_H_
#define LZERO_TRAIN_LEARNER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/base/named_array.h"
#include "lzero/config/experiment_config.h"
#include "lzero/model/network.h"
#include "lzero/replay/batch/train_batch.h"
#include "lzero/train/batch_staging.h"
#include "lzero/train/optimizer.h"

namespace lzero {

// Means over the updates since the last ReadMetrics, under their metric names ("loss/total", ...).
using MetricMap = std::map<std::string, double>;

class Learner {
 public:
  static absl::StatusOr<std::unique_ptr<Learner>> Create(const ExperimentConfig& config,
                                                         const WorldModelShape& shape);

  // One update with this learning rate. `priorities` [N], if given, receives new priorities (mean
  // absolute value error of each sample). Aborted when the loss, the gradient norm or a new
  // priority is not finite: the weights are as before the call. Waits for a device once, at the
  // end.
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
  Learner(const ExperimentConfig& config, std::shared_ptr<Network> model,
          std::shared_ptr<Network> target);
  absl::StatusOr<BatchTensors> Stage(const TrainBatch& batch);
  void AddMetric(const std::string& name, double value) { sums_[name] += value; }

  ExperimentConfig config_;
  std::shared_ptr<Network> model_;
  std::shared_ptr<Network> target_;
  AdamW optimizer_;
  std::optional<BatchStaging> staging_;     // of the shape of the last batch
  std::optional<BatchTensors> last_batch_;  // in the memory of staging_
  int64_t num_updates_ = 0;
  MetricMap sums_;
  int64_t num_summed_ = 0;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_LEARNER_H_
