#include "lzero/family/alphazero/alphazero_inference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/memory/memory.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/host_memory.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

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

absl::StatusOr<std::unique_ptr<AlphaZeroInference>> AlphaZeroInference::Create(
    const EngineOptions& options, const EnvFactory& make_env) {
  LZ_ASSIGN_OR_RETURN(EngineDevice device, MakeEngineDevice(options.inference.device));
  return CreateOn(options, make_env, std::move(device));
}

absl::StatusOr<std::unique_ptr<AlphaZeroInference>> AlphaZeroInference::CreateOn(
    const EngineOptions& options, const EnvFactory& make_env, EngineDevice engine_device) {
  return CatchTorch([&]() -> absl::StatusOr<std::unique_ptr<AlphaZeroInference>> {
    const at::Device device = engine_device.device();
    LZ_ASSIGN_OR_RETURN(auto network, AlphaZeroNetwork::Create(options.model, options.shape,
                                                               /*seed=*/0, device));
    network->eval();
    LZ_ASSIGN_OR_RETURN(auto simulator, EnvSimulator::Create(make_env, SimulatorOptions(options)));
    const int64_t rows = options.num_envs;
    LZ_ASSIGN_OR_RETURN(
        Staging observations,
        Staging::Create("observations of positions", {rows, options.shape.observation_size()},
                        at::kFloat, device));
    LZ_ASSIGN_OR_RETURN(Staging policies,
                        Staging::Create("prior logits of positions",
                                        {rows, options.shape.num_actions}, at::kFloat, device));
    LZ_ASSIGN_OR_RETURN(Staging values,
                        Staging::Create("values of positions", {rows}, at::kFloat, device));
    return absl::WrapUnique(new AlphaZeroInference(
        options, {std::move(engine_device), std::move(network), std::move(simulator),
                  std::move(observations), std::move(policies), std::move(values)}));
  });
}

absl::StatusOr<int64_t> AlphaZeroInference::PlannedBytes(const EngineOptions& options,
                                                         const EnvFactory& make_env) {
  LZ_ASSIGN_OR_RETURN(const int64_t num_parameters,
                      AlphaZeroNetwork::CountParameters(options.model, options.shape));
  LZ_ASSIGN_OR_RETURN(const int64_t state_bytes,
                      EnvSimulator::Bytes(make_env, SimulatorOptions(options)));
  // Staged on the device and on the host.
  const int64_t row_size = options.shape.observation_size() + options.shape.num_actions + 1;
  const int64_t num_floats = num_parameters + 2 * options.num_envs * row_size;
  return num_floats * static_cast<int64_t>(sizeof(float)) + state_bytes;
}

AlphaZeroInference::AlphaZeroInference(const EngineOptions& options, Parts parts)
    : options_(options),
      device_(std::move(parts.device)),
      network_(std::move(parts.network)),
      simulator_(std::move(parts.simulator)),
      observations_(std::move(parts.observations)),
      policies_(std::move(parts.policies)),
      values_(std::move(parts.values)) {}

// On a device: wait, then every tensor, then give the memory back.
AlphaZeroInference::~AlphaZeroInference() {
  GraphBackend* backend = device_.backend.get();
  absl::Status unloaded = backend == nullptr ? absl::OkStatus() : backend->Synchronize();
  for (Staging* staging : {&observations_, &policies_, &values_}) {
    *staging = Staging::Wrap("", at::empty({0}));
  }
  network_.reset();
  if (backend != nullptr) unloaded.Update(backend->Unload({}));
  ReleaseTensorMemory();
  if (!unloaded.ok()) LZ_LOG_ERROR("unloading an engine: ", unloaded.message());
}

absl::Status AlphaZeroInference::CopyWeightsFrom(const Network& source) {
  return device_.CopyWeights(source, network_.get(), [] {});
}

absl::Status AlphaZeroInference::Evaluate(absl::Span<const size_t> rows,
                                          absl::Span<float> prior_logits,
                                          absl::Span<float> values) {
  const ScopedTimer timer(&network_time_);
  const size_t num_actions = static_cast<size_t>(options_.shape.num_actions);
  host_policies_.resize(rows.size() * num_actions);
  host_values_.resize(rows.size());
  // The network, on the device.
  LZ_RETURN_IF_ERROR(device_.OnStream([&] {
    return CatchTorch([&]() -> absl::Status {
      const c10::InferenceMode inference;
      const auto num_rows = static_cast<int64_t>(rows.size());
      LZ_RETURN_IF_ERROR(observations_.CopyIn(absl::MakeConstSpan(host_observations_)));
      const at::Tensor latents = network_->Encode(observations_.tensor().narrow(0, 0, num_rows));
      policies_.tensor().narrow(0, 0, num_rows).copy_(network_->PolicyLogits(latents));
      values_.tensor()
          .narrow(0, 0, num_rows)
          .copy_(network_->Decode(network_->ValueLogits(latents)));
      LZ_RETURN_IF_ERROR(policies_.CopyOut(absl::MakeSpan(host_policies_)));
      return values_.CopyOut(absl::MakeSpan(host_values_));
    });
  }));
  // Each result to its row.
  for (size_t i = 0; i < rows.size(); ++i) {
    values[rows[i]] = host_values_[i];
    std::copy_n(host_policies_.begin() + static_cast<ptrdiff_t>(i * num_actions), num_actions,
                prior_logits.begin() + static_cast<ptrdiff_t>(rows[i] * num_actions));
  }
  return absl::OkStatus();
}

absl::Status AlphaZeroInference::InitialInference(absl::Span<const Root> roots,
                                                  absl::Span<float> prior_logits,
                                                  absl::Span<float> value) {
  simulator_->Begin(roots);
  rows_.clear();
  host_observations_.clear();
  const size_t size = static_cast<size_t>(options_.shape.observation_size());
  for (size_t row = 0; row < roots.size(); ++row) {
    const absl::Span<const float> newest = roots[row].observations.last(size);
    host_observations_.insert(host_observations_.end(), newest.begin(), newest.end());
    rows_.push_back(row);
  }
  LZ_RETURN_IF_ERROR(Evaluate(rows_, prior_logits, value));
  const size_t num_actions = static_cast<size_t>(options_.shape.num_actions);
  for (size_t row = 0; row < roots.size(); ++row) {
    MaskIllegal(roots[row].legal_action_mask, &prior_logits[row * num_actions]);
  }
  return absl::OkStatus();
}

absl::Status AlphaZeroInference::RecurrentInference(
    absl::Span<const NodeId> parents, absl::Span<const int32_t> actions,
    absl::Span<const NodeId> children, absl::Span<float> rewards, absl::Span<float> discounts,
    absl::Span<float> values, absl::Span<float> prior_logits) {
  const size_t num_actions = static_cast<size_t>(options_.shape.num_actions);
  // Step the environments.
  {
    const ScopedTimer timer(&simulator_time_);
    LZ_RETURN_IF_ERROR(simulator_->Step(parents, actions, children));
  }
  // Collect the positions that the network must evaluate.
  rows_.clear();
  host_observations_.clear();
  // What no network says anything about: equal logits, of which one is taken and changes nothing.
  std::fill(prior_logits.begin(), prior_logits.end(), 0.0f);
  const absl::Span<const SimulatedStep> steps = simulator_->steps();
  for (size_t row = 0; row < steps.size(); ++row) {
    rewards[row] = steps[row].reward;
    discounts[row] = steps[row].discount;
    values[row] = steps[row].value;
    if (steps[row].position == nullptr) continue;
    const std::vector<float>& observation = steps[row].position->observation;
    host_observations_.insert(host_observations_.end(), observation.begin(), observation.end());
    rows_.push_back(row);
  }
  // Evaluate them, and leave out illegal actions.
  if (rows_.empty()) return absl::OkStatus();
  LZ_RETURN_IF_ERROR(Evaluate(rows_, prior_logits, values));
  for (const size_t row : rows_) {
    const TimeStep& position = *steps[row].position;
    float* const logits = &prior_logits[row * num_actions];
    simulator_->SetValue(row, values[row]);
    if (position.ended()) {
      std::fill_n(logits, num_actions, 0.0f);
    } else {
      MaskIllegal(position.legal_action_mask, logits);
    }
  }
  return absl::OkStatus();
}

}  // namespace lzero
