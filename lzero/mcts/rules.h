// The settings of a search in the form its inner loops read (rules_view.h), with the tables that
// belong to them. Made once for a search; immutable afterwards.
#ifndef LZERO_MCTS_RULES_H_
#define LZERO_MCTS_RULES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/tree/rules_view.h"

namespace lzero {

class SearchRules {
 public:
  // `config` must have passed CheckSearchConfig. `has_chance`: every second level of the tree is
  // chance nodes.
  SearchRules(const SearchConfig& config, int num_actions, bool has_chance = false);
  SearchRules(const SearchRules&) = delete;
  SearchRules& operator=(const SearchRules&) = delete;

  const SearchConfig& config() const { return config_; }
  // Points into the tables of this object.
  const RulesView& view() const { return view_; }
  int num_considered_visits() const { return static_cast<int>(considered_visits_.size()); }

 private:
  SearchConfig config_;
  std::vector<float> exploration_;          // see RulesView
  std::vector<int32_t> considered_visits_;  // see RulesView; empty in PUCT
  RulesView view_;
};

// InvalidArgument naming the setting, what was given and what is allowed: the ranges of the schema,
// and search.min_value below search.max_value.
absl::Status CheckSearchConfig(const SearchConfig& config);

// Sequential halving: the visits that the chosen action must have, for each of `num_simulations`,
// when `num_considered` actions compete. [Danihelka et al. 2022, Policy improvement by planning
// with Gumbel, section 3.4]
std::vector<int32_t> ConsideredVisits(int num_considered, int num_simulations);

}  // namespace lzero

#endif  // LZERO_MCTS_RULES_H_
