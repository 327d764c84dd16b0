#include "lzero/family/stochastic_muzero/stochastic_muzero_inference.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/eager_device.h"
#include "lzero/family/stochastic_muzero/stochastic_muzero_network.h"
#include "lzero/family/tensor_families.h"
#include "lzero/inference/tensor/latent_engine.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

// The rows of a step whose parents are of one kind: their numbers, the rows of their nodes in
// latents(), and the action or outcome between those.
struct EdgeRows {
  std::vector<int64_t> rows, parents, children, edges;

  void Clear() {
    for (std::vector<int64_t>* each : {&rows, &parents, &children, &edges}) each->clear();
  }
};

// Where a step writes, [B] and [B, width].
struct StepOutputs {
  absl::Span<float> values;
  absl::Span<float> logits;
};

class StochasticMuZeroEngine : public LatentEngine {
 public:
  StochasticMuZeroEngine(const EngineOptions& options, EngineDevice engine_device,
                         std::shared_ptr<StochasticMuZeroNetwork> network)
      : LatentEngine(options, std::move(engine_device), network),
        model_(*network),
        is_afterstate_(static_cast<size_t>(options.num_envs * nodes_per_root())) {}

  int num_chance_outcomes() const override {
    return static_cast<int>(options().shape.num_chance_outcomes);
  }

  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    const ScopedTimer timer(&network_time_);
    by_action_.Clear();
    for (size_t i = 0; i < roots.size(); ++i) {
      by_action_.rows.push_back(static_cast<int64_t>(i));
      is_afterstate_[static_cast<size_t>(RowOf(i, kRootNode))] = 0;
    }
    return OnDevice([&]() -> absl::Status {
      LZ_ASSIGN_OR_RETURN(const at::Tensor observations, StageObservations(roots));
      const at::Tensor states = model_.Represent(observations);
      KeepRoots(states);
      return Scatter(by_action_, model_.ValueLogits(states), model_.PolicyLogits(states),
                     {value, prior_logits});
    });
  }

  // An action leads to an afterstate: reward 0, discount 1. A chance outcome leads on: the reward
  // of the step, and its discount.
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    LZ_CHECK(parents.size() == num_roots(), parents.size(), " rows for ", num_roots(), " roots");
    const ScopedTimer timer(&network_time_);
    by_action_.Clear();
    by_chance_.Clear();
    for (size_t i = 0; i < parents.size(); ++i) {
      const int64_t parent = RowOf(i, parents[i]), child = RowOf(i, children[i]);
      const bool from_afterstate = is_afterstate_[static_cast<size_t>(parent)] != 0;
      EdgeRows& rows = from_afterstate ? by_chance_ : by_action_;
      rows.rows.push_back(static_cast<int64_t>(i));
      rows.parents.push_back(parent);
      rows.children.push_back(child);
      rows.edges.push_back(actions[i]);
      is_afterstate_[static_cast<size_t>(child)] = from_afterstate ? 0 : 1;
      rewards[i] = 0.0f;
      discounts[i] = from_afterstate ? static_cast<float>(SignedDiscount()) : 1.0f;
    }
    return OnDevice([&]() -> absl::Status {
      LZ_RETURN_IF_ERROR(RunActions({values, prior_logits}));
      return RunChances(rewards, {values, prior_logits});
    });
  }

 private:
  absl::Status RunActions(const StepOutputs& outputs) {
    if (by_action_.rows.empty()) return absl::OkStatus();
    const at::Tensor before = latents().index_select(0, ToDevice(by_action_.parents));
    const at::Tensor states = model_.Afterstates(before, ToDevice(by_action_.edges));
    latents().index_copy_(0, ToDevice(by_action_.children), states);
    return Scatter(by_action_, model_.AfterstateValueLogits(states), model_.ChanceLogits(states),
                   outputs);
  }

  absl::Status RunChances(absl::Span<float> rewards, const StepOutputs& outputs) {
    if (by_chance_.rows.empty()) return absl::OkStatus();
    const at::Tensor before = latents().index_select(0, ToDevice(by_chance_.parents));
    const at::Tensor states = model_.LatentsAfterChance(before, ToDevice(by_chance_.edges));
    latents().index_copy_(0, ToDevice(by_chance_.children), states);
    numbers_.resize(by_chance_.rows.size());
    LZ_RETURN_IF_ERROR(CopyOut("rewards", model_.DecodeRewards(model_.RewardLogits(states)),
                               absl::MakeSpan(numbers_)));
    for (size_t i = 0; i < numbers_.size(); ++i) rewards[by_chance_.rows[i]] = numbers_[i];
    return Scatter(by_chance_, model_.ValueLogits(states), model_.PolicyLogits(states), outputs);
  }

  // Values of logits [n, support] and logits [n, columns] to the rows' places; -infinity in the
  // columns after them.
  absl::Status Scatter(const EdgeRows& rows, const at::Tensor& value_logits,
                       const at::Tensor& logits, const StepOutputs& outputs) {
    const size_t columns = static_cast<size_t>(logits.size(1)), count = rows.rows.size();
    // Length of a row: the number of actions or of outcomes, whichever is larger.
    const size_t width = static_cast<size_t>(std::max(num_actions(), num_chance_outcomes()));
    numbers_.resize(count * (columns + 1));
    const auto host_values = absl::MakeSpan(numbers_).first(count);
    const auto host_logits = absl::MakeSpan(numbers_).subspan(count);
    LZ_RETURN_IF_ERROR(CopyOut("values", model_.DecodeValues(value_logits), host_values));
    LZ_RETURN_IF_ERROR(CopyOut("logits", logits, host_logits));
    for (size_t i = 0; i < count; ++i) {
      const size_t row = static_cast<size_t>(rows.rows[i]);
      outputs.values[row] = host_values[i];
      float* const to = outputs.logits.data() + row * width;
      std::copy_n(host_logits.data() + i * columns, columns, to);
      std::fill(to + columns, to + width, -std::numeric_limits<float>::infinity());
    }
    return absl::OkStatus();
  }

  // `numbers` [n] as an int64 tensor [n] on the device; they must live as long as the tensor.
  at::Tensor ToDevice(std::vector<int64_t>& numbers) const {
    return at::from_blob(numbers.data(), {static_cast<int64_t>(numbers.size())}, at::kLong)
        .to(latents().device());
  }

  const StochasticMuZeroNetwork& model_;
  std::vector<uint8_t> is_afterstate_;  // [M nodes_per_root], 1: what follows is chance
  EdgeRows by_action_, by_chance_;      // scratch
  std::vector<float> numbers_;          // scratch
};

}  // namespace

absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeStochasticMuZeroEngine(
    const EngineOptions& options) {
  using Made = absl::StatusOr<std::unique_ptr<InferenceEngine>>;
  LZ_ASSIGN_OR_RETURN(const EngineDevice made, MakeEagerDevice(options));
  return MakeOnDevice(made, [&](const EngineDevice& device) -> Made {
    LZ_ASSIGN_OR_RETURN(
        std::shared_ptr<StochasticMuZeroNetwork> network,
        StochasticMuZeroNetwork::Create(options.model, options.shape, /*seed=*/0, device.device()));
    return std::make_unique<StochasticMuZeroEngine>(options, device, std::move(network));
  });
}

absl::StatusOr<int64_t> StochasticMuZeroEngineBytes(const EngineOptions& options) {
  LZ_ASSIGN_OR_RETURN(const auto counted, StochasticMuZeroNetwork::Create(
                                              options.model, options.shape, /*seed=*/0, at::kMeta));
  return LatentEngine::Bytes(options, *counted) + options.num_envs * options.search.NodesPerRoot();
}

const TensorFamily& StochasticMuZeroTensorFamily() {
  static const TensorFamily kFamily = {
      .make_network = StochasticMuZeroNetwork::Create,
      .engine_bytes = [](const auto& options,
                         auto&) { return StochasticMuZeroEngineBytes(options); },
      .make_engine = [](const auto& options,
                        auto&) { return MakeStochasticMuZeroEngine(options); }};
  return kFamily;
}

}  // namespace lzero
