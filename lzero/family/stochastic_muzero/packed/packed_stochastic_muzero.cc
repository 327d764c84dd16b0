#include "lzero/family/stochastic_muzero/packed/packed_stochastic_muzero.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "lzero/base/status_macros.h"
#include "lzero/config/model/encoder_rules.h"
#include "lzero/inference/packed_latent_engine.h"

namespace lzero {
namespace {

// Its steps and heads behind those of every latent network.
constexpr size_t kChanceStep = kActionStep + 1;
constexpr size_t kChanceHead = kValueHead + 1, kAfterstateValueHead = kChanceHead + 1;

packed::LatentModelOptions StochasticModelParts(const EngineOptions& options) {
  packed::LatentModelOptions model = LatentModelParts(options);
  model.steps.push_back({"chance_step", "chance_table", options.shape.num_chance_outcomes});
  AddHead("chance_head", options.shape.num_chance_outcomes, &model);
  AddScalarHead("afterstate_value_head",
                SupportOf(options.model.value_range(), options.model.support_size), &model);
  return model;
}

class PackedStochasticMuZero : public PackedLatentEngine {
 public:
  explicit PackedStochasticMuZero(const EngineOptions& options)
      : PackedLatentEngine(options, StochasticModelParts(options)),
        is_afterstate_(static_cast<size_t>(options.num_envs * nodes_per_root())) {}

  int num_chance_outcomes() const override {
    return static_cast<int>(options().shape.num_chance_outcomes);
  }

  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    const ScopedTimer timer(&network_time_);
    rows_.clear();
    for (size_t i = 0; i < roots.size(); ++i) {
      rows_.push_back(i);
      is_afterstate_[IndexOf(i, kRootNode)] = 0;
    }
    Fit(num_actions());
    EncodeRoots(roots, {{kPolicyHead, logits_.data()}, {kValueHead, value.data()}});
    Spread(num_actions(), prior_logits);
    return absl::OkStatus();
  }

  // An action leads to an afterstate: reward 0, discount 1. A chance outcome leads on: the reward
  // of the step, and its discount.
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    const ScopedTimer timer(&network_time_);
    std::fill(rewards.begin(), rewards.end(), 0.0f);
    from_afterstate_.clear();
    for (size_t i = 0; i < parents.size(); ++i) {
      from_afterstate_.push_back(is_afterstate_[IndexOf(i, parents[i])]);
    }
    for (const bool by_chance : {false, true}) {
      rows_.clear();
      inputs_.clear();
      ClearRows();
      for (size_t i = 0; i < parents.size(); ++i) {
        if ((from_afterstate_[i] != 0) != by_chance) continue;
        AddRow(i, parents[i], children[i]);
        rows_.push_back(i);
        inputs_.push_back(actions[i]);
        is_afterstate_[IndexOf(i, children[i])] = by_chance ? 0 : 1;
        discounts[i] = by_chance ? static_cast<float>(SignedDiscount()) : 1.0f;
      }
      if (!rows_.empty()) RunRows(by_chance, rewards, values, prior_logits);
    }
    return absl::OkStatus();
  }

 private:
  void RunRows(bool by_chance, absl::Span<float> rewards, absl::Span<float> values,
               absl::Span<float> prior_logits) {
    const int columns = by_chance ? num_actions() : num_chance_outcomes();
    Fit(columns);
    const packed::TowerInputs inputs = {inputs_.data(), nullptr};
    if (by_chance) {
      RunStep(kChanceStep, inputs,
              {{kRewardHead, rewards_.data()},
               {kPolicyHead, logits_.data()},
               {kValueHead, values_.data()}});
    } else {
      RunStep(kActionStep, inputs,
              {{kChanceHead, logits_.data()}, {kAfterstateValueHead, values_.data()}});
    }
    for (size_t i = 0; i < rows_.size(); ++i) {
      values[rows_[i]] = values_[i];
      if (by_chance) rewards[rows_[i]] = rewards_[i];
    }
    Spread(columns, prior_logits);
  }

  void Fit(int columns) {
    logits_.resize(rows_.size() * static_cast<size_t>(columns));
    values_.resize(rows_.size());
    rewards_.resize(rows_.size());
  }

  // logits_ [rows, columns] to the rows' places; -infinity in the columns after them.
  void Spread(int columns, absl::Span<float> prior_logits) const {
    const auto width = static_cast<size_t>(std::max(num_actions(), num_chance_outcomes()));
    const auto count = static_cast<size_t>(columns);
    for (size_t i = 0; i < rows_.size(); ++i) {
      float* const to = prior_logits.data() + rows_[i] * width;
      std::copy_n(logits_.data() + i * count, count, to);
      std::fill(to + count, to + width, -std::numeric_limits<float>::infinity());
    }
  }

  std::vector<uint8_t> is_afterstate_;    // [nodes], 1: what follows is chance
  std::vector<uint8_t> from_afterstate_;  // scratch, of one step
  std::vector<size_t> rows_;
  std::vector<int64_t> inputs_;
  std::vector<float> logits_, values_, rewards_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<InferenceEngine>> MakePackedStochasticMuZero(
    const EngineOptions& options) {
  LZ_RETURN_IF_ERROR(CheckEncoder(options.model, options.shape.observation_shape));
  return std::make_unique<PackedStochasticMuZero>(options);
}

absl::StatusOr<int64_t> PackedStochasticMuZeroBytes(const EngineOptions& options) {
  LZ_RETURN_IF_ERROR(CheckEncoder(options.model, options.shape.observation_shape));
  return PackedLatentEngine::Bytes(options, StochasticModelParts(options)) +
         options.num_envs * options.search.NodesPerRoot();
}

}  // namespace lzero
