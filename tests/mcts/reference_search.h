// A second search for tests: recursive, in double, every number recomputed from the children each
// time, written from the formulas of tests/golden/search/README.md and of the papers, and sharing
// no code with lzero/mcts. Slow on purpose.
#ifndef LZERO_TESTS_MCTS_REFERENCE_SEARCH_H_
#define LZERO_TESTS_MCTS_REFERENCE_SEARCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "lzero/config/experiment_config.h"

namespace lzero {

struct ReferenceOutputs {
  double reward = 0.0;
  double discount = 0.0;
  double value = 0.0;
  std::vector<double> logits;
};

class ReferenceSearch {
 public:
  using Model = std::function<ReferenceOutputs(const std::vector<int32_t>& path)>;

  struct Node {
    ReferenceOutputs outputs;
    double mean = 0.0;
    int visits = 0;
    std::map<int, std::unique_ptr<Node>> children;
    std::map<int, int> action_visits;
  };

  // The model's logits are those of the actions of the root, and of a node's actions, -infinity
  // where it lacks one. `has_chance`: at odd depths they are those of chance outcomes.
  ReferenceSearch(const SearchConfig& config, bool has_chance, std::vector<uint8_t> legal,
                  std::vector<double> gumbel, Model model);

  void Run();

  const Node& root() const { return *root_; }
  // The smallest distance between the best and the second-best score of any choice.
  double smallest_gap() const { return smallest_gap_; }
  std::vector<double> ActionWeights();
  int BestAction();

 private:
  double Simulate(Node* node, std::vector<int32_t>* path, double parent_fpu, double sign);
  int Select(const Node& node, bool is_root, double fpu);
  int SelectOutcome(const Node& node);
  double Fpu(const Node& node, bool is_root, double parent_fpu, double sign) const;
  std::vector<double> QScores(const Node& node, double fpu) const;
  std::vector<double> Completed(const Node& node, bool by_tree) const;
  std::vector<double> Priors(const Node& node) const;
  // The visits that forced playouts want of an action of the root, and all visits without them.
  double ForcedVisits(int action) const;
  std::vector<double> PrunedVisits();
  // Whether `number` is above `other`; how far counts for smallest_gap.
  bool IsAbove(double number, double other);
  int PickBest(const std::vector<double>& scores);
  int NumVisits(const Node& node, int action) const;
  double Q(const Node& node, int action) const;
  double TreeNormalised(double q) const;

  SearchConfig config_;
  bool has_chance_;
  std::vector<uint8_t> legal_;
  std::vector<double> gumbel_;
  Model model_;
  std::unique_ptr<Node> root_;
  bool any_q_ = false;
  double min_q_ = 0.0;
  double max_q_ = 0.0;
  double smallest_gap_ = 1e9;
};

}  // namespace lzero

#endif  // LZERO_TESTS_MCTS_REFERENCE_SEARCH_H_
