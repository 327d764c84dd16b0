#include "tests/family/unizero/packed/random_network.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/kernels/kernel_testing.h"

namespace lzero::packed {

NetworkShape SmallShape() {
  NetworkShape shape;
  shape.embed_dim = 24;
  shape.num_heads = 2;
  shape.num_layers = 2;
  shape.context_length = 4;
  shape.head_dim = 40;
  shape.num_actions = 5;
  shape.value_support = shape.reward_support = SqueezedSupport(21);
  shape.sim_norm_group = 8;
  return shape;
}

NetworkShape RandomShape(std::mt19937* random) {
  NetworkShape shape;
  shape.num_heads = RandomInt(random, 1, 4);
  const int64_t head_size = 2 * RandomInt(random, 1, 24 / shape.num_heads);
  shape.embed_dim = shape.num_heads * head_size;
  shape.num_layers = RandomInt(random, 1, 3);
  shape.context_length = RandomInt(random, 1, 9);
  shape.head_dim = RandomInt(random, 0, 1) == 0 ? 4 * shape.embed_dim : RandomInt(random, 3, 60);
  shape.num_actions = RandomInt(random, 1, 20);
  shape.value_support = SqueezedSupport(2 * RandomInt(random, 1, 50) + 1);
  shape.reward_support = EvenSupport(-0.5, 2.0, 1 + shape.value_support.size / 2);
  shape.latent_norm = RandomInt(random, 0, 1) == 0 ? LatentNorm::kLayerNorm : LatentNorm::kSimNorm;
  shape.sim_norm_group = RandomInt(random, 0, 1) == 0 ? 2 : head_size;
  return shape;
}

std::string Describe(const NetworkShape& shape) {
  return absl::StrCat("E ", shape.embed_dim, " H ", shape.num_heads, " L ", shape.num_layers, " W ",
                      shape.context_length, " head_dim ", shape.head_dim, " A ", shape.num_actions,
                      " S ", shape.value_support.size, " and ", shape.reward_support.size, " norm ",
                      static_cast<int>(shape.latent_norm), " group ", shape.sim_norm_group);
}

RandomNetwork::RandomNetwork(const NetworkShape& shape, uint32_t seed)
    : shape_(shape), random_(seed) {
  const int64_t embed_dim = shape.embed_dim;
  weights_.action_embedding = Numbers(shape.num_actions * embed_dim, 0.0f, 1.7f);
  for (int64_t layer = 0; layer < shape.num_layers; ++layer) {
    weights_.blocks.push_back({Norm(embed_dim), Linear(embed_dim, 3 * embed_dim),
                               Linear(embed_dim, embed_dim), Norm(embed_dim),
                               Linear(embed_dim, 4 * embed_dim), Linear(4 * embed_dim, embed_dim)});
  }
  weights_.policy = Head(shape.num_actions);
  weights_.value = Head(shape.value_support.size);
  weights_.reward = Head(shape.reward_support.size);
  weights_.latent = Head(embed_dim);
  if (shape.observation_size == 0) return;
  int64_t in = shape.observation_size;
  for (int64_t i = 0; i < shape.encoder_layers; ++i) {
    weights_.encoder.hidden.push_back(Linear(in, shape.encoder_width));
    weights_.encoder.norms.push_back(Norm(shape.encoder_width));
    in = shape.encoder_width;
  }
  weights_.encoder.last = Linear(in, embed_dim);
}

absl::Span<const float> RandomNetwork::Numbers(int64_t size, float middle, float width) {
  numbers_.push_back(RandomNumbers(&random_, size, middle - width, middle + width));
  return numbers_.back();
}

LinearWeights RandomNetwork::Linear(int64_t in, int64_t out) {
  const float width = std::sqrt(3.0f / static_cast<float>(in));
  return {Numbers(in * out, 0.0f, width), Numbers(out, 0.0f, 0.2f)};
}

NormWeights RandomNetwork::Norm(int64_t size) {
  return {Numbers(size, 1.0f, 0.4f), Numbers(size, 0.0f, 0.3f)};
}

HeadWeights RandomNetwork::Head(int64_t out) {
  return {Norm(shape_.embed_dim), Linear(shape_.embed_dim, shape_.head_dim), Norm(shape_.head_dim),
          Linear(shape_.head_dim, out)};
}

StepMemory::StepMemory(const NetworkShape& shape, int64_t num_rows, uint32_t seed)
    : lengths(static_cast<size_t>(num_rows)),
      actions(static_cast<size_t>(num_rows)),
      shape_(shape),
      num_rows_(num_rows),
      context_size_((shape.context_length - 1) * shape.token_size()),
      contexts_(static_cast<size_t>(std::max<int64_t>(1, num_rows * context_size_)), kNan),
      rewards_(static_cast<size_t>(num_rows)),
      values_(static_cast<size_t>(num_rows)),
      prior_logits_(static_cast<size_t>(num_rows * shape.num_actions)),
      tokens_(static_cast<size_t>(num_rows * 2 * shape.token_size())) {
  std::mt19937 random(seed);
  for (int64_t row = 0; row < num_rows; ++row) {
    const int64_t length = RandomInt(&random, 0, shape.context_length - 1);
    lengths[static_cast<size_t>(row)] = length;
    actions[static_cast<size_t>(row)] = RandomInt(&random, 0, shape.num_actions - 1);
    const int64_t valid = length * shape.token_size();
    const std::vector<float> tokens = RandomNumbers(&random, valid, -1.7f, 1.7f);
    std::copy(tokens.begin(), tokens.end(), contexts_.begin() + (row + 1) * context_size_ - valid);
  }
  Poison();
}

StepArrays StepMemory::arrays() {
  return {contexts_.data(), lengths.data(),       actions.data(), rewards_.data(),
          values_.data(),   prior_logits_.data(), tokens_.data()};
}

void StepMemory::CopyInputs(const StepMemory& from, int64_t from_row, int64_t to_row) {
  lengths[static_cast<size_t>(to_row)] = from.lengths[static_cast<size_t>(from_row)];
  actions[static_cast<size_t>(to_row)] = from.actions[static_cast<size_t>(from_row)];
  std::copy_n(from.context(from_row), context_size_, contexts_.begin() + to_row * context_size_);
}

void StepMemory::Poison() {
  for (std::vector<float>* outputs : {&rewards_, &values_, &prior_logits_, &tokens_}) {
    std::fill(outputs->begin(), outputs->end(), kNan);
  }
}

std::vector<float> StepMemory::Outputs(int64_t row) const {
  std::vector<float> all = {rewards_[static_cast<size_t>(row)], values_[static_cast<size_t>(row)]};
  const auto logits = prior_logits_.begin() + row * shape_.num_actions;
  all.insert(all.end(), logits, logits + shape_.num_actions);
  const auto tokens = tokens_.begin() + row * 2 * shape_.token_size();
  all.insert(all.end(), tokens, tokens + 2 * shape_.token_size());
  return all;
}

bool StepMemory::IsUntouched(int64_t row) const {
  const std::vector<float> outputs = Outputs(row);
  const std::vector<float> poison(outputs.size(), kNan);
  return SameBits(outputs.data(), poison.data(), static_cast<int64_t>(outputs.size()));
}

}  // namespace lzero::packed
