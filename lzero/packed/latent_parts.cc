#include "lzero/packed/latent_parts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"

namespace lzero::packed {
namespace {

TowerShape StepTower(const ModelConfig& config, const PlaneSizes& planes, int64_t num_inputs) {
  TowerShape tower;
  tower.height = planes.height;
  tower.width = planes.width;
  tower.in = tower.channels = config.encoder_channels;
  for (int64_t i = 0; i < config.encoder_blocks; ++i) {
    tower.blocks.push_back({absl::StrCat("block", i)});
  }
  tower.num_inputs = num_inputs;
  return tower;
}

ChainShape StepChain(const ModelConfig& config) {
  return {2 * config.embed_dim,
          {{"first", config.head_units(), "norm"}, {"last", config.embed_dim}}};
}

ChainShape SqueezeChain(const ModelConfig& config) {
  return {config.encoder_channels, {{"squeeze", kHeadChannels}}};
}

CellLogits CellLogitsOf(const LatentShape& latents, const HeadPart& part) {
  if (part.places.empty()) return {};
  return lzero::CellLogitsOf(part.places, latents.planes->cells());
}

ChainShape HeadChain(const ModelConfig& config, const LatentShape& latents, const HeadPart& part) {
  const int64_t width = config.head_units(), out = part.out;
  if (!latents.planes.has_value()) {
    return {latents.size, {{"first", width, "norm_hidden"}, {"last", out}}, "norm_in"};
  }
  if (!part.places.empty()) {
    const int64_t outputs = CellLogitsOf(latents, part).outputs;
    return {config.encoder_channels, {{"first", width, "norm"}, {"last", outputs}}};
  }
  const int64_t cells = latents.planes->cells() + (config.head_pooling ? 2 : 0);
  return {kHeadChannels * cells, {{"first", width, "norm"}, {"last", out}}};
}

// x [cells, kHeadChannels], then the largest and the mean number of each channel.
void Pool(const float* x, int64_t cells, float* y) {
  float* const largest = std::copy_n(x, cells * kHeadChannels, y);
  float* const mean = std::copy_n(x, kHeadChannels, largest);
  std::copy_n(x, kHeadChannels, mean);
  for (int64_t cell = 1; cell < cells; ++cell) {
    for (int64_t i = 0; i < kHeadChannels; ++i) {
      const float number = x[cell * kHeadChannels + i];
      largest[i] = std::max(largest[i], number);
      mean[i] += number;
    }
  }
  for (int64_t i = 0; i < kHeadChannels; ++i) mean[i] /= static_cast<float>(cells);
}

}  // namespace

LatentStep::LatentStep(const ModelConfig& config, const LatentShape& latents, int64_t num_inputs)
    : size_(latents.size), num_inputs_(num_inputs) {
  if (latents.planes.has_value()) {
    tower_.emplace(StepTower(config, *latents.planes, num_inputs));
  } else {
    chain_.emplace(StepChain(config));
  }
}

int64_t LatentStep::Bytes(const ModelConfig& config, const LatentShape& latents,
                          int64_t num_inputs) {
  if (latents.planes.has_value()) {
    return PlaneTower::Bytes(StepTower(config, *latents.planes, num_inputs));
  }
  return StepChain(config).Bytes() +
         num_inputs * latents.size * static_cast<int64_t>(sizeof(float));
}

int64_t LatentStep::ScratchSize(const ModelConfig& config, const LatentShape& latents,
                                int64_t rows) {
  if (latents.planes.has_value()) {
    return PlaneTower::ScratchSize(StepTower(config, *latents.planes, /*num_inputs=*/1));
  }
  return 2 * rows * latents.size + StepChain(config).ScratchSize(rows);
}

void LatentStep::Load(const WeightSource& weights, const std::string& module,
                      const std::string& table) {
  if (tower_.has_value()) {
    const int64_t cells = tower_->shape().input(1).cells();
    return tower_->Load(weights, module, weights.Get(table, {num_inputs_, cells}));
  }
  const absl::Span<const float> rows = weights.Get(table, {num_inputs_, size_});
  chain_->Load(weights, module);
  table_.assign(rows.begin(), rows.end());
}

void LatentStep::Run(const float* latents, const TowerInputs& inputs, int64_t rows, float* next,
                     float* scratch) const {
  if (tower_.has_value()) return tower_->Run(latents, inputs, rows, next, scratch);
  const int64_t last = num_inputs_ - 1;
  for (int64_t row = 0; row < rows; ++row) {
    float* to = std::copy_n(latents + row * size_, size_, scratch + 2 * row * size_);
    if (inputs.rows != nullptr) {
      std::copy_n(table_.data() + inputs.rows[row] * size_, size_, to);
      continue;
    }
    std::copy_n(table_.data() + last * size_, size_, to);
    for (int64_t i = 0; i < last; ++i) {
      const float* from = table_.data() + i * size_;
      const float factor = inputs.values[row * last + i];
      for (int64_t j = 0; j < size_; ++j) to[j] += factor * from[j];
    }
  }
  chain_->Run(scratch, rows, next, scratch + 2 * rows * size_);
  for (int64_t i = 0; i < rows * size_; ++i) next[i] += latents[i];
}

LatentHead::LatentHead(const ModelConfig& config, const LatentShape& latents, const HeadPart& part)
    : out_(part.out),
      cell_logits_(CellLogitsOf(latents, part)),
      chain_(HeadChain(config, latents, part)) {
  if (!latents.planes.has_value()) return;
  cells_ = latents.planes->cells();
  pools_ = config.head_pooling;
  if (part.places.empty()) squeeze_.emplace(SqueezeChain(config));
}

int64_t LatentHead::Bytes(const ModelConfig& config, const LatentShape& latents,
                          const HeadPart& part) {
  const bool squeezes = latents.planes.has_value() && part.places.empty();
  return HeadChain(config, latents, part).Bytes() + (squeezes ? SqueezeChain(config).Bytes() : 0);
}

int64_t LatentHead::ScratchSize(const ModelConfig& config, const LatentShape& latents,
                                const HeadPart& part, int64_t rows) {
  const ChainShape chain = HeadChain(config, latents, part);
  if (!part.places.empty()) {
    const int64_t cells = latents.planes->cells();
    return cells * chain.layers.back().out + chain.ScratchSize(cells);
  }
  const int64_t copies = config.head_pooling ? 2 : 1;
  return (latents.planes.has_value() ? copies * rows * chain.in : 0) + chain.ScratchSize(rows);
}

void LatentHead::Load(const WeightSource& weights, const std::string& module) {
  if (squeeze_.has_value()) squeeze_->Load(weights, module);
  chain_.Load(weights, module);
}

void LatentHead::Run(const float* latents, int64_t rows, float* y, float* scratch) const {
  if (cell_logits_.outputs > 0) return RunCells(latents, rows, y, scratch);
  if (!squeeze_.has_value()) return chain_.Run(latents, rows, y, scratch);
  const int64_t size = rows * cells_ * kHeadChannels;
  squeeze_->Run(latents, rows * cells_, scratch, nullptr);
  for (int64_t i = 0; i < size; ++i) scratch[i] = scratch[i] < 0.0f ? 0.0f : scratch[i];
  if (!pools_) return chain_.Run(scratch, rows, y, scratch + size);
  float* const pooled = scratch + size;
  for (int64_t row = 0; row < rows; ++row) {
    Pool(scratch + row * cells_ * kHeadChannels, cells_, pooled + row * chain_.in());
  }
  chain_.Run(pooled, rows, y, pooled + rows * chain_.in());
}

void LatentHead::RunCells(const float* latents, int64_t rows, float* y, float* scratch) const {
  const int64_t outputs = cell_logits_.outputs, size = cells_ * outputs;
  for (int64_t row = 0; row < rows; ++row) {
    chain_.Run(latents + row * cells_ * chain_.in(), cells_, scratch, scratch + size);
    float sum = 0.0f;  // of each cell's last output
    for (int64_t i = outputs - 1; i < size; i += outputs) sum += scratch[i];
    for (const int64_t source : cell_logits_.sources) {
      *y++ = source < size ? scratch[source] : sum / static_cast<float>(cells_);
    }
  }
}

}  // namespace lzero::packed
