// What a config says of the search: the section `search`. Plain data, no thread rule.
#ifndef LZERO_CONFIG_SEARCH_SEARCH_CONFIG_H_
#define LZERO_CONFIG_SEARCH_SEARCH_CONFIG_H_

#include <cstdint>
#include <optional>

namespace lzero {

class FieldList;

enum class SearchPolicy { kPuct, kGumbel };
enum class TemperatureSchedule { kLinear, kHalves };
enum class SamplePrior { kCorrected, kUniform };
enum class PolicyTarget { kShares, kBestAction };
enum class QTransform { kTreeMinMax, kParentAndSiblings, kMinMax, kCompletedByMixValue };

struct SearchConfig {
  static constexpr int64_t kMostSimulations = 100'000;  // of any search
  SearchPolicy policy = SearchPolicy::kPuct;
  int64_t num_simulations = 25;
  double temperature = 1.0;
  double temperature_final = 1.0;
  int64_t temperature_decay_env_steps = 0;
  TemperatureSchedule temperature_schedule = TemperatureSchedule::kLinear;
  int64_t temperature_steps = 0;  // of an episode; 0: all
  double epsilon = 0.0;           // of temporally extended epsilon-greedy collection
  double epsilon_final = 0.0;
  int64_t epsilon_decay_env_steps = 0;  // linear from epsilon to epsilon_final
  int64_t epsilon_max_hold = 1;         // steps
  double root_noise_alpha = 0.3;
  double root_noise_fraction = 0.25;
  double root_policy_temperature = 1.0;  // while collecting
  double forced_playouts = 0.0;          // while collecting: k of sqrt(k P N)
  double pb_c_init = 1.25;
  double pb_c_base = 19652.0;
  QTransform q_transform = QTransform::kTreeMinMax;  // of PUCT, and of Gumbel's completed Q
  double min_max_delta = 0.01;                       // floor of the tree's value range
  double min_value = -1.0;                           // fixed range of q_transform min_max
  double max_value = 1.0;
  int64_t max_num_considered_actions = 16;  // Gumbel
  double value_scale = 0.1;                 // Gumbel
  double maxvisit_init = 50.0;              // Gumbel
  bool rescale_values = true;               // Gumbel: completed_by_mix_value per node
  bool use_mixed_value = true;              // false: unvisited actions take the network's value
  double q_epsilon = 1e-8;                  // floor of a value range inside one node
  double gumbel_scale = 1.0;                // Gumbel: noise while collecting
  std::optional<int64_t> max_depth;
  double cheap_fraction = 0.0;                  // of the searches of collection
  int64_t cheap_num_simulations = 8;            // theirs
  std::optional<int64_t> num_sampled_actions;   // K a node; null: all of them (discrete only)
  std::optional<int64_t> num_interior_samples;  // theirs below the root; null: K
  double sample_temperature = 1.0;              // of the policy that they are drawn from
  double uniform_sample_fraction = 0.0;         // of box actions: drawn uniformly instead
  double root_wide_fraction = 0.0;              // of box actions at roots while collecting
  double root_wide_scale = 3.0;                 // of sigma, theirs
  SamplePrior sample_prior = SamplePrior::kCorrected;
  PolicyTarget policy_target = PolicyTarget::kShares;
  int64_t NodesPerRoot() const { return num_simulations + 1; }
  void Visit(FieldList& field);
  bool operator==(const SearchConfig& other) const;

 private:
  void VisitSamples(FieldList& field);
  void VisitRules(FieldList& field);  // the last ones: of PUCT and Gumbel
};

}  // namespace lzero

#endif  // LZERO_CONFIG_SEARCH_SEARCH_CONFIG_H_
