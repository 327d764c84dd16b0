#include "lzero/mcts/golden/golden.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/mcts/search.h"

namespace lzero {

namespace {

std::string PathText(const std::vector<int32_t>& path) {
  return absl::StrCat("[", absl::StrJoin(path, ", "), "]");
}

// Answers with what the file says; a path that is not in the file is a NotFound error.
class GoldenModel final : public InferenceModel {
 public:
  explicit GoldenModel(const GoldenTree& golden)
      : golden_(golden), node_of_(static_cast<size_t>(golden.config.num_simulations) + 1, 0) {
    for (size_t i = 0; i < golden.nodes.size(); ++i) index_of_[golden.nodes[i].path] = i;
  }

  int num_actions() const override { return golden_.num_actions; }

  absl::Status InitialInference(absl::Span<const Root> /*roots*/, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    Answer(golden_.nodes[0], prior_logits, &value[0]);
    if (golden_.root_has_noise) {
      for (size_t a = 0; a < prior_logits.size(); ++a) {
        const double prior = golden_.root_prior_probs[a];
        prior_logits[a] = prior > 0.0 ? static_cast<float>(std::log(prior)) : -1e3f;
      }
    }
    return absl::OkStatus();
  }

  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    const size_t parent = node_of_[static_cast<size_t>(parents[0].value)];
    std::vector<int32_t> path = golden_.nodes[parent].path;
    path.push_back(actions[0]);
    const auto found = index_of_.find(path);
    if (found == index_of_.end()) {
      const size_t next = static_cast<size_t>(children[0].value);
      const std::string expected =
          next < golden_.nodes.size() ? PathText(golden_.nodes[next].path) : "no further node";
      return absl::NotFoundError(absl::StrCat("simulation ", next, ": expected ", expected,
                                              ", got ", PathText(path),
                                              ", a path that is not in the file"));
    }
    node_of_[static_cast<size_t>(children[0].value)] = found->second;
    const GoldenNode& node = golden_.nodes[found->second];
    rewards[0] = node.reward;
    discounts[0] = node.discount;
    Answer(node, prior_logits, &values[0]);
    return absl::OkStatus();
  }

 private:
  static void Answer(const GoldenNode& node, absl::Span<float> prior_logits, float* value) {
    std::copy(node.prior_logits.begin(), node.prior_logits.end(), prior_logits.begin());
    *value = node.value;
  }

  const GoldenTree& golden_;
  std::map<std::vector<int32_t>, size_t> index_of_;  // into golden_.nodes
  std::vector<size_t> node_of_;                      // [N] into golden_.nodes
};

// Collects the differences of one replay.
class Comparison {
 public:
  explicit Comparison(GoldenReport* report) : report_(*report) {}

  void Count(const std::string& what, int64_t expected, int64_t got) {
    if (expected == got) return;
    report_.differences.push_back(absl::StrCat(what, ": expected ", expected, ", got ", got));
  }
  void Value(const std::string& what, double expected, double got) {
    // Written so that NaN differs from everything. The model's numbers are float32, so values far
    // from 0 cannot be closer than a few units of its last place.
    const double tolerance = std::max(kGoldenTolerance, 1e-6 * std::fabs(expected));
    if (std::fabs(expected - got) <= tolerance) return;
    report_.differences.push_back(
        absl::StrFormat("%s: expected %.9g, got %.9g", what, expected, got));
  }
  void Note(std::string difference) { report_.differences.push_back(std::move(difference)); }

 private:
  GoldenReport& report_;
};

// Our node at `path` of root 0, or -1.
int FindNode(const Tree& tree, const std::vector<int32_t>& path) {
  int node = 0;
  for (const int32_t action : path) {
    node = tree.child(0, node, action);
    if (node < 0) return -1;
  }
  return node;
}

void CompareNode(const Tree& tree, const GoldenNodeResult& expected, Comparison* comparison) {
  const std::string where = absl::StrCat("node ", PathText(expected.path));
  const int node = FindNode(tree, expected.path);
  if (node < 0) {
    comparison->Note(absl::StrCat(where, ": expected a node, got none"));
    return;
  }
  comparison->Count(where + " node_visits", expected.node_visits, tree.node_visits(0, node));
  comparison->Value(where + " raw_value", expected.raw_value, tree.network_value(0, node));
  comparison->Value(where + " search_value", expected.search_value, tree.value(0, node));
  for (int a = 0; a < tree.num_actions(); ++a) {
    const size_t i = static_cast<size_t>(a);
    const int32_t visits = tree.visit_count(0, node, a);
    comparison->Count(absl::StrCat(where, " visit_counts[", a, "]"), expected.visit_counts[i],
                      visits);
    const std::string q_name = absl::StrCat(where, " qvalues[", a, "]");
    if (expected.q_values[i].has_value() != (visits > 0)) {
      comparison->Note(absl::StrCat(q_name, ": expected ",
                                    visits > 0 ? "null, got a value" : "a value, got null"));
    } else if (visits > 0) {
      comparison->Value(q_name, *expected.q_values[i], tree.q_value(0, node, a));
    }
  }
}

void CompareRoot(const GoldenTree& golden, const Tree& tree, const SearchResult& result,
                 Comparison* comparison) {
  comparison->Value("root root_value", golden.root_value, tree.value(0, 0));
  const auto& visits = result.visit_counts;
  for (size_t a = 0; a < visits.size(); ++a) {
    const std::string at = absl::StrCat("[", a, "]");
    comparison->Count("root root_visit_counts" + at, golden.root_visit_counts[a], visits[a]);
    if (!golden.action_weights.empty() && !golden.action_is_drawn) {
      comparison->Value("root action_weights" + at, golden.action_weights[a],
                        result.action_weights[a]);
    }
    if (!golden.root_prior_probs.empty()) {
      comparison->Value("root root_prior_probs" + at, golden.root_prior_probs[a],
                        tree.prior(0, 0, static_cast<int>(a)));
    }
  }
  // PUCT takes a most visited action, and which of several is not fixed by the file; with a
  // temperature it may have taken any that was visited.
  const int32_t most = *std::max_element(visits.begin(), visits.end());
  const int32_t visits_of_action = visits[static_cast<size_t>(golden.action)];
  const bool puct = golden.config.policy == SearchPolicy::kPuct;
  const bool fits =
      puct && (golden.action_is_drawn ? visits_of_action > 0 : visits_of_action == most);
  if (!fits) comparison->Count("root action", golden.action, result.best_actions[0]);
}

void CompareConsidered(const GoldenTree& golden, Comparison* comparison) {
  if (golden.considered_visits.empty()) return;
  const int64_t num_legal =
      std::count(golden.legal_action_mask.begin(), golden.legal_action_mask.end(), uint8_t{1});
  const auto got = ConsideredVisits(
      static_cast<int>(std::min(num_legal, golden.config.max_num_considered_actions)),
      static_cast<int>(golden.config.num_simulations));
  for (size_t i = 0; i < got.size(); ++i) {
    comparison->Count(absl::StrCat("root considered_visit_sequence[", i, "]"),
                      golden.considered_visits[i], got[i]);
  }
}

}  // namespace

std::unique_ptr<InferenceModel> MakeGoldenModel(const GoldenTree& golden) {
  return std::make_unique<GoldenModel>(golden);
}

absl::StatusOr<GoldenReport> ReplayGoldenTree(const GoldenTree& golden) {
  LZ_ASSIGN_OR_RETURN(const auto search,
                      Search::Create(golden.config, golden.num_actions, /*max_roots=*/1));
  GoldenModel model(golden);
  Root root;
  root.legal_action_mask = golden.legal_action_mask;
  SearchRequest request;
  request.root_gumbel = golden.root_gumbel;
  GoldenReport report;
  Comparison comparison(&report);
  SearchResult result;
  const absl::Status status = search->Run(model, absl::MakeConstSpan(&root, 1), request, &result);
  if (absl::IsNotFound(status)) {
    comparison.Note(std::string(status.message()));
    return report;
  }
  LZ_RETURN_IF_ERROR(status);
  const Tree& tree = search->tree();
  for (int n = 0; n < tree.num_nodes(); ++n) report.num_nodes += tree.IsExpanded(0, n);
  comparison.Count("number of nodes", static_cast<int64_t>(golden.nodes.size()), report.num_nodes);
  CompareRoot(golden, tree, result, &comparison);
  CompareConsidered(golden, &comparison);
  for (const GoldenNodeResult& expected : golden.per_node) {
    CompareNode(tree, expected, &comparison);
  }
  return report;
}

absl::StatusOr<GoldenReport> ReplayGoldenFile(const std::string& path) {
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const auto golden = ParseGoldenTree(text);
  if (!golden.ok()) return Annotate(golden.status(), path);
  const auto report = ReplayGoldenTree(*golden);
  if (!report.ok()) return Annotate(report.status(), path);
  return report;
}

}  // namespace lzero
