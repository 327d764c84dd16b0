// The engine of AlphaZero on packed weights.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lzero/base/status_macros.h"
#include "lzero/config/model/encoder_rules.h"
#include "lzero/family/alphazero/packed/alphazero_engine.h"
#include "lzero/family/alphazero/packed/position_cache.h"
#include "lzero/packed/latent_model.h"

namespace lzero {
namespace {

packed::LatentModelOptions PositionModel(const EngineOptions& options) {
  packed::LatentModelOptions model;
  model.model = options.model;
  model.observation_shape = options.shape.observation_shape;
  model.has_planes = options.model.policy_cells;
  model.heads = {{"policy_head", options.shape.num_actions},
                 {"value_head", options.model.value_bins(),
                  SupportOf(options.model.value_range(), options.model.support_size)}};
  if (model.has_planes) model.heads[0].places = options.shape.action_places;
  model.max_rows = options.num_envs;
  model.num_threads = options.inference.threads();
  return model;
}

// Nodes of a few searches of all roots.
int64_t CachedPositions(const EngineOptions& options) {
  return 4 * options.num_envs * options.search.NodesPerRoot();
}

// Positions that it met since the weights changed are not evaluated again: a packed model says the
// same of a position, bit for bit, whatever stands beside it.
class PackedAlphaZero : public AlphaZeroEngine {
 public:
  PackedAlphaZero(const EngineOptions& options, std::unique_ptr<EnvSimulator> simulator)
      : AlphaZeroEngine(options, std::move(simulator)),
        model_(PositionModel(options)),
        known_(CachedPositions(options), options.shape.num_actions + 1) {}

  absl::Status CopyWeightsFrom(const packed::WeightSource& source) override {
    LZ_RETURN_IF_ERROR(source.Prepare());
    model_.Load(source);
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

absl::StatusOr<std::unique_ptr<InferenceEngine>> MakePackedAlphaZero(const EngineOptions& options,
                                                                     const EnvFactory& make_env) {
  LZ_RETURN_IF_ERROR(CheckEncoder(options.model, options.shape.observation_shape));
  LZ_ASSIGN_OR_RETURN(auto simulator, MakeSimulator(options, make_env));
  return std::make_unique<PackedAlphaZero>(options, std::move(simulator));
}

absl::StatusOr<int64_t> PackedAlphaZeroBytes(const EngineOptions& options,
                                             const EnvFactory& make_env) {
  LZ_RETURN_IF_ERROR(CheckEncoder(options.model, options.shape.observation_shape));
  LZ_ASSIGN_OR_RETURN(const int64_t state_bytes, AlphaZeroStateBytes(options, make_env));
  const int64_t row_size = options.shape.observation_size() + options.shape.num_actions + 1;
  return packed::LatentModel::Bytes(PositionModel(options)) + state_bytes +
         PositionCache::Bytes(CachedPositions(options), options.shape.num_actions + 1) +
         options.num_envs * row_size * static_cast<int64_t>(sizeof(float)) +
         PolicyEngine::SamplerBytes(options);
}

}  // namespace lzero
