// What the learner trains and the engines copy: the weights of one agent, of whatever family, and
// the losses that teach them. A family derives its network from this and adds its own forward
// functions; the learner, the optimiser and the checkpoints know no more than what is here. Const
// methods may run on any thread while nobody writes the weights.
#ifndef LZERO_MODEL_NETWORK_H_
#define LZERO_MODEL_NETWORK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/model/world_model_shape.h"
#include "lzero/kernels/value_support.h"
#include "lzero/model/batch_tensors.h"
#include "lzero/nn/encoder.h"
#include "torch/nn/module.h"

namespace lzero {

// A number that describes an update, under its name in the metrics of a run: "loss/value".
struct LossMetric {
  std::string name;
  at::Tensor value;  // a float32 scalar on the network's device, without gradient
};

struct LossTerms {
  at::Tensor total;                  // a float32 scalar, the only tensor with gradient
  at::Tensor value_errors;           // [N] float32, mean |V - target| over valid positions
  at::Tensor values, value_targets;  // [N, U] float32, U positions; without gradient
  // Whatever is here, the learner averages and writes: a new metric is one more entry.
  std::vector<LossMetric> metrics;
};

// mine <- mine + rate * (theirs - mine), tensor by tensor, in place, without gradient: float32 on
// one device. Nothing changes where `skip`, a float32 scalar there, is 1; undefined counts as 0.
void MoveTensorsTowards(const std::vector<at::Tensor>& mine, const std::vector<at::Tensor>& theirs,
                        double rate, const at::Tensor& skip);

class Network : public torch::nn::Module {
 public:
  // Losses and metrics of a batch of N samples. Gradients flow from the total to this network's
  // weights, none to `target`, the EMA target network of the same class and sizes. Never
  // synchronises: the terms are tensors.
  virtual LossTerms ComputeLosses(const Network& target, const BatchTensors& batch,
                                  const LossConfig& weights) const = 0;

  // Learns what the encoder keeps of observations (model.normalize_observations) from the first
  // ones of a batch. Nothing changes where `skip`, a float32 scalar, is 1; undefined counts as 0.
  void Observe(const BatchTensors& batch, const at::Tensor& skip);

  // Mean errors of what is imagined 1 .. H <= num_horizons steps ahead of the first observations of
  // the batch (its context given), with the real actions: [3, H] float32 of rewards, values and
  // latents, see open_loop.h. Undefined for a family whose simulator is the environment. No
  // gradient.
  virtual at::Tensor ComputeOpenLoopErrors(const BatchTensors& /*batch*/,
                                           int64_t /*num_horizons*/) const {
    return {};
  }

  const ModelConfig& config() const { return config_; }
  const WorldModelShape& shape() const { return shape_; }
  // Expected scalars of value or reward logits [..., S] float32 -> [...]. Gradients flow.
  at::Tensor DecodeValues(const at::Tensor& logits) const;
  at::Tensor DecodeRewards(const at::Tensor& logits) const;

  int64_t num_parameters() const;
  at::Device device() const { return weights_.front().device(); }

  // Copies every weight of `other`, which has the same architecture and device, in place: addresses
  // stay.
  void CopyWeightsFrom(const Network& other);

 protected:
  Network(const ModelConfig& config, const WorldModelShape& shape);
  void RegisterEncoder(std::shared_ptr<Encoder> encoder);
  const Encoder& encoder() const { return *encoder_; }
  // Ends a constructor: every parameter is registered.
  void KeepWeights() { weights_ = parameters(); }
  // Units of a head's hidden layer.
  int64_t head_dim() const { return config_.head_units(); }
  // The final norm of latents: x [..., E] float32 -> [..., E]. Gradients flow.
  at::Tensor NormalizeLatents(const at::Tensor& x) const;

 private:
  ModelConfig config_;
  WorldModelShape shape_;
  std::shared_ptr<Encoder> encoder_;
  ValueSupport value_support_, reward_support_;
  at::Tensor value_atoms_, reward_atoms_;  // [S]; buffers, so that they move with the weights
  // All parameters: collecting them by name costs as much as moving those of a small net.
  std::vector<at::Tensor> weights_;
};

}  // namespace lzero

#endif  // LZERO_MODEL_NETWORK_H_
