// Everything this file includes must see the macro: the flavour of the device.
#define LZ_PLAIN_LANES
#include "tests/mcts/plain_search.h"

#include "lzero/base/status_macros.h"
#include "lzero/mcts/device_exchange.h"
#include "lzero/mcts/device_search.h"

namespace lzero {

namespace {

int64_t BlockBytes(int max_roots, int num_actions, const TreeLayout& layout) {
  BlockCursor cursor(nullptr);
  DeviceWork::Over(&cursor, max_roots, num_actions, layout);
  DeviceInputs::Over(&cursor, max_roots, num_actions);
  DeviceResults::Over(&cursor, max_roots, num_actions);
  return cursor.num_bytes() + TreeLayout::kAlignment;
}

}  // namespace

PlainSearch::PlainSearch(const SearchConfig& config, int num_actions, int max_roots)
    : config_(config), rules_(MakeSearchRules(config, num_actions)), max_roots_(max_roots) {
  const TreeLayout layout = TreeLayout::Of(max_roots, config.num_simulations + 1, num_actions);
  // 0xff: whatever is read before it is written is no number.
  memory_.assign(static_cast<size_t>(BlockBytes(max_roots, num_actions, layout)), std::byte{0xff});
  const uintptr_t first = reinterpret_cast<uintptr_t>(memory_.data());
  const size_t skipped = (TreeLayout::kAlignment - first % TreeLayout::kAlignment) % 64;
  BlockCursor cursor(memory_.data() + skipped);
  const DeviceWork work = DeviceWork::Over(&cursor, max_roots, num_actions, layout);
  arrays_ = {rules_.View(),
             TreeView::Over(work.tree_memory, layout, num_actions),
             DeviceInputs::Over(&cursor, max_roots, num_actions),
             DeviceResults::Over(&cursor, max_roots, num_actions),
             work.progress,
             work.scores};
}

absl::Status PlainSearch::Run(InferenceModel& model, absl::Span<const Root> roots,
                              const SearchRequest& request, SearchResult* result) {
  const size_t rows = static_cast<size_t>(max_roots_);
  const size_t num_roots = roots.size();
  const size_t num_logits = num_roots * static_cast<size_t>(arrays_.tree.num_actions);
  std::vector<float> prior_logits(num_logits), values(num_roots), rewards(num_roots),
      discounts(num_roots);
  std::vector<int32_t> parents(rows), actions(rows), children(rows);
  std::vector<NodeId> parent_ids(num_roots), child_ids(num_roots);
  FillDeviceInputs(config_, roots, request, arrays_.inputs);
  LZ_RETURN_IF_ERROR(
      model.InitialInference(roots, absl::MakeSpan(prior_logits), absl::MakeSpan(values)));
  for (int b = 0; b < max_roots_; ++b) {
    BeginRoot(arrays_, {prior_logits.data(), values.data()}, b);
  }
  for (int simulation = 0; simulation < rules_.num_simulations; ++simulation) {
    for (int b = 0; b < max_roots_; ++b) {
      SelectRoot(arrays_, {parents.data(), actions.data(), children.data()}, b);
    }
    for (size_t b = 0; b < num_roots; ++b) {
      parent_ids[b] = NodeId(parents[b]);
      child_ids[b] = NodeId(children[b]);
    }
    LZ_RETURN_IF_ERROR(
        model.RecurrentInference(parent_ids, absl::MakeConstSpan(actions).first(num_roots),
                                 child_ids, absl::MakeSpan(rewards), absl::MakeSpan(discounts),
                                 absl::MakeSpan(values), absl::MakeSpan(prior_logits)));
    for (int b = 0; b < max_roots_; ++b) {
      ExpandRoot(arrays_, {rewards.data(), discounts.data(), values.data(), prior_logits.data()},
                 b);
    }
  }
  for (int b = 0; b < max_roots_; ++b) FinishRoot(arrays_, b);
  return ReadDeviceResults(config_, roots, arrays_.results, result);
}

}  // namespace lzero
