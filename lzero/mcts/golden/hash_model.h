// A model whose answers are a pure function of (seed, root, path of actions): for property tests,
// and for the signature of the search. Every number is a multiple of 1/1024, so that it is exact in
// float32. Not a game. Belongs to one thread; allocates nothing once it has seen a search as large.
#ifndef LZERO_MCTS_GOLDEN_HASH_MODEL_H_
#define LZERO_MCTS_GOLDEN_HASH_MODEL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lzero/mcts/inference_model.h"

namespace lzero {

struct HashModelOptions {
  uint64_t seed = 0;
  int num_actions = 2;
  float discount = 0.997f;         // negative: the mover changes with every action
  float logit_scale = 2.0f;        // logits lie in [-scale, scale]; 0: all equal (ties)
  float value_scale = 1.0f;        // values and rewards likewise
  double terminal_fraction = 0.0;  // of edges with discount 0
  // Share of actions that a node below the root lacks (logit -infinity); each keeps one at least.
  double illegal_fraction = 0.0;
  // Outcomes of chance nodes, which alternate with decisions (inference_model.h). The edge to a
  // chance node has reward 0 and discount 1.
  int num_chance_outcomes = 0;
};

class HashModel final : public InferenceModel {
 public:
  explicit HashModel(const HashModelOptions& options) : options_(options) {}

  int num_actions() const override { return options_.num_actions; }
  int num_chance_outcomes() const override { return options_.num_chance_outcomes; }
  // A root is told apart by its environment and step.
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override;
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override;

  // The same answers for one path, without a search: logits of one row.
  struct Answer {
    float reward = 0.0f;
    float discount = 0.0f;
    float value = 0.0f;
    std::vector<float> prior_logits;
  };
  Answer Evaluate(EnvId env, int64_t step, absl::Span<const int32_t> path) const;

 private:
  // A node: what its answers depend on.
  struct Position {
    uint64_t hash = 0;
    int depth = 0;
  };
  Position RootPosition(EnvId env, int64_t step) const;
  bool IsChance(const Position& position) const {
    return options_.num_chance_outcomes > 0 && position.depth % 2 == 1;
  }
  size_t RowSize() const {
    return static_cast<size_t>(std::max(options_.num_actions, options_.num_chance_outcomes));
  }
  float Logit(const Position& position, int action) const;
  float Value(const Position& position) const;
  float Reward(const Position& position) const;
  float Discount(const Position& position) const;
  // Whether the node lacks this one of `num_actions` actions or outcomes.
  bool Lacks(const Position& position, int action, int num_actions) const;
  void FillLogits(const Position& position, absl::Span<float> row) const;

  HashModelOptions options_;
  size_t num_roots_ = 0;
  std::vector<Position> positions_;  // [N, B] of the nodes of the running search
};

}  // namespace lzero

#endif  // LZERO_MCTS_GOLDEN_HASH_MODEL_H_
