// The settings of a search in the form its inner loops read (rules_view.h), with the tables that
// belong to them. Built once by Search::Create; immutable afterwards.
#ifndef LZERO_MCTS_RULES_H_
#define LZERO_MCTS_RULES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/tree/rules_view.h"

namespace lzero {

struct SearchRules : RuleNumbers {
  // [num_simulations + 2], see RulesView.
  std::vector<float> exploration;
  // [max_considered + 1, num_simulations], see RulesView; empty in PUCT.
  std::vector<int32_t> considered_visits;

  // Points into the tables of this object.
  RulesView View() const { return {*this, exploration.data(), considered_visits.data()}; }
};

// InvalidArgument naming the setting, what was given and what is allowed.
absl::Status CheckSearchConfig(const SearchConfig& config);

// `config` must have passed CheckSearchConfig.
SearchRules MakeSearchRules(const SearchConfig& config, int num_actions);

// Sequential halving: the visits that the chosen action must have, for each of `num_simulations`,
// when `num_considered` actions compete. [Danihelka et al. 2022, Policy improvement by planning
// with Gumbel, section 3.4]
std::vector<int32_t> ConsideredVisits(int num_considered, int num_simulations);

}  // namespace lzero

#endif  // LZERO_MCTS_RULES_H_
