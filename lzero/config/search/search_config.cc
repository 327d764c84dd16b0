#include "lzero/config/search/search_config.h"

#include "lzero/config/field_sources.h"
#include "lzero/config/fields.h"

namespace lzero {

bool SearchConfig::operator==(const SearchConfig& other) const = default;

void SearchConfig::Visit(FieldList& field) {
  field.Begin("search", "Monte-Carlo tree search while collecting and evaluating.");
  field("policy", &policy, {"puct", "gumbel"}, "Rule of selection and of the policy target");
  field("num_simulations", &num_simulations, {1, SearchConfig::kMostSimulations},
        "Simulations a search", "simulations", kCartPole);
  field("temperature", &temperature, {0, 100},
        "PUCT: collected actions are drawn from visit counts to the power 1/temperature; 0: the "
        "most visited. Gumbel: factor of gumbel_scale while collecting",
        "", kTrialRuns);
  field("temperature_final", &temperature_final, {0, 100},
        "Temperature after a linear decay; unused when temperature_decay_env_steps is 0", "",
        kTrialRuns);
  field("temperature_decay_env_steps", &temperature_decay_env_steps, kStepsRange,
        "The temperature falls over this many; 0: it stays", "env steps");
  field("temperature_schedule", &temperature_schedule, {"linear", "halves"},
        "How it falls: linear from temperature to temperature_final; halves: half of it from half "
        "of temperature_decay_env_steps on, a quarter from three quarters on",
        "", kEfficientZeroV2);
  field("temperature_steps", &temperature_steps, {0, 1e9},
        "Collected actions are drawn in so many first steps of an episode, then the most visited "
        "is taken; 0: drawn at all steps",
        "steps", kAlphaZero);
  field("cheap_fraction", &cheap_fraction, {0, 1, false, true},
        "Share of the searches of collection that are cheap ones, for all environments at once: "
        "without noise, and their steps give no policy target; values are learned from all steps",
        "", kKataGo);
  field("cheap_num_simulations", &cheap_num_simulations, {1, kMostSimulations},
        "Simulations of a cheap search, at most num_simulations", "simulations", kKataGo);
  field("epsilon", &epsilon, {0, 1},
        "Chance that a random action takes over in collection, in place of what search chose, at "
        "each step where none is held; the policy target stays the search's",
        "", kEpsilonGreedy);
  field("epsilon_final", &epsilon_final, {0, 1},
        "epsilon after the decay; unused when epsilon_decay_env_steps is 0");
  field("epsilon_decay_env_steps", &epsilon_decay_env_steps, kStepsRange,
        "Linear from epsilon to epsilon_final over this many; 0: no decay", "env steps");
  field("epsilon_max_hold", &epsilon_max_hold, {1, 10000},
        "A random action is held for n steps, n^-2 being how likely n is, up to this; 1: plain "
        "epsilon-greedy",
        "env steps", kEpsilonGreedy);
  field("q_transform", &q_transform,
        {"tree_min_max", "parent_and_siblings", "min_max", "completed_by_mix_value"},
        "How Q values are scaled in PUCT, and the completed Q values in Gumbel", "", kMuZeroB);
  field("min_max_delta", &min_max_delta, {0, 1e6, true},
        "q_transform tree_min_max: floor of the range of Q values", "",
        "LightZero, value_delta_max");
  field("min_value", &min_value, {-1e9, 1e9}, "q_transform min_max: value that becomes 0");
  field("max_value", &max_value, {-1e9, 1e9}, "q_transform min_max: value that becomes 1");
  field("max_depth", &max_depth, {1, 100000},
        "Nodes deeper than this are not expanded; null: no limit", "edges");
  VisitSamples(field);
  VisitRules(field);
}

void SearchConfig::VisitSamples(FieldList& field) {
  field("num_sampled_actions", &num_sampled_actions, {2, 100000},
        "Actions K drawn from the policy at each node, which the search chooses from; null: all of "
        "them, which box actions do not allow",
        "actions", kSampled);
  field("sample_temperature", &sample_temperature, {0, 100, true},
        "Sampled actions are drawn from the policy to the power 1/this (box: with its variance "
        "times this); their priors correct for it",
        "", kSampled);
  field("uniform_sample_fraction", &uniform_sample_fraction, kFractionRange,
        "Box: share of sampled actions that are drawn uniformly; priors correct for it", "",
        kSampled);
  field("num_interior_samples", &num_interior_samples, {1, 100000},
        "Actions drawn at nodes below the root, at most num_sampled_actions; null: as many. Few "
        "make the same simulations look further ahead",
        "actions", kEfficientZeroV2);
  field("root_wide_fraction", &root_wide_fraction, kFractionRange,
        "Box, while collecting: share of the root's sampled actions that are drawn with the "
        "policy's sigma times root_wide_scale, rounded to whole actions",
        "", kEfficientZeroV2);
  field("root_wide_scale", &root_wide_scale, {0, 100, true},
        "Box: factor of sigma of the root's wide samples", "", kEfficientZeroV2);
  field("sample_prior", &sample_prior, {"corrected", "uniform"},
        "Priors of sampled actions: corrected, the policy over what they were drawn from; uniform, "
        "all alike, so that their values alone tell them apart",
        "", kEfficientZeroV2);
  field("policy_target", &policy_target, {"shares", "best_action"},
        "What the policy learns from a search: the shares that it gives to actions, or its best "
        "action alone",
        "", kEfficientZeroV2);
}

void SearchConfig::VisitRules(FieldList& field) {
  field("root_noise_alpha", &root_noise_alpha, {0, 1000, true},
        "PUCT: concentration of the Dirichlet noise at the root while collecting", "", kLightZero);
  field("root_noise_fraction", &root_noise_fraction, kFractionRange,
        "PUCT: share of the noise in the root's prior; 0: no noise", "", kMuZeroB);
  field("root_policy_temperature", &root_policy_temperature, {0, 100, true},
        "PUCT: the policy at the root of a collecting search is taken to the power 1/this before "
        "noise is mixed in",
        "", kKataGo);
  field(
      "forced_playouts", &forced_playouts, {0, 1000},
      "PUCT: a collecting search visits each action a that it has visited at its root at least "
      "sqrt(this * P(a) * visits) times; policy targets leave out what such visits added; 0: none",
      "", kKataGo);
  field("pb_c_init", &pb_c_init, {0, 1000}, "PUCT: exploration constant", "", kMuZeroB);
  field("pb_c_base", &pb_c_base, {1, 1e12}, "PUCT: visits at which exploration begins to grow", "",
        kMuZeroB);
  field("max_num_considered_actions", &max_num_considered_actions, {1, 100000},
        "Gumbel: actions that enter sequential halving at the root, at most", "actions", kGumbel);
  field("value_scale", &value_scale, {0, 1000, true},
        "Gumbel: completed Q is multiplied by (maxvisit_init + most visits) * this", "", kGumbel);
  field("maxvisit_init", &maxvisit_init, {0, 1e6},
        "Gumbel: visits added in the scale of the completed Q", "visits", kGumbel);
  field("rescale_values", &rescale_values,
        "Gumbel with completed_by_mix_value: completed Q is scaled to [0, 1] at each node", "",
        kGumbel);
  field("use_mixed_value", &use_mixed_value,
        "Gumbel: unvisited actions take the mixed value; false: the network's value", "", kGumbel);
  field("q_epsilon", &q_epsilon, {0, 1, true}, "Floor of a value range inside one node");
  field("gumbel_scale", &gumbel_scale, {0, 100},
        "Gumbel: scale of the noise at the root while collecting; 0: no noise", "", kGumbel);
}

}  // namespace lzero
