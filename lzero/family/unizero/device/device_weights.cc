#include "lzero/family/unizero/device/device_weights.h"

#include "absl/strings/str_cat.h"
#include "lzero/tensor/torch.h"

namespace lzero {

DeviceWeights::DeviceWeights(const WorldModel& model, at::ScalarType operands)
    : operands_(operands) {
  const torch::NoGradGuard no_grad;
  for (const auto& weight : model.named_parameters()) weights_[weight.key()] = weight.value();
  for (int64_t i = 0; i < model.config().num_layers; ++i) {
    blocks_.push_back(Block(absl::StrCat("transformer.block", i)));
  }
  action_heads_ = Heads("reward_head", "latent_head");
  latent_heads_ = Heads("value_head", "policy_head");
  action_table_ = Weight("action_embedding");
  rotations_ = at::view_as_real(model.transformer().step_table()).flatten(1);
}

at::Tensor DeviceWeights::Operands(const at::Tensor& weight) {
  if (operands_ == weight.scalar_type()) return weight;
  const at::Tensor made = at::empty(weight.sizes(), weight.options().dtype(operands_));
  copies_.push_back({made, weight});
  return made;
}

DeviceLinear DeviceWeights::Linear(const std::string& module) {
  return {Operands(Weight(module + ".weight")), Weight(module + ".bias")};
}

DeviceNorm DeviceWeights::Norm(const std::string& module) const {
  return {Weight(module + ".weight"), Weight(module + ".bias")};
}

DeviceBlock DeviceWeights::Block(const std::string& module) {
  DeviceBlock block = {Norm(module + ".norm_attention"),
                       Norm(module + ".norm_feed_forward"),
                       Linear(module + ".qkv"),
                       Linear(module + ".projection"),
                       Linear(module + ".expand"),
                       Linear(module + ".contract"),
                       {}};
  block.gelu_bias = Operands(block.expand.bias);
  return block;
}

DeviceHeads DeviceWeights::Heads(const std::string& first, const std::string& second) {
  const at::Tensor& w = Weight(first + ".first.weight");
  const int64_t units = w.size(0);
  const auto floats = w.options();
  DeviceHeads heads = {
      {at::empty({2 * units, w.size(1)}, floats.dtype(operands_)), at::empty({2 * units}, floats)},
      {at::empty({2 * units}, floats), at::empty({2 * units}, floats)},
      {Linear(first + ".last"), Linear(second + ".last")}};
  int64_t at = 0;
  for (const std::string& head : {first, second}) {
    const DeviceNorm in = Norm(head + ".norm_in"), hidden = Norm(head + ".norm_hidden");
    products_.push_back({heads.first.weight.narrow(0, at, units),
                         heads.first.bias.narrow(0, at, units), in.weight, in.bias,
                         Weight(head + ".first.weight"), Weight(head + ".first.bias")});
    copies_.push_back({heads.norm.weight.narrow(0, at, units), hidden.weight});
    copies_.push_back({heads.norm.bias.narrow(0, at, units), hidden.bias});
    at += units;
  }
  return heads;
}

void DeviceWeights::Refresh() {
  const c10::InferenceMode inference;
  for (const Copy& copy : copies_) copy.to.copy_(copy.from);
  for (const Product& product : products_) {
    product.weight.copy_(product.w * product.norm_weight);
    product.bias.copy_(at::addmv(product.b, product.w, product.norm_bias));
  }
}

int64_t DeviceWeights::Bytes(const ModelConfig& config, const WorldModelShape& shape,
                             at::ScalarType operands) {
  const int64_t e = config.embed_dim, h = config.head_units();
  const int64_t heads = 2 * (2 * h * e), of_heads = 2 * 3 * (2 * h);
  const auto size = static_cast<int64_t>(c10::elementSize(operands));
  int64_t bytes = heads * size + of_heads * static_cast<int64_t>(sizeof(float));
  if (operands != at::kFloat) {
    const int64_t outputs = config.value_bins() + config.reward_bins() + e + shape.policy_size();
    bytes += size * (config.num_layers * (12 * e * e + 4 * e) + outputs * h);
  }
  return bytes;
}

}  // namespace lzero
