// The JSON side of golden trees.
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/json_reader.h"
#include "lzero/mcts/golden/golden.h"

namespace lzero {

namespace {

constexpr int64_t kMaxActions = 100'000;
constexpr JsonLimits kReal = {.largest = 1e30};
constexpr JsonLimits kSimulations = {.low = 1, .high = SearchConfig::kMostSimulations};

// Facts about how a file was made, which a replay does not need: the edges and noise are in it.
constexpr const char* kDescriptiveKeys[] = {
    "name",        "seed",       "discount",    "logit_std",         "value_std",
    "reward_std",  "two_player", "num_players", "value_scale_model", "reward_scale_model",
    "description", "comment",    "dtype",       "terminal_prob",     "dirichlet_alpha"};

// One number for each action.
JsonLimits Reals(const GoldenTree& golden) {
  return {.largest = kReal.largest, .size = golden.num_actions};
}

// A path from the root.
JsonLimits Actions(const GoldenTree& golden) { return {.low = 0, .high = golden.num_actions - 1}; }

// Refuses keys that are neither `known` nor descriptive.
void RefuseOthers(const JsonReader& json, const std::set<std::string>& known) {
  const std::set<std::string> descriptive(std::begin(kDescriptiveKeys), std::end(kDescriptiveKeys));
  for (const std::string& name : json.Names()) {
    if (known.contains(name) || descriptive.contains(name)) continue;
    json.Fail(absl::StrCat(
        json.Place(name),
        " is an option that this search does not have; it has: ", absl::StrJoin(known, ", ")));
  }
}

void ReadQTransform(const JsonReader& json, SearchConfig* search) {
  std::string name;
  json.Read("name", &name);
  std::set<std::string> known = {"name", "epsilon"};
  if (name == "qtransform_by_parent_and_siblings") {
    search->q_transform = QTransform::kParentAndSiblings;
  } else if (name == "qtransform_by_min_max") {
    search->q_transform = QTransform::kMinMax;
    known = {"name", "min_value", "max_value"};
    json.Read("min_value", &search->min_value, kReal);
    json.Read("max_value", &search->max_value, kReal);
  } else if (name == "qtransform_completed_by_mix_value") {
    search->q_transform = QTransform::kCompletedByMixValue;
    known.insert({"value_scale", "maxvisit_init", "rescale_values", "use_mixed_value"});
  } else if (name == "tree_min_max") {
    search->q_transform = QTransform::kTreeMinMax;
    known = {"name", "min_max_delta", "value_scale", "maxvisit_init", "use_mixed_value"};
    json.MaybeRead("min_max_delta", &search->min_max_delta, kReal);
  } else {
    json.Wrong("name",
               "qtransform_by_parent_and_siblings, qtransform_by_min_max, "
               "qtransform_completed_by_mix_value, tree_min_max");
  }
  RefuseOthers(json, known);
  json.MaybeRead("epsilon", &search->q_epsilon, kReal);
  json.MaybeRead("value_scale", &search->value_scale, kReal);
  json.MaybeRead("maxvisit_init", &search->maxvisit_init, kReal);
  json.MaybeRead("rescale_values", &search->rescale_values);
  json.MaybeRead("use_mixed_value", &search->use_mixed_value);
}

void ReadPuctOptions(const JsonReader& json, GoldenTree* golden) {
  golden->config.policy = SearchPolicy::kPuct;
  json.MaybeRead("pb_c_init", &golden->config.pb_c_init, kReal);
  json.MaybeRead("pb_c_base", &golden->config.pb_c_base, kReal);
  double fraction = 0.0;
  double temperature = 0.0;
  json.MaybeRead("dirichlet_fraction", &fraction, kReal);
  json.MaybeRead("temperature", &temperature, kReal);
  golden->root_has_noise = fraction != 0.0;
  golden->action_is_drawn = temperature > 0.0;
}

void ReadGumbelOptions(const JsonReader& json, GoldenTree* golden) {
  golden->config.policy = SearchPolicy::kGumbel;
  json.MaybeRead("max_num_considered_actions", &golden->config.max_num_considered_actions,
                 {.low = 1, .high = kMaxActions});
  json.MaybeRead("gumbel_scale", &golden->config.gumbel_scale, kReal);
  golden->root_gumbel.assign(static_cast<size_t>(golden->num_actions), 0.0f);
  json.MaybeRead("root_gumbel", &golden->root_gumbel, Reals(*golden));
  if (!json.Has("root_gumbel") && golden->config.gumbel_scale != 0.0) {
    json.Wrong("root_gumbel", "the noise that was added, unless gumbel_scale is 0");
  }
}

void ReadConfig(const JsonReader& json, GoldenTree* golden) {
  SearchConfig& search = golden->config;
  json.MaybeRead("name", &golden->name);
  std::string policy;
  json.Read("policy", &policy);
  json.Read("num_actions", &golden->num_actions, {.low = 1, .high = kMaxActions});
  json.Read("num_simulations", &search.num_simulations, kSimulations);
  json.MaybeRead("max_depth", &search.max_depth, kSimulations);
  std::vector<int32_t> illegal(static_cast<size_t>(golden->num_actions), 0);
  json.MaybeRead("invalid_actions", &illegal, {.low = 0, .high = 1, .size = golden->num_actions});
  for (const int32_t flag : illegal) {
    golden->legal_action_mask.push_back(static_cast<uint8_t>(1 - flag));
  }
  std::set<std::string> known = {"policy",    "num_actions",     "num_simulations",
                                 "max_depth", "invalid_actions", "qtransform"};
  if (policy == "muzero_policy") {
    known.insert({"pb_c_init", "pb_c_base", "dirichlet_fraction", "temperature"});
    RefuseOthers(json, known);
    ReadPuctOptions(json, golden);
  } else if (policy == "gumbel_muzero_policy") {
    known.insert({"max_num_considered_actions", "gumbel_scale", "root_gumbel"});
    RefuseOthers(json, known);
    ReadGumbelOptions(json, golden);
  } else {
    json.Wrong("policy", "muzero_policy, gumbel_muzero_policy");
  }
  ReadQTransform(json.Object("qtransform"), &search);
}

void ReadNodes(const JsonReader& file, GoldenTree* golden) {
  const std::vector<JsonReader> nodes = file.Objects("nodes");
  const int64_t most = golden->config.NodesPerRoot();
  if (nodes.empty() || static_cast<int64_t>(nodes.size()) > most) {
    file.Fail(absl::StrCat("nodes has ", nodes.size(),
                           " entries; allowed: 1 to num_simulations + 1 = ", most));
  }
  std::set<std::vector<int32_t>> paths;
  for (const JsonReader& json : nodes) {
    GoldenNode node;
    json.Read("path", &node.path, Actions(*golden));
    json.Read("prior_logits", &node.prior_logits, Reals(*golden));
    json.Read("value", &node.value, kReal);
    json.Read("reward", &node.reward, kReal);
    json.Read("discount", &node.discount, kReal);
    if (paths.empty() != node.path.empty()) {
      json.Wrong("path", "[] for the first node (the root), and only there");
    }
    if (!paths.insert(node.path).second) json.Wrong("path", "a path that no earlier node has");
    if (!json.status().ok()) return;
    golden->nodes.push_back(std::move(node));
  }
}

GoldenNodeResult ReadNodeResult(const JsonReader& json, const GoldenTree& golden) {
  GoldenNodeResult node;
  json.Read("path", &node.path, Actions(golden));
  json.Read("visit_counts", &node.visit_counts,
            {.low = 0, .high = SearchConfig::kMostSimulations, .size = golden.num_actions});
  json.Read("node_visits", &node.node_visits,
            {.low = 0, .high = SearchConfig::kMostSimulations + 1});
  json.Read("raw_value", &node.raw_value, kReal);
  json.Read("search_value", &node.search_value, kReal);
  json.Read("qvalues", &node.q_values, Reals(golden));
  return node;
}

void ReadExpected(const JsonReader& json, GoldenTree* golden) {
  json.Read("root_visit_counts", &golden->root_visit_counts,
            {.low = 0, .high = SearchConfig::kMostSimulations, .size = golden->num_actions});
  json.Read("root_value", &golden->root_value, kReal);
  json.Read("action", &golden->action, Actions(*golden));
  json.MaybeRead("action_weights", &golden->action_weights, Reals(*golden));
  json.MaybeRead("root_prior_probs", &golden->root_prior_probs, Reals(*golden));
  if (golden->root_has_noise && !json.Has("root_prior_probs")) {
    json.Wrong("root_prior_probs", "the priors with noise, unless dirichlet_fraction is 0");
  }
  json.MaybeRead(
      "considered_visit_sequence", &golden->considered_visits,
      {.low = 0, .high = SearchConfig::kMostSimulations, .size = golden->config.num_simulations});
  if (!json.Has("per_node")) return;
  for (const JsonReader& node : json.Objects("per_node")) {
    if (!json.status().ok()) return;
    golden->per_node.push_back(ReadNodeResult(node, *golden));
  }
}

}  // namespace

absl::StatusOr<GoldenTree> ParseGoldenTree(absl::string_view json) {
  LZ_ASSIGN_OR_RETURN(const JsonReader file, JsonReader::Parse(json, {"golden tree"}));
  GoldenTree golden;
  ReadConfig(file.Object("config"), &golden);
  LZ_RETURN_IF_ERROR(file.status());
  ReadNodes(file, &golden);
  LZ_RETURN_IF_ERROR(file.status());
  ReadExpected(file.Object("expected"), &golden);
  LZ_RETURN_IF_ERROR(file.status());
  return golden;
}

}  // namespace lzero
