#include "lzero/family/alphazero/packed/alphazero_engine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

EnvSimulatorOptions SimulatorOptions(const EngineOptions& options) {
  return {options.num_envs, options.search.NodesPerRoot(), options.discount};
}

// Illegal actions of one row [A] of prior logits.
void MaskIllegal(absl::Span<const uint8_t> legal, float* prior_logits) {
  for (size_t a = 0; a < legal.size(); ++a) {
    if (legal[a] == 0) prior_logits[a] = -std::numeric_limits<float>::infinity();
  }
}

}  // namespace

AlphaZeroEngine::AlphaZeroEngine(const EngineOptions& options,
                                 std::unique_ptr<EnvSimulator> simulator)
    : PolicyEngine(options), simulator_(std::move(simulator)) {}

absl::Status AlphaZeroEngine::InitialInference(absl::Span<const Root> roots,
                                               absl::Span<float> prior_logits,
                                               absl::Span<float> value) {
  simulator_->Begin(roots);
  rows_.clear();
  host_observations_.clear();
  const size_t size = static_cast<size_t>(options().shape.observation_size());
  for (size_t row = 0; row < roots.size(); ++row) {
    AddPosition(row, roots[row].observations.last(size));
  }
  const absl::Span<float> policies = PolicyOutputs(roots.size(), prior_logits);
  LZ_RETURN_IF_ERROR(Evaluate(policies, value));
  for (size_t row = 0; row < roots.size(); ++row) {
    MaskIllegal(roots[row].legal_action_mask, &policies[row * width()]);
  }
  FinishRoots(roots, policies, prior_logits);
  return absl::OkStatus();
}

absl::Status AlphaZeroEngine::RecurrentInference(
    absl::Span<const NodeId> parents, absl::Span<const int32_t> actions,
    absl::Span<const NodeId> children, absl::Span<float> rewards, absl::Span<float> discounts,
    absl::Span<float> values, absl::Span<float> prior_logits) {
  // Step the environments.
  {
    const ScopedTimer timer(&copy_time_);
    const absl::Span<const int64_t> indices = ActionsOf(parents, actions).indices;
    actions_.assign(indices.begin(), indices.end());
    LZ_RETURN_IF_ERROR(simulator_->Step(parents, actions_, children));
  }
  // Collect the positions that the network must evaluate.
  rows_.clear();
  host_observations_.clear();
  // What no network says anything about: equal logits, of which one is taken and changes nothing.
  const absl::Span<float> policies = PolicyOutputs(children.size(), prior_logits);
  std::fill(policies.begin(), policies.end(), 0.0f);
  const absl::Span<const SimulatedStep> steps = simulator_->steps();
  for (size_t row = 0; row < steps.size(); ++row) {
    rewards[row] = steps[row].reward;
    discounts[row] = steps[row].discount;
    values[row] = steps[row].value;
    if (steps[row].position != nullptr) AddPosition(row, steps[row].position->observation);
  }
  // Evaluate them, and leave out illegal actions.
  if (!rows_.empty()) LZ_RETURN_IF_ERROR(Evaluate(policies, values));
  for (const size_t row : rows_) {
    const TimeStep& position = *steps[row].position;
    float* const logits = &policies[row * width()];
    simulator_->SetValue(row, values[row]);
    if (position.ended()) {
      std::fill_n(logits, width(), 0.0f);
    } else {
      MaskIllegal(position.legal_action_mask, logits);
    }
  }
  FinishNodes(children, policies, prior_logits);
  return absl::OkStatus();
}

void AlphaZeroEngine::AddPosition(size_t row, absl::Span<const float> observation) {
  host_observations_.insert(host_observations_.end(), observation.begin(), observation.end());
  rows_.push_back(row);
}

absl::Status AlphaZeroEngine::Evaluate(absl::Span<float> policies, absl::Span<float> values) {
  const ScopedTimer timer(&network_time_);
  host_policies_.resize(rows_.size() * width());
  host_values_.resize(rows_.size());
  LZ_RETURN_IF_ERROR(EvaluatePositions(host_observations_, &host_policies_, &host_values_));
  // Each result to its row.
  for (size_t i = 0; i < rows_.size(); ++i) {
    values[rows_[i]] = host_values_[i];
    std::copy_n(host_policies_.data() + i * width(), width(), policies.data() + rows_[i] * width());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<EnvSimulator>> MakeSimulator(const EngineOptions& options,
                                                            const EnvFactory& make_env) {
  return EnvSimulator::Create(make_env, SimulatorOptions(options));
}

absl::StatusOr<int64_t> AlphaZeroStateBytes(const EngineOptions& options,
                                            const EnvFactory& make_env) {
  return EnvSimulator::Bytes(make_env, SimulatorOptions(options));
}

}  // namespace lzero
