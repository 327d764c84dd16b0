#include "lzero/mcts/search.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/base/lanes/one_lane.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/mcts/output_check.h"
#include "lzero/mcts/root_noise.h"
#include "lzero/mcts/sampled_actions.h"
#include "lzero/mcts/tie_key.h"
#include "lzero/mcts/tree/root.h"
#include "lzero/mcts/tree/simulate.h"

namespace lzero {
namespace {

// A function of its own: inside the loop over roots it is up to 6 % slower.
[[gnu::noinline]] Leaf SelectOne(const TreeView& tree, int b, int simulation,
                                 const SelectContext& context) {
  return SelectLeaf(OneLane(), tree, b, simulation, context);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Search>> Search::Create(const SearchConfig& config, int num_actions,
                                                       int max_roots, int num_chance_outcomes) {
  LZ_RETURN_IF_ERROR(CheckSearchConfig(config));
  if (num_actions < 1 || max_roots < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a search needs at least 1 action and 1 root, got ", num_actions, " and ", max_roots));
  }
  if (num_chance_outcomes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a search of ", num_chance_outcomes, " chance outcomes; allowed: 0 or more"));
  }
  const int width = std::max(num_actions, num_chance_outcomes);
  const int64_t bytes = PlannedBytes(config, width, max_roots);
  const int64_t most = MachineMemoryBytes();
  if (bytes > most) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the search trees of ", max_roots, " roots with search.num_simulations ",
        config.num_simulations, " and ", width, " actions need ", SizeText(bytes),
        "; allowed: ", SizeText(most), ". Lower the simulations or the number of environments"));
  }
  return std::unique_ptr<Search>(new Search(config, num_actions, max_roots, num_chance_outcomes));
}

int64_t Search::PlannedBytes(const SearchConfig& config, int64_t num_actions, int64_t max_roots) {
  // In floating point first: the sizes may not even fit into 64 bits.
  constexpr int64_t kMost = int64_t{1} << 60;
  const double estimate = 64.0 * static_cast<double>(num_actions + 16) *
                          static_cast<double>(max_roots) *
                          static_cast<double>(config.NodesPerRoot());
  if (estimate > static_cast<double>(kMost)) return kMost;
  return Tree::NumBytes(max_roots, config.NodesPerRoot(), num_actions);
}

Search::Search(const SearchConfig& config, int num_actions, int max_roots, int num_chance_outcomes)
    : num_actions_(num_actions),
      num_chance_outcomes_(num_chance_outcomes),
      rules_(config, num_actions, /*has_chance=*/num_chance_outcomes > 0),
      tree_(max_roots, static_cast<int>(config.NodesPerRoot()),
            std::max(num_actions, num_chance_outcomes)) {
  const size_t num_roots = static_cast<size_t>(max_roots);
  const size_t width = static_cast<size_t>(tree_.num_actions());
  batch_.parents.resize(num_roots);
  batch_.actions.resize(num_roots);
  batch_.children.resize(num_roots);
  batch_.rewards.resize(num_roots);
  batch_.discounts.resize(num_roots);
  batch_.values.resize(num_roots);
  batch_.prior_logits.resize(num_roots * width);
  batch_.leaves.resize(num_roots);
  batch_.legal.resize(num_roots * width);
  scores_.resize(static_cast<size_t>(tree_.padded_actions()));
  noise_.resize(width);
  envs_.reserve(num_roots);
}

absl::Status Search::Run(InferenceModel& model, absl::Span<const Root> roots,
                         const SearchRequest& request, SearchResult* result) {
  LZ_RETURN_IF_ERROR(CheckSearch(model, roots, request));
  const size_t num_roots = roots.size();
  tree_.Begin(static_cast<int>(num_roots), static_cast<int>(config().NodesPerRoot()));
  depth_sum_ = 0;
  if (roots.empty()) return Finish(roots, request, result);

  const size_t num_logits = num_roots * static_cast<size_t>(tree_.num_actions());
  const auto logits = absl::MakeSpan(batch_.prior_logits).first(num_logits);
  const auto values = absl::MakeSpan(batch_.values).first(num_roots);
  const auto rewards = absl::MakeSpan(batch_.rewards).first(num_roots);
  const auto discounts = absl::MakeSpan(batch_.discounts).first(num_roots);
  const auto leaves = absl::MakeConstSpan(batch_.leaves).first(num_roots);
  const RowEntries entries = {num_actions_, num_chance_outcomes_};
  const ModelOutputs outputs = {rewards, discounts, values, logits};
  model.BeginSearch(request);
  LZ_RETURN_IF_ERROR(model.InitialInference(roots, logits, values));
  LZ_RETURN_IF_ERROR(FindLegalActions(model, roots));
  LZ_RETURN_IF_ERROR(
      CheckRootOutputs(roots, absl::MakeConstSpan(batch_.legal).first(num_logits), outputs));
  for (size_t b = 0; b < num_roots; ++b) PrepareRoot(static_cast<int>(b), roots[b], request);

  for (int simulation = 0; simulation < config().num_simulations; ++simulation) {
    SelectAll(simulation, request);
    LZ_RETURN_IF_ERROR(model.RecurrentInference(
        absl::MakeConstSpan(batch_.parents).first(num_roots),
        absl::MakeConstSpan(batch_.actions).first(num_roots),
        absl::MakeConstSpan(batch_.children).first(num_roots), rewards, discounts, values, logits));
    LZ_RETURN_IF_ERROR(CheckStepOutputs(roots, simulation + 1, leaves, entries, outputs));
    ExpandAndBackUpAll(simulation);
  }
  return Finish(roots, request, result);
}

absl::Status Search::CheckSearch(const InferenceModel& model, absl::Span<const Root> roots,
                                 const SearchRequest& request) {
  if (model.num_actions() != num_actions_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model has ", model.num_actions(), " actions, the search was made for ", num_actions_));
  }
  if (model.num_chance_outcomes() != num_chance_outcomes_) {
    return absl::InvalidArgumentError(absl::StrCat("the model has ", model.num_chance_outcomes(),
                                                   " chance outcomes, the search was made for ",
                                                   num_chance_outcomes_));
  }
  const bool samples = model.sampled_actions() != nullptr;
  return samples ? CheckBatch(roots, request, num_actions_, tree_.max_roots(), &envs_)
                 : CheckRoots(roots, request, num_actions_, tree_.max_roots(), &envs_);
}

absl::Status Search::FindLegalActions(const InferenceModel& model, absl::Span<const Root> roots) {
  const size_t num_actions = static_cast<size_t>(num_actions_);
  const SampledActions* sampled = model.sampled_actions();
  if (sampled != nullptr) LZ_RETURN_IF_ERROR(CheckSampledActions(*sampled, roots, num_actions_));
  // Entries of chance outcomes alone stay 0.
  auto row = batch_.legal.begin();
  for (size_t b = 0; b < roots.size(); ++b) {
    const auto legal =
        sampled == nullptr
            ? roots[b].legal_action_mask
            : absl::MakeConstSpan(sampled->slot_mask).subspan(b * num_actions, num_actions);
    std::copy(legal.begin(), legal.end(), row);
    row += tree_.num_actions();
  }
  return absl::OkStatus();
}

SelectContext Search::ContextOf(int b, int num_actions, const SearchRequest& request) {
  const RootRecord& root = tree_.root(b);
  return {&rules_.view(),
          &root,
          num_actions,
          tree_.padded_actions(),
          request.deterministic_ties,
          HasRootNoise(config(), request),
          scores_.data(),
          TreeMinMaxScale(rules_.view(), root)};
}

void Search::PrepareRoot(int b, const Root& root, const SearchRequest& request) {
  const size_t i = static_cast<size_t>(b);
  const size_t width = static_cast<size_t>(tree_.num_actions());
  const size_t num_actions = static_cast<size_t>(num_actions_);
  const auto legal = absl::MakeConstSpan(batch_.legal).subspan(i * width, width);
  const bool has_noise = HasRootNoise(config(), request);
  if (has_noise) {
    ComputeRootNoise(config(), request, root.env, b, legal.first(num_actions),
                     absl::MakeSpan(noise_).first(num_actions));
  }
  BeginTree(OneLane(), tree_.view(), rules_.view(), b,
            {root.env.value, TieKey(request.seed, request.search_index, root.env.value),
             batch_.values[i], batch_.prior_logits.data() + i * width, legal.data(),
             has_noise ? noise_.data() : nullptr, num_actions_});
}

void Search::SelectAll(int simulation, const SearchRequest& request) {
  for (int b = 0; b < tree_.num_roots(); ++b) {
    const size_t i = static_cast<size_t>(b);
    const Leaf leaf =
        SelectOne(tree_.view(), b, simulation, ContextOf(b, tree_.num_actions(), request));
    batch_.leaves[i] = leaf;
    batch_.parents[i] = NodeId(leaf.parent);
    batch_.actions[i] = leaf.action;
    batch_.children[i] = NodeId(simulation + 1);
    depth_sum_ += leaf.depth;
  }
}

void Search::ExpandAndBackUpAll(int simulation) {
  for (int b = 0; b < tree_.num_roots(); ++b) {
    const size_t i = static_cast<size_t>(b);
    const NodeOutputs outputs = {
        batch_.rewards[i], batch_.discounts[i], batch_.values[i],
        batch_.prior_logits.data() + i * static_cast<size_t>(tree_.num_actions())};
    ExpandAndBackUp(OneLane(), tree_.view(), b, simulation + 1, batch_.leaves[i], outputs);
  }
}

absl::Status Search::Finish(absl::Span<const Root> roots, const SearchRequest& request,
                            SearchResult* result) {
  result->Resize(roots.size(), static_cast<size_t>(num_actions_));
  result->mean_depth = 0.0;
  for (int b = 0; b < result->num_roots; ++b) {
    const int64_t row = int64_t{b} * num_actions_;
    FinishTree(OneLane(), tree_.view(), b, ContextOf(b, num_actions_, request),
               {result->visit_counts.data() + row, result->q_values.data() + row,
                result->action_weights.data() + row, result->root_values.data() + b,
                result->network_values.data() + b, result->best_actions.data() + b});
  }
  LZ_RETURN_IF_ERROR(CheckRootValues(roots, *result));
  if (!roots.empty()) {
    result->mean_depth =
        static_cast<double>(depth_sum_) /
        (static_cast<double>(roots.size()) * static_cast<double>(config().num_simulations));
  }
  return absl::OkStatus();
}

}  // namespace lzero
