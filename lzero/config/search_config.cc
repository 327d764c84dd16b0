// The fields of section search: see experiment_config.h.
#include "lzero/config/experiment_config.h"
#include "lzero/config/fields.h"

namespace lzero {
namespace {

void VisitSampling(FieldVisitor& visitor, SearchConfig& search) {
  visitor.OptionalInt({"num_sampled_actions",
                       "Actions K drawn from the policy at each node, which the search chooses "
                       "from; null: all of them, which box actions do not allow",
                       "actions", kSampled},
                      &search.num_sampled_actions, {2, 100000});
  visitor.Float({"sample_temperature",
                 "Sampled actions are drawn from the policy to the power 1/this (box: with its "
                 "variance times this); their priors correct for it",
                 "", kSampled},
                &search.sample_temperature, {0, 100, true});
  visitor.Float({"uniform_sample_fraction",
                 "Box: share of sampled actions that are drawn uniformly; priors correct for it",
                 "", kSampled},
                &search.uniform_sample_fraction, kFraction);
}

void VisitPuct(FieldVisitor& visitor, SearchConfig& search) {
  visitor.Float(
      {"root_noise_alpha",
       "PUCT: concentration of the Dirichlet noise at the root while collecting", "", kLightZero},
      &search.root_noise_alpha, {0, 1000, true});
  visitor.Float({"root_noise_fraction", "PUCT: share of the noise in the root's prior; 0: no noise",
                 "", kMuZeroB},
                &search.root_noise_fraction, kFraction);
  visitor.Float({"pb_c_init", "PUCT: exploration constant", "", kMuZeroB}, &search.pb_c_init,
                {0, 1000});
  visitor.Float({"pb_c_base", "PUCT: visits at which exploration begins to grow", "", kMuZeroB},
                &search.pb_c_base, {1, 1e12});
}

void VisitGumbel(FieldVisitor& visitor, SearchConfig& search) {
  visitor.Int(
      {"max_num_considered_actions",
       "Gumbel: actions that enter sequential halving at the root, at most", "actions", kGumbel},
      &search.max_num_considered_actions, {1, 100000});
  visitor.Float(
      {"value_scale", "Gumbel: completed Q is multiplied by (maxvisit_init + most visits) * this",
       "", kGumbel},
      &search.value_scale, {0, 1000, true});
  visitor.Float(
      {"maxvisit_init", "Gumbel: visits added in the scale of the completed Q", "visits", kGumbel},
      &search.maxvisit_init, {0, 1e6});
  visitor.Bool({"rescale_values",
                "Gumbel with completed_by_mix_value: completed Q is scaled to [0, 1] at "
                "each node",
                "", kGumbel},
               &search.rescale_values);
  visitor.Bool(
      {"use_mixed_value",
       "Gumbel: unvisited actions take the mixed value; false: the network's value", "", kGumbel},
      &search.use_mixed_value);
  visitor.Float({"q_epsilon", "Floor of a value range inside one node"}, &search.q_epsilon,
                {0, 1, true});
  visitor.Float(
      {"gumbel_scale", "Gumbel: scale of the noise at the root while collecting; 0: no noise", "",
       kGumbel},
      &search.gumbel_scale, {0, 100});
}

void VisitExploration(FieldVisitor& visitor, SearchConfig& search) {
  visitor.Float({"epsilon",
                 "Chance that a random action takes over in collection, in place of what search "
                 "chose, at each step where none is held; the policy target stays the search's",
                 "", kEpsilonGreedy},
                &search.epsilon, {0, 1});
  visitor.Float(
      {"epsilon_final", "epsilon after the decay; unused when epsilon_decay_env_steps is 0"},
      &search.epsilon_final, {0, 1});
  visitor.Int({"epsilon_decay_env_steps",
               "Linear from epsilon to epsilon_final over this many; 0: no decay", "env steps"},
              &search.epsilon_decay_env_steps, kSteps);
  visitor.Int({"epsilon_max_hold",
               "A random action is held for n steps, n^-2 being how likely n is, up to this; 1: "
               "plain epsilon-greedy",
               "env steps", kEpsilonGreedy},
              &search.epsilon_max_hold, {1, 10000});
}

}  // namespace

bool SearchConfig::operator==(const SearchConfig& other) const = default;

void SearchConfig::Visit(FieldVisitor& visitor) {
  visitor.BeginSection("search", "Monte-Carlo tree search while collecting and evaluating.");
  visitor.Choice({"policy", "Rule of selection and of the policy target"}, &policy,
                 {"puct", "gumbel"});
  visitor.Int({"num_simulations", "Simulations a search", "simulations", kCartPole},
              &num_simulations, {1, 100000});
  visitor.Float({"temperature",
                 "Collected actions are drawn from visit counts to the power 1/temperature; "
                 "0: the most visited",
                 "", kPrototype},
                &temperature, {0, 100});
  visitor.Float(
      {"temperature_final",
       "Temperature after the decay; unused when temperature_decay_env_steps is 0", "", kPrototype},
      &temperature_final, {0, 100});
  visitor.Int(
      {"temperature_decay_env_steps",
       "Linear from temperature to temperature_final over this many; 0: no decay", "env steps"},
      &temperature_decay_env_steps, kSteps);
  VisitExploration(visitor, *this);
  visitor.Choice(
      {"q_transform", "How Q values are scaled in PUCT, and the completed Q values in Gumbel", "",
       kMuZeroB},
      &q_transform, {"tree_min_max", "parent_and_siblings", "min_max", "completed_by_mix_value"});
  visitor.Float({"min_max_delta", "q_transform tree_min_max: floor of the range of Q values", "",
                 "LightZero, value_delta_max"},
                &min_max_delta, {0, 1e6, true});
  visitor.Float({"min_value", "q_transform min_max: value that becomes 0"}, &min_value,
                {-1e9, 1e9});
  visitor.Float({"max_value", "q_transform min_max: value that becomes 1"}, &max_value,
                {-1e9, 1e9});
  visitor.OptionalInt(
      {"max_depth", "Nodes deeper than this are not expanded; null: no limit", "edges"}, &max_depth,
      {1, 100000});
  VisitSampling(visitor, *this);
  VisitPuct(visitor, *this);
  VisitGumbel(visitor, *this);
  visitor.EndSection();
}

}  // namespace lzero
