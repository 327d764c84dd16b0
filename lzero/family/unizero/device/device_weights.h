// The weights of a world model as the kernels of a captured step read them: operands of one type,
// and the heads that read the same token beside each other, their input's LayerNorm multiplied into
// their first layer. What needs no change is the model's own tensor. Addresses never change.
// Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_DEVICE_DEVICE_WEIGHTS_H_
#define LZERO_FAMILY_UNIZERO_DEVICE_DEVICE_WEIGHTS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "lzero/family/unizero/world_model.h"

namespace lzero {

// y = x W^T, then the bias, which kernels add.
struct DeviceLinear {
  at::Tensor weight;  // [out, in] operands
  at::Tensor bias;    // [out] float32
};

struct DeviceNorm {
  at::Tensor weight, bias;  // [size] float32
};

struct DeviceBlock {
  DeviceNorm norm_attention, norm_feed_forward;
  DeviceLinear query_key_value, projection, expand, contract;
  at::Tensor gelu_bias;  // [4 E] operands, of `expand`
};

// Two heads that read one token. H units of each hidden layer.
struct DeviceHeads {
  DeviceLinear first;                // [2 H, E] behind a LayerNorm without weight and bias
  DeviceNorm norm;                   // [2 H]
  std::array<DeviceLinear, 2> last;  // [out, H]
};

class DeviceWeights {
 public:
  // Allocates on the model's device; call Refresh before the first use. `operands`: kFloat or
  // kBFloat16. The model must outlive the object.
  DeviceWeights(const WorldModel& model, at::ScalarType operands);

  // Computes everything anew from the model's weights, on the current stream, without gradients.
  void Refresh();

  const std::vector<DeviceBlock>& blocks() const { return blocks_; }
  const DeviceHeads& action_heads() const { return action_heads_; }  // reward, next latent
  const DeviceHeads& latent_heads() const { return latent_heads_; }  // value, policy
  const at::Tensor& action_table() const { return action_table_; }   // [action rows, E] float32
  const at::Tensor& rotations() const { return rotations_; }         // [W, head size] float32

  // Bytes of what is no tensor of the model.
  static int64_t Bytes(const ModelConfig& config, const WorldModelShape& shape,
                       at::ScalarType operands);

 private:
  struct Copy {
    at::Tensor to, from;
  };
  // first = W * norm weight, bias = W norm bias + b.
  struct Product {
    at::Tensor weight, bias;                  // to
    at::Tensor norm_weight, norm_bias, w, b;  // from
  };

  at::Tensor Operands(const at::Tensor& weight);
  DeviceLinear Linear(const std::string& module);
  DeviceNorm Norm(const std::string& module) const;
  DeviceBlock Block(const std::string& module);
  DeviceHeads Heads(const std::string& first, const std::string& second);
  const at::Tensor& Weight(const std::string& name) const { return weights_.at(name); }

  at::ScalarType operands_;
  std::map<std::string, at::Tensor> weights_;  // of the model
  std::vector<Copy> copies_;
  std::vector<Product> products_;
  std::vector<DeviceBlock> blocks_;
  DeviceHeads action_heads_, latent_heads_;
  at::Tensor action_table_, rotations_;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_DEVICE_DEVICE_WEIGHTS_H_
