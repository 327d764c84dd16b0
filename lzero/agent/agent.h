// An agent: a searcher, and from its results one action for each environment. Knows neither the
// world model (it meets an InferenceModel) nor the environments. One Agent a role; belongs to one
// thread.
#ifndef LZERO_AGENT_AGENT_H_
#define LZERO_AGENT_AGENT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/sampled_actions.h"
#include "lzero/mcts/searcher.h"

namespace lzero {

enum class ActMode {
  kCollect,   // root noise; PUCT draws by visit counts and temperature
  kEvaluate,  // no noise, the best action
};

struct AgentOptions {
  uint64_t seed = 0;  // of noise, draws and ties; give every role its own
  // Ties go to the first action; otherwise they are drawn, keyed by (seed, env, search, node).
  bool deterministic_ties = true;
  // The environment's actions, for a model whose slots stand for some of them (sampled_actions.h,
  // D = 0); other models' actions are the environment's.
  int num_env_actions = 0;
};

// Valid until the next Act with the same object; reused without allocating. Knows no slots: where
// the model samples its actions (sampled_actions.h), K slots of D numbers, they are translated.
struct Decision {
  std::vector<int32_t> actions;      // [B] of the environment; D > 0: the slots that were chosen
  int action_dim = 0;                // D; 0: discrete actions
  std::vector<float> action_values;  // [B, D] in [-1, 1], D > 0
  // P: the environment's actions; D > 0: K.
  int policy_size = 0;
  std::vector<float> policies;         // [B, P] policy targets, sum 1
  std::vector<float> sampled_actions;  // [B, K, D], D > 0: what `policies` is about; 0 where empty
  double temperature = 0.0;  // that was used up to temperature_steps; 0: the best action was taken
  SearchResult search;       // over slots where the model samples; weights as `policies` has them

  // The policy target of root `b`, [P]; zeros after a cheap search. The action [D] and the sampled
  // actions [K, D]: empty where actions are discrete.
  absl::Span<const float> PolicyOf(size_t b) const { return Row(policies, policy_size, b); }
  absl::Span<const float> ValuesOf(size_t b) const { return Row(action_values, action_dim, b); }
  absl::Span<const float> SampledOf(size_t b) const {
    return Row(sampled_actions, action_dim * policy_size, b);
  }

 private:
  static absl::Span<const float> Row(absl::Span<const float> rows, int size, size_t b) {
    return rows.subspan(b * static_cast<size_t>(size), static_cast<size_t>(size));
  }
};

class Agent {
 public:
  Agent(std::unique_ptr<Searcher> searcher, const AgentOptions& options);
  // What makes search.cheap_fraction of its collecting searches from now on, without noise and
  // policy targets. Fewer simulations for the same model.
  void set_cheap_searcher(std::unique_ptr<Searcher> searcher);

  // Searches every root, B of them, and chooses its action. Collecting with PUCT: drawn with
  // probability proportional to visits^(1 / temperature), the best action at temperature 0.
  // Collecting with Gumbel: the search's own choice, which its noise makes a draw [Danihelka et al.
  // 2022, section 3]. Evaluating: the best action. `env_steps` of the whole run sets the
  // temperature. What is drawn depends on (seed, environment, number of this search) alone, not on
  // the other roots. Slots are drawn where the model samples actions. Errors are those of
  // Searcher::Run, and Internal for a sampled action that the environment does not have; they count
  // no search. Blocks.
  absl::Status Act(InferenceModel& model, absl::Span<const Root> roots, ActMode mode,
                   int64_t env_steps, Decision* decision);

  // The config of its searches.
  const SearchConfig& config() const { return searcher_->config(); }
  // The trees of the last search; null where the searcher keeps them elsewhere.
  const Tree* host_tree() const { return searcher_->host_tree(); }
  // Searches so far: the only state, to be saved and put back for an exact resume.
  uint64_t num_searches() const { return num_searches_; }
  void set_num_searches(uint64_t num_searches) { num_searches_ = num_searches; }

 private:
  bool IsNextCheap() const;
  // All weight to the best action of each root.
  static void KeepBestActions(SearchResult* search);
  // Chooses an action of the model for each root, a slot where it samples them.
  void Choose(absl::Span<const Root> roots, const SearchRequest& request, Decision* decision);
  // From slots to actions and policies of the environment: D = 0, and D > 0.
  absl::Status TranslateIndices(const SampledActions& sampled, absl::Span<const Root> roots,
                                Decision* decision) const;
  void TranslateValues(const SampledActions& sampled, Decision* decision) const;

  std::unique_ptr<Searcher> searcher_, cheap_searcher_;
  AgentOptions options_;
  uint64_t num_searches_ = 0;
  std::vector<double> weights_;  // [A] or [K], scratch of the draw
};

}  // namespace lzero

#endif  // LZERO_AGENT_AGENT_H_
