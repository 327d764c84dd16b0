// The JSON side of golden trees. nlohmann::json is used without exceptions: every access checks
// first and reports the place.
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/status_macros.h"
#include "lzero/mcts/golden/golden.h"
#include "nlohmann/json.hpp"

namespace lzero {

namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxActions = 100'000;
constexpr int64_t kMaxSimulations = 100'000;

// Facts about how a file was made, which a replay does not need: the edges and noise are in it.
constexpr const char* kDescriptiveKeys[] = {
    "name",        "seed",       "discount",    "logit_std",         "value_std",
    "reward_std",  "two_player", "num_players", "value_scale_model", "reward_scale_model",
    "description", "comment",    "dtype",       "terminal_prob",     "dirichlet_alpha"};

absl::Status Wrong(const std::string& where, const Json* found, absl::string_view allowed) {
  std::string text = "nothing";
  if (found != nullptr) {
    text = found->dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 60) text = absl::StrCat(text.substr(0, 57), "...");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("golden tree: ", where, " is ", text, "; allowed: ", allowed));
}

// One object of the file and where it is, for messages. Getters leave `out` alone on an error.
class Reader {
 public:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  std::string Where(const std::string& key) const {
    return where_.empty() ? key : absl::StrCat(where_, ".", key);
  }

  const Json* Find(const std::string& key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  bool Has(const std::string& key) const { return Find(key) != nullptr; }

  absl::Status Int(const std::string& key, int64_t low, int64_t high, int64_t* out) const {
    return IntValue(Find(key), Where(key), low, high, out);
  }

  absl::Status Number(const std::string& key, double* out) const {
    return NumberValue(Find(key), Where(key), out);
  }

  absl::Status Bool(const std::string& key, bool* out) const {
    const Json* found = Find(key);
    if (found == nullptr || !found->is_boolean()) return Wrong(Where(key), found, "true or false");
    *out = found->get<bool>();
    return absl::OkStatus();
  }

  absl::Status Text(const std::string& key, std::string* out) const {
    const Json* found = Find(key);
    if (found == nullptr || !found->is_string()) return Wrong(Where(key), found, "a text");
    *out = found->get<std::string>();
    return absl::OkStatus();
  }

  // An array of exactly `size` elements, or of any size if it is negative.
  absl::Status Array(const std::string& key, int64_t size, const Json** out) const {
    const Json* found = Find(key);
    if (found == nullptr || !found->is_array() ||
        (size >= 0 && static_cast<int64_t>(found->size()) != size)) {
      return Wrong(Where(key), found,
                   size < 0 ? "an array" : absl::StrCat("an array of ", size, " entries"));
    }
    *out = found;
    return absl::OkStatus();
  }

  absl::Status Ints(const std::string& key, int64_t size, int64_t low, int64_t high,
                    std::vector<int32_t>* out) const {
    const Json* array = nullptr;
    LZ_RETURN_IF_ERROR(Array(key, size, &array));
    out->clear();
    for (size_t i = 0; i < array->size(); ++i) {
      int64_t value = 0;
      LZ_RETURN_IF_ERROR(
          IntValue(&(*array)[i], absl::StrCat(Where(key), "[", i, "]"), low, high, &value));
      out->push_back(static_cast<int32_t>(value));
    }
    return absl::OkStatus();
  }

  template <typename T>
  absl::Status Numbers(const std::string& key, int64_t size, std::vector<T>* out) const {
    const Json* array = nullptr;
    LZ_RETURN_IF_ERROR(Array(key, size, &array));
    out->clear();
    for (size_t i = 0; i < array->size(); ++i) {
      double value = 0.0;
      LZ_RETURN_IF_ERROR(NumberValue(&(*array)[i], absl::StrCat(Where(key), "[", i, "]"), &value));
      out->push_back(static_cast<T>(value));
    }
    return absl::OkStatus();
  }

  static absl::Status IntValue(const Json* found, const std::string& where, int64_t low,
                               int64_t high, int64_t* out) {
    // An unsigned number beyond int64 must not wrap around.
    const bool fits = found != nullptr && found->is_number_integer() &&
                      !(found->is_number_unsigned() &&
                        found->get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()});
    if (!fits || found->get<int64_t>() < low || found->get<int64_t>() > high) {
      return Wrong(where, found, absl::StrCat("a whole number, ", low, " to ", high));
    }
    *out = found->get<int64_t>();
    return absl::OkStatus();
  }

  static absl::Status NumberValue(const Json* found, const std::string& where, double* out) {
    constexpr double kLargest = 1e30;
    if (found == nullptr || !found->is_number() || !(std::fabs(found->get<double>()) <= kLargest)) {
      return Wrong(where, found, "a number, at most 1e30 in size");
    }
    *out = found->get<double>();
    return absl::OkStatus();
  }

  // Refuses keys that are neither `known` nor descriptive.
  absl::Status RefuseOthers(const std::set<std::string>& known) const {
    const std::set<std::string> descriptive(std::begin(kDescriptiveKeys),
                                            std::end(kDescriptiveKeys));
    for (auto item = json_.begin(); item != json_.end(); ++item) {
      if (known.count(item.key()) == 0 && descriptive.count(item.key()) == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("golden tree: ", Where(item.key()),
                         " is an option that this search does not have; it "
                         "has: ",
                         absl::StrJoin(known, ", ")));
      }
    }
    return absl::OkStatus();
  }

 private:
  const Json& json_;
  std::string where_;
};

absl::Status FindObject(const Reader& parent, const std::string& key, const Json** out) {
  const Json* found = parent.Find(key);
  if (found == nullptr || !found->is_object()) {
    return Wrong(parent.Where(key), found, "an object");
  }
  *out = found;
  return absl::OkStatus();
}

// Read `key` into `out` if it is there.
absl::Status MaybeNumber(const Reader& reader, const std::string& key, double* out) {
  return reader.Has(key) ? reader.Number(key, out) : absl::OkStatus();
}
absl::Status MaybeBool(const Reader& reader, const std::string& key, bool* out) {
  return reader.Has(key) ? reader.Bool(key, out) : absl::OkStatus();
}

absl::Status ParseQTransform(const Reader& config, SearchConfig* search) {
  const Json* object = nullptr;
  LZ_RETURN_IF_ERROR(FindObject(config, "qtransform", &object));
  const Reader reader(*object, "config.qtransform");
  std::string name;
  LZ_RETURN_IF_ERROR(reader.Text("name", &name));
  const std::set<std::string> completed = {"value_scale", "maxvisit_init", "rescale_values",
                                           "use_mixed_value"};
  std::set<std::string> known = {"name", "epsilon"};
  if (name == "qtransform_by_parent_and_siblings") {
    search->q_transform = QTransform::kParentAndSiblings;
  } else if (name == "qtransform_by_min_max") {
    search->q_transform = QTransform::kMinMax;
    known = {"name", "min_value", "max_value"};
    LZ_RETURN_IF_ERROR(reader.Number("min_value", &search->min_value));
    LZ_RETURN_IF_ERROR(reader.Number("max_value", &search->max_value));
  } else if (name == "qtransform_completed_by_mix_value") {
    search->q_transform = QTransform::kCompletedByMixValue;
    known.insert(completed.begin(), completed.end());
  } else if (name == "tree_min_max") {
    search->q_transform = QTransform::kTreeMinMax;
    known = {"name", "min_max_delta", "value_scale", "maxvisit_init", "use_mixed_value"};
    LZ_RETURN_IF_ERROR(MaybeNumber(reader, "min_max_delta", &search->min_max_delta));
  } else {
    return Wrong("config.qtransform.name", reader.Find("name"),
                 "qtransform_by_parent_and_siblings, qtransform_by_min_max, "
                 "qtransform_completed_by_mix_value, tree_min_max");
  }
  LZ_RETURN_IF_ERROR(reader.RefuseOthers(known));
  LZ_RETURN_IF_ERROR(MaybeNumber(reader, "epsilon", &search->q_epsilon));
  LZ_RETURN_IF_ERROR(MaybeNumber(reader, "value_scale", &search->value_scale));
  LZ_RETURN_IF_ERROR(MaybeNumber(reader, "maxvisit_init", &search->maxvisit_init));
  LZ_RETURN_IF_ERROR(MaybeBool(reader, "rescale_values", &search->rescale_values));
  return MaybeBool(reader, "use_mixed_value", &search->use_mixed_value);
}

absl::Status ParsePuctOptions(const Reader& reader, GoldenTree* golden) {
  golden->config.policy = SearchPolicy::kPuct;
  LZ_RETURN_IF_ERROR(MaybeNumber(reader, "pb_c_init", &golden->config.pb_c_init));
  LZ_RETURN_IF_ERROR(MaybeNumber(reader, "pb_c_base", &golden->config.pb_c_base));
  double fraction = 0.0;
  double temperature = 0.0;
  LZ_RETURN_IF_ERROR(MaybeNumber(reader, "dirichlet_fraction", &fraction));
  LZ_RETURN_IF_ERROR(MaybeNumber(reader, "temperature", &temperature));
  golden->root_has_noise = fraction != 0.0;
  golden->action_is_drawn = temperature > 0.0;
  return absl::OkStatus();
}

absl::Status ParseGumbelOptions(const Reader& reader, GoldenTree* golden) {
  golden->config.policy = SearchPolicy::kGumbel;
  if (reader.Has("max_num_considered_actions")) {
    LZ_RETURN_IF_ERROR(reader.Int("max_num_considered_actions", 1, kMaxActions,
                                  &golden->config.max_num_considered_actions));
  }
  LZ_RETURN_IF_ERROR(MaybeNumber(reader, "gumbel_scale", &golden->config.gumbel_scale));
  golden->root_gumbel.assign(static_cast<size_t>(golden->num_actions), 0.0f);
  if (!reader.Has("root_gumbel")) {
    if (golden->config.gumbel_scale == 0.0) return absl::OkStatus();
    return Wrong("config.root_gumbel", nullptr,
                 "the noise that was added, unless gumbel_scale is 0");
  }
  return reader.Numbers("root_gumbel", golden->num_actions, &golden->root_gumbel);
}

absl::Status ParseConfig(const Json& json, GoldenTree* golden) {
  const Reader reader(json, "config");
  SearchConfig& search = golden->config;
  LZ_RETURN_IF_ERROR(reader.Has("name") ? reader.Text("name", &golden->name) : absl::OkStatus());
  std::string policy;
  LZ_RETURN_IF_ERROR(reader.Text("policy", &policy));
  int64_t num_actions = 0;
  LZ_RETURN_IF_ERROR(reader.Int("num_actions", 1, kMaxActions, &num_actions));
  golden->num_actions = static_cast<int>(num_actions);
  LZ_RETURN_IF_ERROR(reader.Int("num_simulations", 1, kMaxSimulations, &search.num_simulations));
  if (reader.Has("max_depth")) {
    search.max_depth = 0;
    LZ_RETURN_IF_ERROR(reader.Int("max_depth", 1, kMaxSimulations, &*search.max_depth));
  }
  std::vector<int32_t> illegal(static_cast<size_t>(num_actions), 0);
  if (reader.Has("invalid_actions")) {
    LZ_RETURN_IF_ERROR(reader.Ints("invalid_actions", num_actions, 0, 1, &illegal));
  }
  for (const int32_t flag : illegal) {
    golden->legal_action_mask.push_back(static_cast<uint8_t>(1 - flag));
  }
  std::set<std::string> known = {"policy",    "num_actions",     "num_simulations",
                                 "max_depth", "invalid_actions", "qtransform"};
  if (policy == "muzero_policy") {
    known.insert({"pb_c_init", "pb_c_base", "dirichlet_fraction", "temperature"});
    LZ_RETURN_IF_ERROR(reader.RefuseOthers(known));
    LZ_RETURN_IF_ERROR(ParsePuctOptions(reader, golden));
  } else if (policy == "gumbel_muzero_policy") {
    known.insert({"max_num_considered_actions", "gumbel_scale", "root_gumbel"});
    LZ_RETURN_IF_ERROR(reader.RefuseOthers(known));
    LZ_RETURN_IF_ERROR(ParseGumbelOptions(reader, golden));
  } else {
    return Wrong("config.policy", reader.Find("policy"), "muzero_policy, gumbel_muzero_policy");
  }
  return ParseQTransform(reader, &search);
}

absl::Status ParseNodes(const Reader& file, GoldenTree* golden) {
  const Json* array = nullptr;
  LZ_RETURN_IF_ERROR(file.Array("nodes", -1, &array));
  const int64_t most = golden->config.num_simulations + 1;
  if (array->empty() || static_cast<int64_t>(array->size()) > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("golden tree: nodes has ", array->size(),
                     " entries; allowed: 1 to num_simulations + 1 = ", most));
  }
  std::set<std::vector<int32_t>> paths;
  for (size_t i = 0; i < array->size(); ++i) {
    const std::string where = absl::StrCat("nodes[", i, "]");
    if (!(*array)[i].is_object()) return Wrong(where, &(*array)[i], "an object");
    const Reader reader((*array)[i], where);
    GoldenNode node;
    double value = 0.0;
    double reward = 0.0;
    double discount = 0.0;
    LZ_RETURN_IF_ERROR(reader.Ints("path", -1, 0, golden->num_actions - 1, &node.path));
    LZ_RETURN_IF_ERROR(reader.Numbers("prior_logits", golden->num_actions, &node.prior_logits));
    LZ_RETURN_IF_ERROR(reader.Number("value", &value));
    LZ_RETURN_IF_ERROR(reader.Number("reward", &reward));
    LZ_RETURN_IF_ERROR(reader.Number("discount", &discount));
    node.value = static_cast<float>(value);
    node.reward = static_cast<float>(reward);
    node.discount = static_cast<float>(discount);
    if ((i == 0) != node.path.empty()) {
      return Wrong(reader.Where("path"), reader.Find("path"),
                   "[] for the first node (the root), and only there");
    }
    if (!paths.insert(node.path).second) {
      return Wrong(reader.Where("path"), reader.Find("path"), "a path that no earlier node has");
    }
    golden->nodes.push_back(std::move(node));
  }
  return absl::OkStatus();
}

absl::Status ParseNodeResults(const Reader& expected, GoldenTree* golden) {
  if (!expected.Has("per_node")) return absl::OkStatus();
  const Json* array = nullptr;
  LZ_RETURN_IF_ERROR(expected.Array("per_node", -1, &array));
  for (size_t i = 0; i < array->size(); ++i) {
    const std::string where = absl::StrCat("expected.per_node[", i, "]");
    if (!(*array)[i].is_object()) return Wrong(where, &(*array)[i], "an object");
    const Reader reader((*array)[i], where);
    GoldenNodeResult node;
    LZ_RETURN_IF_ERROR(reader.Ints("path", -1, 0, golden->num_actions - 1, &node.path));
    LZ_RETURN_IF_ERROR(
        reader.Ints("visit_counts", golden->num_actions, 0, kMaxSimulations, &node.visit_counts));
    LZ_RETURN_IF_ERROR(reader.Int("node_visits", 0, kMaxSimulations + 1, &node.node_visits));
    LZ_RETURN_IF_ERROR(reader.Number("raw_value", &node.raw_value));
    LZ_RETURN_IF_ERROR(reader.Number("search_value", &node.search_value));
    const Json* q_values = nullptr;
    LZ_RETURN_IF_ERROR(reader.Array("qvalues", golden->num_actions, &q_values));
    for (size_t a = 0; a < q_values->size(); ++a) {
      const Json& q = (*q_values)[a];
      node.q_values.emplace_back();
      if (q.is_null()) continue;
      node.q_values.back() = 0.0;
      LZ_RETURN_IF_ERROR(Reader::NumberValue(&q, absl::StrCat(where, ".qvalues[", a, "]"),
                                             &*node.q_values.back()));
    }
    golden->per_node.push_back(std::move(node));
  }
  return absl::OkStatus();
}

absl::Status ParseExpected(const Json& json, GoldenTree* golden) {
  const Reader reader(json, "expected");
  const int num_actions = golden->num_actions;
  LZ_RETURN_IF_ERROR(reader.Ints("root_visit_counts", num_actions, 0, kMaxSimulations,
                                 &golden->root_visit_counts));
  LZ_RETURN_IF_ERROR(reader.Number("root_value", &golden->root_value));
  LZ_RETURN_IF_ERROR(reader.Int("action", 0, num_actions - 1, &golden->action));
  if (reader.Has("action_weights")) {
    LZ_RETURN_IF_ERROR(reader.Numbers("action_weights", num_actions, &golden->action_weights));
  }
  if (reader.Has("root_prior_probs")) {
    LZ_RETURN_IF_ERROR(reader.Numbers("root_prior_probs", num_actions, &golden->root_prior_probs));
  } else if (golden->root_has_noise) {
    return Wrong("expected.root_prior_probs", nullptr,
                 "the priors with noise, unless dirichlet_fraction is 0");
  }
  if (reader.Has("considered_visit_sequence")) {
    LZ_RETURN_IF_ERROR(reader.Ints("considered_visit_sequence", golden->config.num_simulations, 0,
                                   kMaxSimulations, &golden->considered_visits));
  }
  return ParseNodeResults(reader, golden);
}

}  // namespace

absl::StatusOr<GoldenTree> ParseGoldenTree(absl::string_view json) {
  const Json file = Json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (file.is_discarded()) return absl::InvalidArgumentError("golden tree: not a JSON document");
  if (!file.is_object()) return Wrong("the document", &file, "an object");
  const Reader reader(file, "");
  GoldenTree golden;
  const Json* section = nullptr;
  LZ_RETURN_IF_ERROR(FindObject(reader, "config", &section));
  LZ_RETURN_IF_ERROR(ParseConfig(*section, &golden));
  LZ_RETURN_IF_ERROR(ParseNodes(reader, &golden));
  LZ_RETURN_IF_ERROR(FindObject(reader, "expected", &section));
  LZ_RETURN_IF_ERROR(ParseExpected(*section, &golden));
  return golden;
}

}  // namespace lzero
