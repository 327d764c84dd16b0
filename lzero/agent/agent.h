// An agent: a search, and from its result one action for each environment. Knows neither the world
// model (it meets an InferenceModel) nor the environments. One Agent a role; belongs to one thread.
#ifndef LZERO_AGENT_AGENT_H_
#define LZERO_AGENT_AGENT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/search.h"

namespace lzero {

enum class ActMode {
  kCollect,   // root noise; PUCT draws by visit counts and temperature
  kEvaluate,  // no noise, the best action
};

struct AgentOptions {
  uint64_t seed = 0;  // of noise, draws and ties; give every role its own
  // Ties go to the first action; otherwise they are drawn, keyed by (seed, env, search, node).
  bool deterministic_ties = true;
};

// Valid until the next Act with the same object; reused without allocating.
struct Decision {
  std::vector<int32_t> actions;  // [B]
  double temperature = 0.0;      // that was used; 0: the best action was taken
  SearchResult search;
};

class Agent {
 public:
  // InvalidArgument as Search::Create, and for a negative temperature.
  static absl::StatusOr<std::unique_ptr<Agent>> Create(const SearchConfig& config, int num_actions,
                                                       int max_roots, const AgentOptions& options);

  // Searches every root and chooses its action. Collecting with PUCT: drawn with probability
  // proportional to visits^(1 / temperature), the best action at temperature 0. Collecting with
  // Gumbel: the search's own choice, which its noise makes a draw [Danihelka et al. 2022, section
  // 3]. Evaluating: the best action. `env_steps` of the whole run sets the temperature. What is
  // drawn depends on (seed, environment, number of this search) alone, not on the other roots.
  // Errors are those of Search::Run, and count no search. Blocks.
  absl::Status Act(InferenceModel& model, absl::Span<const Root> roots, ActMode mode,
                   int64_t env_steps, Decision* decision);

  // Searches so far: the only state, to be saved and put back for an exact resume.
  uint64_t num_searches() const { return num_searches_; }
  void set_num_searches(uint64_t num_searches) { num_searches_ = num_searches; }

  const Search& search() const { return *search_; }

 private:
  Agent(std::unique_ptr<Search> search, int num_actions, const AgentOptions& options);

  std::unique_ptr<Search> search_;
  AgentOptions options_;
  uint64_t num_searches_ = 0;
  std::vector<double> weights_;  // [A] scratch of the draw
};

}  // namespace lzero

#endif  // LZERO_AGENT_AGENT_H_
