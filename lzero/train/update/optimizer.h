// AdamW over the weights of a model [Loshchilov and Hutter 2019]: weight decay on tensors of two
// and more dimensions only, global-norm clipping before the step. Weights of owners that take no
// part in an update are neither stepped nor decayed, nor are their steps counted. Fused: a few
// calls for all tensors of an owner. Belongs to the learner's thread.
#ifndef LZERO_TRAIN_UPDATE_OPTIMIZER_H_
#define LZERO_TRAIN_UPDATE_OPTIMIZER_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "lzero/base/named_array.h"
#include "lzero/config/experiment_config.h"
#include "lzero/tensor/tensor_arrays.h"
#include "lzero/train/update/task_weights.h"

namespace lzero {

class AdamW {
 public:
  // `model` must outlive the optimiser. All its owners take part at first.
  AdamW(const TaskWeights& model, const TrainConfig& config);

  // The owners that take part from now on, in their order.
  void SetActive(std::vector<size_t> owners) { active_ = std::move(owners); }
  void ClearGradients();
  // Scales the gradients so that their joint Euclidean norm is at most config.grad_clip; returns
  // the norm before, a float32 scalar on the model's device. Reads nothing back from it.
  at::Tensor ClipGradients();
  // Where `skip`, a float32 scalar on the model's device, is 1, nothing changes (gradients that are
  // not finite); undefined counts as 0. Reads nothing back from the device.
  void Step(double learning_rate, const at::Tensor& skip = {});
  // The same with a learning rate that the device reads: a float32 scalar there.
  void Step(const at::Tensor& learning_rate, const at::Tensor& skip);

  // As it began: no moments, no steps.
  void Restart();

  // Moments and step counts by parameter name.
  std::vector<NamedArray> Export() const;
  // InvalidArgument naming every tensor that is missing or has another shape; nothing has changed
  // then.
  absl::Status Import(absl::Span<const NamedArray> arrays);

 private:
  // Parameters of an owner that share a weight decay.
  struct Group {
    double weight_decay = 0.0;
    std::vector<std::string> names;
    std::vector<at::Tensor> parameters, first_moments, second_moments;
    std::vector<at::Tensor> steps;  // views of step_counts
    at::Tensor step_counts;         // [parameters]
  };
  template <typename Rate>
  void StepWith(const Rate& learning_rate, const at::Tensor& skip);
  std::vector<at::Tensor> Gradients(const Group& group) const;
  // What a checkpoint holds, by name.
  std::vector<NamedTensor> State() const;

  // Calls visit(group) for those that take part.
  template <typename Visit>
  void VisitActive(Visit visit);

  TrainConfig config_;
  std::vector<Group> groups_;  // two an owner, the first with decay
  std::vector<size_t> active_;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_UPDATE_OPTIMIZER_H_
