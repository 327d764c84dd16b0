#include "lzero/mcts/golden/hash_model.h"

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

HashModel::Position HashModel::RootPosition(EnvId env, int64_t step) const {
  const uint64_t root = Mix(static_cast<uint64_t>(env.value) ^ Mix(static_cast<uint64_t>(step)));
  return {Mix(root ^ Mix(options_.seed)), 0};
}

float HashModel::Logit(const Position& position, int action) const {
  return options_.logit_scale *
         ToSignedUnit(Mix(position.hash + static_cast<uint64_t>(action) + 16));
}
float HashModel::Value(const Position& position) const {
  return options_.value_scale * ToSignedUnit(Mix(position.hash + 1));
}
float HashModel::Reward(const Position& position) const {
  if (IsChance(position)) return 0.0f;
  return options_.value_scale * ToSignedUnit(Mix(position.hash + 2));
}
float HashModel::Discount(const Position& position) const {
  if (IsChance(position)) return 1.0f;
  return ToUnit(Mix(position.hash + 3)) < options_.terminal_fraction ? 0.0f : options_.discount;
}
bool HashModel::Lacks(const Position& position, int action, int num_actions) const {
  if (options_.illegal_fraction <= 0.0 || position.depth == 0) return false;
  const uint64_t kept = Mix(position.hash + 4) % static_cast<uint64_t>(num_actions);
  if (static_cast<uint64_t>(action) == kept) return false;
  const uint64_t draw = Mix(Mix(position.hash + 5) + static_cast<uint64_t>(action));
  return ToUnit(draw) < options_.illegal_fraction;
}

void HashModel::FillLogits(const Position& position, absl::Span<float> row) const {
  const int num_actions = IsChance(position) ? options_.num_chance_outcomes : options_.num_actions;
  std::fill(row.begin(), row.end(), -std::numeric_limits<float>::infinity());
  for (int a = 0; a < num_actions; ++a) {
    if (!Lacks(position, a, num_actions)) row[static_cast<size_t>(a)] = Logit(position, a);
  }
}

absl::Status HashModel::InitialInference(absl::Span<const Root> roots,
                                         absl::Span<float> prior_logits, absl::Span<float> value) {
  const size_t width = RowSize();
  num_roots_ = roots.size();
  if (positions_.size() < num_roots_) positions_.resize(num_roots_);
  for (size_t b = 0; b < num_roots_; ++b) {
    positions_[b] = RootPosition(roots[b].env, roots[b].step);
    value[b] = Value(positions_[b]);
    FillLogits(positions_[b], prior_logits.subspan(b * width, width));
  }
  return absl::OkStatus();
}

absl::Status HashModel::RecurrentInference(absl::Span<const NodeId> parents,
                                           absl::Span<const int32_t> actions,
                                           absl::Span<const NodeId> children,
                                           absl::Span<float> rewards, absl::Span<float> discounts,
                                           absl::Span<float> values,
                                           absl::Span<float> prior_logits) {
  const size_t width = RowSize();
  for (size_t b = 0; b < num_roots_; ++b) {
    const size_t child = static_cast<size_t>(children[b].value) * num_roots_ + b;
    if (positions_.size() <= child) positions_.resize(child + 1);
    const Position& parent = positions_[static_cast<size_t>(parents[b].value) * num_roots_ + b];
    const Position position = {ChildHash(parent.hash, actions[b]), parent.depth + 1};
    positions_[child] = position;
    rewards[b] = Reward(position);
    discounts[b] = Discount(position);
    values[b] = Value(position);
    FillLogits(position, prior_logits.subspan(b * width, width));
  }
  return absl::OkStatus();
}

HashModel::Answer HashModel::Evaluate(EnvId env, int64_t step,
                                      absl::Span<const int32_t> path) const {
  Position position = RootPosition(env, step);
  for (const int32_t action : path) {
    position = {ChildHash(position.hash, action), position.depth + 1};
  }
  Answer answer;
  answer.value = Value(position);
  if (!path.empty()) {
    answer.reward = Reward(position);
    answer.discount = Discount(position);
  }
  answer.prior_logits.resize(RowSize());
  FillLogits(position, absl::MakeSpan(answer.prior_logits));
  return answer;
}

}  // namespace lzero
