#include "lzero/family/alphazero/alphazero_inference.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "lzero/base/status_macros.h"
#include "lzero/family/alphazero/alphazero_network.h"
#include "lzero/family/alphazero/env_simulator.h"
#include "lzero/family/alphazero/position_cache.h"
#include "lzero/family/eager_family.h"
#include "lzero/inference/network_weights.h"
#include "lzero/inference/policy_engine.h"
#include "lzero/nn/encoder.h"
#include "lzero/packed/latent_model.h"
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

// What the eager and the packed one share: all but the network. Its copy_seconds are those
// inside the environments.
class AlphaZeroEngine : public PolicyEngine {
 public:
  AlphaZeroEngine(const EngineOptions& options, EngineDevice engine_device,
                  std::shared_ptr<Network> network, std::unique_ptr<EnvSimulator> simulator)
      : PolicyEngine(options, std::move(engine_device), std::move(network)),
        simulator_(std::move(simulator)) {}

  bool NeedsState() const override { return true; }

  // Reads the newest observation of each root alone; -infinity where the root's mask says illegal.
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    simulator_->Begin(roots);
    rows_.clear();
    host_observations_.clear();
    const size_t size = static_cast<size_t>(options().shape.observation_size());
    for (size_t row = 0; row < roots.size(); ++row) {
      AddPosition(row, roots[row].observations.last(size));
    }
    LZ_RETURN_IF_ERROR(Evaluate(prior_logits, value));
    for (size_t row = 0; row < roots.size(); ++row) {
      MaskIllegal(roots[row].legal_action_mask, &prior_logits[row * width()]);
    }
    return absl::OkStatus();
  }

  // Errors as EnvSimulator::Step.
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    // Step the environments.
    {
      const ScopedTimer timer(&copy_time_);
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
      if (steps[row].position != nullptr) AddPosition(row, steps[row].position->observation);
    }
    // Evaluate them, and leave out illegal actions.
    if (rows_.empty()) return absl::OkStatus();
    LZ_RETURN_IF_ERROR(Evaluate(prior_logits, values));
    for (const size_t row : rows_) {
      const TimeStep& position = *steps[row].position;
      float* const logits = &prior_logits[row * width()];
      simulator_->SetValue(row, values[row]);
      if (position.ended()) {
        std::fill_n(logits, width(), 0.0f);
      } else {
        MaskIllegal(position.legal_action_mask, logits);
      }
    }
    return absl::OkStatus();
  }

 protected:
  size_t width() const { return static_cast<size_t>(options().shape.num_actions); }
  // Prior logits [n, A] and values [n] of n positions [n, observation size].
  virtual absl::Status EvaluatePositions(const std::vector<float>& observations,
                                         std::vector<float>* policies,
                                         std::vector<float>* values) = 0;

 private:
  void AddPosition(size_t row, absl::Span<const float> observation) {
    host_observations_.insert(host_observations_.end(), observation.begin(), observation.end());
    rows_.push_back(row);
  }

  // Evaluates host_observations_, a row for each of rows_, and writes to those of the outputs,
  // prior_logits [B, A] and values [B].
  absl::Status Evaluate(absl::Span<float> prior_logits, absl::Span<float> values) {
    const ScopedTimer timer(&network_time_);
    host_policies_.resize(rows_.size() * width());
    host_values_.resize(rows_.size());
    LZ_RETURN_IF_ERROR(EvaluatePositions(host_observations_, &host_policies_, &host_values_));
    // Each result to its row.
    for (size_t i = 0; i < rows_.size(); ++i) {
      values[rows_[i]] = host_values_[i];
      std::copy_n(host_policies_.data() + i * width(), width(),
                  prior_logits.data() + rows_[i] * width());
    }
    return absl::OkStatus();
  }

  std::unique_ptr<EnvSimulator> simulator_;
  std::vector<size_t> rows_;
  std::vector<float> host_observations_, host_policies_, host_values_;
};

class EagerAlphaZeroEngine : public AlphaZeroEngine {
 public:
  EagerAlphaZeroEngine(const EngineOptions& options, EngineDevice engine_device,
                       std::shared_ptr<AlphaZeroNetwork> network,
                       std::unique_ptr<EnvSimulator> simulator)
      : AlphaZeroEngine(options, std::move(engine_device), network, std::move(simulator)),
        model_(*network),
        observations_(Zeros("observations of positions",
                            {options.num_envs, options.shape.observation_size()})),
        policies_(
            Zeros("prior logits of positions", {options.num_envs, options.shape.num_actions})),
        values_(Zeros("values of positions", {options.num_envs})) {}

  ~EagerAlphaZeroEngine() override {
    Unload([this] {
      for (Staging* staging : {&observations_, &policies_, &values_}) {
        *staging = Staging::Wrap("", at::empty({0}));
      }
    });
  }

 private:
  Staging Zeros(const char* name, at::IntArrayRef shape) const {
    return Staging::Wrap(name, at::zeros(shape, at::TensorOptions().device(model_.device())));
  }

  absl::Status EvaluatePositions(const std::vector<float>& observations,
                                 std::vector<float>* policies,
                                 std::vector<float>* values) override {
    return device().OnStream([&] {
      return CatchTorch([&]() -> absl::Status {
        const c10::InferenceMode inference;
        const auto first_rows = [&](const Staging& staging) {
          return staging.tensor().narrow(0, 0, static_cast<int64_t>(values->size()));
        };
        LZ_RETURN_IF_ERROR(observations_.CopyInAsync(absl::MakeConstSpan(observations)));
        const at::Tensor latents = model_.Encode(first_rows(observations_));
        first_rows(policies_).copy_(model_.PolicyLogits(latents));
        first_rows(values_).copy_(model_.Decode(model_.ValueLogits(latents)));
        LZ_RETURN_IF_ERROR(policies_.CopyOut(absl::MakeSpan(*policies)));
        return values_.CopyOut(absl::MakeSpan(*values));
      });
    });
  }

  const AlphaZeroNetwork& model_;
  Staging observations_;  // [num_envs, observation size]
  Staging policies_;      // [num_envs, A] logits
  Staging values_;        // [num_envs]
};

packed::LatentModelOptions PositionModel(const EngineOptions& options) {
  packed::LatentModelOptions model;
  model.model = options.model;
  model.observation_shape = options.shape.observation_shape;
  model.heads = {{"policy_head", options.shape.num_actions},
                 {"value_head", options.model.support_size, /*is_scalar=*/true}};
  model.max_rows = options.num_envs;
  model.num_threads = static_cast<int>(options.inference.num_threads);
  return model;
}

// Nodes of a few searches of all roots.
int64_t CachedPositions(const EngineOptions& options) {
  return 4 * options.num_envs * options.search.NodesPerRoot();
}

// Positions that it met since the weights changed are not evaluated again: a packed model says the
// same of a position, bit for bit, whatever stands beside it.
class PackedAlphaZeroEngine : public AlphaZeroEngine {
 public:
  PackedAlphaZeroEngine(const EngineOptions& options, std::unique_ptr<EnvSimulator> simulator)
      : AlphaZeroEngine(options, EngineDevice(), nullptr, std::move(simulator)),
        model_(PositionModel(options)),
        known_(CachedPositions(options), options.shape.num_actions + 1) {}

  absl::Status CopyWeightsFrom(const Network& source) override {
    LZ_RETURN_IF_ERROR(WaitForWeights(source));
    model_.Load(NetworkWeights(source));
    known_.Clear();
    return absl::OkStatus();
  }
  std::string runner_name() const override { return "packed"; }

 private:
  absl::Status EvaluatePositions(const std::vector<float>& observations,
                                 std::vector<float>* policies,
                                 std::vector<float>* values) override {
    const size_t size = static_cast<size_t>(options().shape.observation_size()), said = width() + 1;
    unknown_rows_.clear();
    unknown_keys_.clear();
    unknown_observations_.clear();
    for (size_t row = 0; row < values->size(); ++row) {
      const auto observation = absl::MakeConstSpan(observations).subspan(row * size, size);
      const PositionCache::Key key = PositionCache::KeyOf(observation);
      if (const float* numbers = known_.Find(key); numbers != nullptr) {
        std::copy_n(numbers, width(), policies->data() + row * width());
        (*values)[row] = numbers[width()];
        continue;
      }
      unknown_rows_.push_back(row);
      unknown_keys_.push_back(key);
      unknown_observations_.insert(unknown_observations_.end(), observation.begin(),
                                   observation.end());
    }
    if (unknown_rows_.empty()) return absl::OkStatus();
    unknown_policies_.resize(unknown_rows_.size() * width());
    unknown_values_.resize(unknown_rows_.size());
    model_.Encode(unknown_observations_.data(), static_cast<int64_t>(unknown_rows_.size()), nullptr,
                  {{0, unknown_policies_.data()}, {1, unknown_values_.data()}});
    numbers_.resize(said);
    for (size_t i = 0; i < unknown_rows_.size(); ++i) {
      std::copy_n(unknown_policies_.data() + i * width(), width(), numbers_.data());
      numbers_[width()] = unknown_values_[i];
      known_.Keep(unknown_keys_[i], numbers_);
      std::copy_n(numbers_.data(), width(), policies->data() + unknown_rows_[i] * width());
      (*values)[unknown_rows_[i]] = unknown_values_[i];
    }
    return absl::OkStatus();
  }

  packed::LatentModel model_;
  PositionCache known_;
  // Scratch: rows of this call that are not known.
  std::vector<size_t> unknown_rows_;
  std::vector<PositionCache::Key> unknown_keys_;
  std::vector<float> unknown_observations_, unknown_policies_, unknown_values_, numbers_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeAlphaZeroEngine(const EngineOptions& options,
                                                                     const EnvFactory& make_env) {
  using Made = absl::StatusOr<std::unique_ptr<InferenceEngine>>;
  if (RunsPacked(options.inference)) {
    LZ_RETURN_IF_ERROR(CheckEncoder(options.model, options.shape.observation_shape));
    LZ_ASSIGN_OR_RETURN(auto simulator, EnvSimulator::Create(make_env, SimulatorOptions(options)));
    return std::make_unique<PackedAlphaZeroEngine>(options, std::move(simulator));
  }
  LZ_ASSIGN_OR_RETURN(const EngineDevice made, MakeEagerDevice(options));
  return MakeOnDevice(made, [&](const EngineDevice& device) -> Made {
    LZ_ASSIGN_OR_RETURN(
        std::shared_ptr<AlphaZeroNetwork> network,
        AlphaZeroNetwork::Create(options.model, options.shape, /*seed=*/0, device.device()));
    network->eval();
    LZ_ASSIGN_OR_RETURN(auto simulator, EnvSimulator::Create(make_env, SimulatorOptions(options)));
    return std::make_unique<EagerAlphaZeroEngine>(options, device, std::move(network),
                                                  std::move(simulator));
  });
}

absl::StatusOr<int64_t> AlphaZeroStateBytes(const EngineOptions& options,
                                            const EnvFactory& make_env) {
  return EnvSimulator::Bytes(make_env, SimulatorOptions(options));
}

absl::StatusOr<int64_t> AlphaZeroEngineBytes(const EngineOptions& options,
                                             const EnvFactory& make_env) {
  LZ_ASSIGN_OR_RETURN(const auto counted, AlphaZeroNetwork::Create(options.model, options.shape,
                                                                   /*seed=*/0, at::kMeta));
  LZ_ASSIGN_OR_RETURN(const int64_t state_bytes, AlphaZeroStateBytes(options, make_env));
  const int64_t row_size = options.shape.observation_size() + options.shape.num_actions + 1;
  if (RunsPacked(options.inference)) {
    return packed::LatentModel::Bytes(PositionModel(options)) + state_bytes +
           PositionCache::Bytes(CachedPositions(options), options.shape.num_actions + 1) +
           options.num_envs * row_size * static_cast<int64_t>(sizeof(float));
  }
  // Staged on the device and on the host.
  const int64_t num_floats = counted->num_parameters() + 2 * options.num_envs * row_size;
  return num_floats * static_cast<int64_t>(sizeof(float)) + state_bytes;
}

}  // namespace lzero
