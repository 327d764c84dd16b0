#include "lzero/family/stochastic_muzero/stochastic_muzero_inference.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/memory/memory.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {

absl::StatusOr<std::unique_ptr<StochasticMuZeroInference>> StochasticMuZeroInference::Create(
    const EngineOptions& options) {
  return CatchTorch([&]() -> absl::StatusOr<std::unique_ptr<StochasticMuZeroInference>> {
    LZ_ASSIGN_OR_RETURN(EngineDevice device, MakeEngineDevice(options.inference.device));
    LZ_ASSIGN_OR_RETURN(
        std::shared_ptr<StochasticMuZeroNetwork> network,
        StochasticMuZeroNetwork::Create(options.model, options.shape, /*seed=*/0, device.device()));
    LZ_ASSIGN_OR_RETURN(Staging observations, MakeObservations(options, device.device()));
    return absl::WrapUnique(new StochasticMuZeroInference(
        options, std::move(device), std::move(network), std::move(observations)));
  });
}

absl::StatusOr<int64_t> StochasticMuZeroInference::PlannedBytes(const EngineOptions& options) {
  LZ_ASSIGN_OR_RETURN(const int64_t num_parameters,
                      StochasticMuZeroNetwork::CountParameters(options.model, options.shape));
  LZ_ASSIGN_OR_RETURN(const LatentParts parts,
                      LatentParts::Create(options.model, options.shape.observation_shape));
  return BytesFor(options, num_parameters, parts.latent_size()) +
         options.num_envs * options.search.NodesPerRoot();
}

StochasticMuZeroInference::StochasticMuZeroInference(
    const EngineOptions& options, EngineDevice device,
    std::shared_ptr<StochasticMuZeroNetwork> network, Staging observations)
    : LatentEngine(options, std::move(device), network, network->latent_size(),
                   std::move(observations)),
      model_(network),
      is_afterstate_(static_cast<size_t>(options.num_envs * options.search.NodesPerRoot())) {}

StochasticMuZeroInference::~StochasticMuZeroInference() = default;

void StochasticMuZeroInference::Rows::Clear() {
  rows.clear();
  parents.clear();
  children.clear();
  edges.clear();
}

size_t StochasticMuZeroInference::width() const {
  return static_cast<size_t>(std::max(num_actions(), num_chance_outcomes()));
}

at::Tensor StochasticMuZeroInference::ToDevice(std::vector<int64_t>& numbers) const {
  return at::from_blob(numbers.data(), {static_cast<int64_t>(numbers.size())}, at::kLong)
      .to(latents().device());
}

absl::Status StochasticMuZeroInference::Scatter(const Rows& rows, const at::Tensor& values,
                                                const at::Tensor& logits, const Outputs& outputs) {
  const size_t columns = static_cast<size_t>(logits.size(1)), count = rows.rows.size();
  numbers_.resize(count * (columns + 1));
  const auto host_values = absl::MakeSpan(numbers_).first(count);
  const auto host_logits = absl::MakeSpan(numbers_).subspan(count);
  LZ_RETURN_IF_ERROR(CopyOut("values", values, host_values));
  LZ_RETURN_IF_ERROR(CopyOut("logits", logits, host_logits));
  for (size_t i = 0; i < count; ++i) {
    const size_t row = static_cast<size_t>(rows.rows[i]);
    outputs.values[row] = host_values[i];
    float* const to = outputs.logits.data() + row * width();
    std::copy_n(host_logits.data() + i * columns, columns, to);
    std::fill(to + columns, to + width(), -std::numeric_limits<float>::infinity());
  }
  return absl::OkStatus();
}

absl::Status StochasticMuZeroInference::InitialInference(absl::Span<const Root> roots,
                                                         absl::Span<float> prior_logits,
                                                         absl::Span<float> value) {
  const ScopedTimer timer(&network_time_);
  by_action_.Clear();
  for (size_t i = 0; i < roots.size(); ++i) {
    by_action_.rows.push_back(static_cast<int64_t>(i));
    is_afterstate_[static_cast<size_t>(RowOf(i, kRootNode))] = 0;
  }
  return OnDevice([&]() -> absl::Status {
    LZ_ASSIGN_OR_RETURN(const at::Tensor observations, StageObservations(roots));
    const at::Tensor states = model_->Represent(observations);
    KeepRoots(states);
    return Scatter(by_action_, model_->Decode(model_->ValueLogits(states)),
                   model_->PolicyLogits(states), {value, prior_logits});
  });
}

absl::Status StochasticMuZeroInference::RunActions(const Outputs& outputs) {
  if (by_action_.rows.empty()) return absl::OkStatus();
  const at::Tensor before = latents().index_select(0, ToDevice(by_action_.parents));
  const at::Tensor states = model_->Afterstates(before, ToDevice(by_action_.edges));
  latents().index_copy_(0, ToDevice(by_action_.children), states);
  return Scatter(by_action_, model_->Decode(model_->AfterstateValueLogits(states)),
                 model_->ChanceLogits(states), outputs);
}

absl::Status StochasticMuZeroInference::RunChances(absl::Span<float> rewards,
                                                   const Outputs& outputs) {
  if (by_chance_.rows.empty()) return absl::OkStatus();
  const at::Tensor before = latents().index_select(0, ToDevice(by_chance_.parents));
  const at::Tensor states = model_->LatentsAfterChance(before, ToDevice(by_chance_.edges));
  latents().index_copy_(0, ToDevice(by_chance_.children), states);
  const at::Tensor reward = model_->Decode(model_->RewardLogits(states));
  numbers_.resize(by_chance_.rows.size());
  LZ_RETURN_IF_ERROR(CopyOut("rewards", reward, absl::MakeSpan(numbers_)));
  for (size_t i = 0; i < numbers_.size(); ++i) rewards[by_chance_.rows[i]] = numbers_[i];
  return Scatter(by_chance_, model_->Decode(model_->ValueLogits(states)),
                 model_->PolicyLogits(states), outputs);
}

absl::Status StochasticMuZeroInference::RecurrentInference(
    absl::Span<const NodeId> parents, absl::Span<const int32_t> actions,
    absl::Span<const NodeId> children, absl::Span<float> rewards, absl::Span<float> discounts,
    absl::Span<float> values, absl::Span<float> prior_logits) {
  LZ_CHECK(parents.size() == num_roots(), parents.size(), " rows for ", num_roots(), " roots");
  const ScopedTimer timer(&network_time_);
  by_action_.Clear();
  by_chance_.Clear();
  for (size_t i = 0; i < parents.size(); ++i) {
    const int64_t parent = RowOf(i, parents[i]), child = RowOf(i, children[i]);
    const bool from_afterstate = is_afterstate_[static_cast<size_t>(parent)] != 0;
    Rows& rows = from_afterstate ? by_chance_ : by_action_;
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

}  // namespace lzero
