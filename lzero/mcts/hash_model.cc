#include "lzero/mcts/hash_model.h"

#include <limits>

namespace lzero {

namespace {

// The finaliser of SplitMix64: every bit of the input changes half of the output. [Steele et al.
// 2014]
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t ChildHash(uint64_t parent, int32_t action) {
  return Mix(parent ^ Mix(static_cast<uint64_t>(action) + 1));
}

// Multiples of 1/1024 in [-1, 1).
float ToSignedUnit(uint64_t hash) {
  return static_cast<float>(static_cast<int>(hash >> 53) - 1024) / 1024.0f;
}

// In [0, 1).
double ToUnit(uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1.0p-53; }

}  // namespace

uint64_t HashModel::RootHash(EnvId env, int64_t step) const {
  const uint64_t root = Mix(static_cast<uint64_t>(env.value) ^ Mix(static_cast<uint64_t>(step)));
  return Mix(root ^ Mix(options_.seed));
}

float HashModel::Logit(uint64_t hash, int action) const {
  return options_.logit_scale * ToSignedUnit(Mix(hash + static_cast<uint64_t>(action) + 16));
}
float HashModel::Value(uint64_t hash) const {
  return options_.value_scale * ToSignedUnit(Mix(hash + 1));
}
float HashModel::Reward(uint64_t hash) const {
  return options_.value_scale * ToSignedUnit(Mix(hash + 2));
}
float HashModel::Discount(uint64_t hash) const {
  return ToUnit(Mix(hash + 3)) < options_.terminal_fraction ? 0.0f : options_.discount;
}
bool HashModel::Lacks(uint64_t hash, int action) const {
  const uint64_t kept = Mix(hash + 4) % static_cast<uint64_t>(options_.num_actions);
  if (options_.illegal_fraction <= 0.0 || static_cast<uint64_t>(action) == kept) return false;
  return ToUnit(Mix(Mix(hash + 5) + static_cast<uint64_t>(action))) < options_.illegal_fraction;
}

void HashModel::FillLogits(uint64_t hash, bool is_root, absl::Span<float> row) const {
  for (int a = 0; a < options_.num_actions; ++a) {
    row[static_cast<size_t>(a)] =
        !is_root && Lacks(hash, a) ? -std::numeric_limits<float>::infinity() : Logit(hash, a);
  }
}

absl::Status HashModel::InitialInference(absl::Span<const Root> roots,
                                         absl::Span<float> prior_logits, absl::Span<float> value) {
  const size_t width = static_cast<size_t>(options_.num_actions);
  num_roots_ = roots.size();
  if (hashes_.size() < num_roots_) hashes_.resize(num_roots_);
  for (size_t b = 0; b < num_roots_; ++b) {
    const uint64_t hash = RootHash(roots[b].env, roots[b].step);
    hashes_[b] = hash;
    value[b] = Value(hash);
    FillLogits(hash, /*is_root=*/true, prior_logits.subspan(b * width, width));
  }
  return absl::OkStatus();
}

absl::Status HashModel::RecurrentInference(absl::Span<const NodeId> parents,
                                           absl::Span<const int32_t> actions,
                                           absl::Span<const NodeId> children,
                                           absl::Span<float> rewards, absl::Span<float> discounts,
                                           absl::Span<float> values,
                                           absl::Span<float> prior_logits) {
  const size_t width = static_cast<size_t>(options_.num_actions);
  for (size_t b = 0; b < num_roots_; ++b) {
    const size_t child = static_cast<size_t>(children[b].value) * num_roots_ + b;
    if (hashes_.size() <= child) hashes_.resize(child + 1);
    const size_t parent = static_cast<size_t>(parents[b].value) * num_roots_ + b;
    const uint64_t hash = ChildHash(hashes_[parent], actions[b]);
    hashes_[child] = hash;
    rewards[b] = Reward(hash);
    discounts[b] = Discount(hash);
    values[b] = Value(hash);
    FillLogits(hash, /*is_root=*/false, prior_logits.subspan(b * width, width));
  }
  return absl::OkStatus();
}

HashModel::Answer HashModel::Evaluate(EnvId env, int64_t step,
                                      absl::Span<const int32_t> path) const {
  uint64_t hash = RootHash(env, step);
  for (const int32_t action : path) hash = ChildHash(hash, action);
  Answer answer;
  answer.value = Value(hash);
  if (!path.empty()) {
    answer.reward = Reward(hash);
    answer.discount = Discount(hash);
  }
  answer.prior_logits.resize(static_cast<size_t>(options_.num_actions));
  FillLogits(hash, path.empty(), absl::MakeSpan(answer.prior_logits));
  return answer;
}

}  // namespace lzero
