#include "lzero/mcts/search.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"

namespace lzero {

namespace {

// The sum of x * 0 is 0 unless an x is infinite or not a number.
bool AllFinite(absl::Span<const float> numbers) {
  Float4 sums = Fill(0.0f);
  size_t i = 0;
  for (; i + kLanes <= numbers.size(); i += kLanes) sums += Load(numbers.data() + i) * 0.0f;
  float sum = SumLanes(sums)[0];
  for (; i < numbers.size(); ++i) sum += numbers[i] * 0.0f;
  return sum == 0.0f;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Search>> Search::Create(const SearchConfig& config, int num_actions,
                                                       int max_roots) {
  LZ_RETURN_IF_ERROR(CheckSearchConfig(config));
  if (num_actions < 1 || max_roots < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a search needs at least 1 action and 1 root, got ", num_actions, " and ", max_roots));
  }
  const int64_t bytes = PlannedBytes(config.num_simulations, num_actions, max_roots);
  const int64_t most = MachineMemoryBytes();
  if (bytes > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("the search trees of ", max_roots, " roots with search.num_simulations ",
                     config.num_simulations, " and ", num_actions, " actions need ", bytes >> 20,
                     " MiB; allowed: ", most >> 20,
                     " MiB. Lower the simulations or the number of environments"));
  }
  return std::unique_ptr<Search>(new Search(config, num_actions, max_roots));
}

int64_t Search::PlannedBytes(int64_t num_simulations, int64_t num_actions, int64_t max_roots) {
  // In floating point first: the sizes may not even fit into 64 bits.
  constexpr int64_t kMost = int64_t{1} << 60;
  const double estimate = 64.0 * static_cast<double>(num_actions + 16) *
                          static_cast<double>(max_roots) * static_cast<double>(num_simulations + 1);
  if (estimate > static_cast<double>(kMost)) return kMost;
  return Tree::NumBytes(max_roots, num_simulations + 1, num_actions);
}

Search::Search(const SearchConfig& config, int num_actions, int max_roots)
    : config_(config),
      rules_(MakeSearchRules(config, num_actions)),
      rules_view_(rules_.View()),
      walk_(ChooseWalk(rules_, num_actions, BestInstructions())),
      climb_(ChooseClimb(BestInstructions())),
      tree_(max_roots, static_cast<int>(config.num_simulations) + 1, num_actions) {
  const size_t num_roots = static_cast<size_t>(max_roots);
  batch_.parents.resize(num_roots);
  batch_.actions.resize(num_roots);
  batch_.children.resize(num_roots);
  batch_.rewards.resize(num_roots);
  batch_.discounts.resize(num_roots);
  batch_.values.resize(num_roots);
  batch_.prior_logits.resize(num_roots * static_cast<size_t>(num_actions));
  batch_.leaves.resize(num_roots);
  scores_.resize(static_cast<size_t>(kMaxWalks * tree_.padded_actions()));
  noise_.resize(static_cast<size_t>(num_actions));
  envs_.reserve(num_roots);
}

absl::Status Search::Run(InferenceModel& model, absl::Span<const Root> roots,
                         const SearchRequest& request, SearchResult* result) {
  if (model.num_actions() != tree_.num_actions()) {
    return absl::InvalidArgumentError(absl::StrCat("the model has ", model.num_actions(),
                                                   " actions, the search was made for ",
                                                   tree_.num_actions()));
  }
  LZ_RETURN_IF_ERROR(CheckRoots(roots, request, tree_.num_actions(), tree_.max_roots(), &envs_));
  if (model.RunsSearches() && !roots.empty()) {
    return model.RunSearch(config_, roots, request, result);
  }
  const size_t num_roots = roots.size();
  tree_.Begin(static_cast<int>(num_roots), rules_.num_simulations + 1);
  depth_sum_ = 0;
  if (roots.empty()) return Finish(roots, request, result);

  const size_t num_logits = num_roots * static_cast<size_t>(tree_.num_actions());
  const auto logits = absl::MakeSpan(batch_.prior_logits).first(num_logits);
  const auto values = absl::MakeSpan(batch_.values).first(num_roots);
  const auto rewards = absl::MakeSpan(batch_.rewards).first(num_roots);
  const auto discounts = absl::MakeSpan(batch_.discounts).first(num_roots);
  std::fill(rewards.begin(), rewards.end(), 0.0f);
  std::fill(discounts.begin(), discounts.end(), 0.0f);
  LZ_RETURN_IF_ERROR(model.InitialInference(roots, logits, values));
  LZ_RETURN_IF_ERROR(CheckOutputs(roots, 0));
  for (size_t b = 0; b < num_roots; ++b) PrepareRoot(static_cast<int>(b), roots[b], request);

  for (int simulation = 0; simulation < rules_.num_simulations; ++simulation) {
    SelectAll(simulation, request);
    LZ_RETURN_IF_ERROR(model.RecurrentInference(
        absl::MakeConstSpan(batch_.parents).first(num_roots),
        absl::MakeConstSpan(batch_.actions).first(num_roots),
        absl::MakeConstSpan(batch_.children).first(num_roots), rewards, discounts, values, logits));
    LZ_RETURN_IF_ERROR(CheckOutputs(roots, simulation + 1));
    ExpandAll(simulation);
  }
  return Finish(roots, request, result);
}

absl::Status Search::CheckOutputs(absl::Span<const Root> roots, int node) const {
  const size_t num_roots = roots.size();
  const size_t num_actions = static_cast<size_t>(tree_.num_actions());
  const struct {
    const char* name;
    const std::vector<float>& numbers;
    size_t width;
  } outputs[] = {{"reward", batch_.rewards, 1},
                 {"discount", batch_.discounts, 1},
                 {"value", batch_.values, 1},
                 {"prior logit", batch_.prior_logits, num_actions}};
  for (const auto& output : outputs) {
    const auto numbers = absl::MakeConstSpan(output.numbers).first(num_roots * output.width);
    if (AllFinite(numbers)) [[likely]]
      continue;
    size_t i = 0;
    while (std::isfinite(numbers[i])) ++i;
    const size_t b = i / output.width;
    return absl::InternalError(
        absl::StrCat("the model returned ", output.name, " ", numbers[i],
                     output.width == 1 ? "" : absl::StrCat(" of action ", i % output.width),
                     " for environment ", roots[b].env.value, ", node ", node,
                     node == 0 ? " (the root)"
                               : absl::StrCat(" (parent ", batch_.parents[b].value, ", action ",
                                              batch_.actions[b], ")"),
                     "; only finite numbers can be searched"));
  }
  return absl::OkStatus();
}

SelectContext Search::ContextOf(int b, const SearchRequest& request) {
  const RootRecord& root = tree_.root(b);
  return {&rules_view_,
          &root,
          tree_.num_actions(),
          tree_.padded_actions(),
          request.deterministic_ties,
          scores_.data(),
          TreeMinMaxScale(rules_, root)};
}

void Search::SelectAll(int simulation, const SearchRequest& request) {
  depth_sum_ += walk_({tree_.view(), &rules_view_, tree_.num_roots(), simulation,
                       request.deterministic_ties, scores_.data(), batch_.leaves.data(),
                       batch_.parents.data(), batch_.actions.data(), batch_.children.data()});
}

void Search::ExpandAll(int simulation) {
  climb_({tree_.view(), tree_.num_roots(), simulation, batch_.leaves.data(), batch_.rewards.data(),
          batch_.discounts.data(), batch_.values.data(), batch_.prior_logits.data()});
}

}  // namespace lzero
