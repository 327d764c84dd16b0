// Temporally extended epsilon-greedy: now and then an environment is taken over by one random
// action, held for a while, in place of what search chose. For tasks whose reward no undirected
// noise finds. [Dabney et al. 2021, Temporally-Extended epsilon-Greedy Exploration, section 4:
// durations of the zeta distribution with mu = 2] One thread.
#ifndef LZERO_WORKER_EXPLORATION_H_
#define LZERO_WORKER_EXPLORATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/base/named_array.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env.h"

namespace lzero {

// search.epsilon after `env_steps`: linear to search.epsilon_final over
// search.epsilon_decay_env_steps, then constant; without a decay search.epsilon always.
double EpsilonAt(const SearchConfig& config, int64_t env_steps);

// One environment. Draws are a pure function of `key`, the episode and its step.
class Exploration {
 public:
  Exploration(const SearchConfig& config, const ActionSpec& spec, uint64_t key);

  // A new episode, known by `episode`, begins: nothing is held.
  void Begin(uint64_t episode);
  // Before step `step` of the episode: whether exploration acts here; then `action` is its choice,
  // one of the legal actions of `legal` [A] uint8 (1 = legal; box: empty). A held action that has
  // become illegal is dropped.
  bool Act(double epsilon, int64_t step, absl::Span<const uint8_t> legal, Action* action);

  // State for a checkpoint, names begin with `prefix`. Without these arrays nothing is held.
  void Export(const std::string& prefix, std::vector<NamedArray>* arrays) const;
  absl::Status Import(const std::string& prefix, absl::Span<const NamedArray> arrays);

 private:
  ActionSpec spec_;
  uint64_t key_;
  std::vector<double> weights_;  // [epsilon_max_hold] of durations 1, 2, ..: n^-2
  uint64_t episode_ = 0;
  int64_t num_left_ = 0;  // steps that held_ still acts
  Action held_;
};

}  // namespace lzero

#endif  // LZERO_WORKER_EXPLORATION_H_
