#include "lzero/packed/latent_model.h"

#include <algorithm>

#include "lzero/base/check.h"
#include "lzero/kernels/norm_kernels.h"
#include "lzero/kernels/parallel.h"
#include "lzero/kernels/support_kernels.h"

namespace lzero::packed {
namespace {

LatentShape LatentsOf(const LatentModelOptions& options) {
  const ModelConfig& model = options.model;
  LatentShape shape = {std::nullopt, model.embed_dim};
  if (!options.has_planes || model.encoder == EncoderKind::kVector) return shape;
  shape.planes = EncodedPlanes(model, options.observation_shape);
  shape.size = shape.planes->cells() * model.encoder_channels;
  return shape;
}

// Floats of what a thread needs for its rows.
struct ScratchSizes {
  int64_t rows = 0, outputs = 0, parts = 0;
};

ScratchSizes SizesOf(const LatentModelOptions& options) {
  const LatentShape latents = LatentsOf(options);
  ScratchSizes sizes;
  sizes.rows = (options.max_rows + options.num_threads - 1) / options.num_threads;
  sizes.parts = ObservationEncoder::ScratchSize(options.model, options.observation_shape,
                                                latents.planes.has_value(), sizes.rows);
  if (!options.steps.empty()) {
    sizes.parts =
        std::max(sizes.parts, LatentStep::ScratchSize(options.model, latents, sizes.rows));
  }
  for (const HeadPart& head : options.heads) {
    sizes.parts =
        std::max(sizes.parts, LatentHead::ScratchSize(options.model, latents, head, sizes.rows));
    sizes.outputs = std::max(sizes.outputs, head.out);
  }
  sizes.outputs *= sizes.rows;
  return sizes;
}

}  // namespace

LatentModel::LatentModel(const LatentModelOptions& options)
    : options_(options),
      latents_(LatentsOf(options)),
      observation_size_(ObservationSize(options.observation_shape)),
      encoder_(options.model, options.observation_shape, latents_.planes.has_value()),
      team_(options.num_threads) {
  for (const StepPart& step : options.steps) {
    steps_.emplace_back(options.model, latents_, step.num_inputs);
  }
  for (const HeadPart& head : options.heads) heads_.emplace_back(options.model, latents_, head);
  const ScratchSizes sizes = SizesOf(options);
  for (int i = 0; i < options.num_threads; ++i) {
    scratch_.push_back({AlignedArray<float>(sizes.rows * latents_.size),
                        AlignedArray<float>(sizes.rows * latents_.size),
                        AlignedArray<float>(sizes.outputs), AlignedArray<float>(sizes.parts)});
  }
}

int64_t LatentModel::Bytes(const LatentModelOptions& options) {
  const LatentShape latents = LatentsOf(options);
  int64_t bytes = ObservationEncoder::Bytes(options.model, options.observation_shape,
                                            latents.planes.has_value());
  for (const StepPart& step : options.steps) {
    bytes += LatentStep::Bytes(options.model, latents, step.num_inputs);
  }
  for (const HeadPart& head : options.heads) {
    bytes += LatentHead::Bytes(options.model, latents, head);
  }
  const ScratchSizes sizes = SizesOf(options);
  const int64_t floats = 2 * sizes.rows * latents.size + sizes.outputs + sizes.parts;
  return bytes + options.num_threads * floats * static_cast<int64_t>(sizeof(float));
}

int64_t LatentModel::LatentSize(const LatentModelOptions& options) {
  return LatentsOf(options).size;
}

void LatentModel::Load(const WeightSource& weights) {
  encoder_.Load(weights, "encoder");
  for (size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].Load(weights, options_.steps[i].module, options_.steps[i].table);
  }
  for (size_t i = 0; i < heads_.size(); ++i) heads_[i].Load(weights, options_.heads[i].module);
}

template <typename Body>
void LatentModel::RunShared(int64_t rows, const Body& body) {
  LZ_CHECK(rows <= options_.max_rows, rows, " rows of ", options_.max_rows);
  const int64_t share = (rows + options_.num_threads - 1) / options_.num_threads;
  RunOnSpareCores(&team_, options_.num_threads, [&](int part) {
    const int64_t first = std::min(rows, part * share), end = std::min(rows, first + share);
    if (first < end) body(first, end - first, &scratch_[static_cast<size_t>(part)]);
  });
}

void LatentModel::Encode(const float* observations, int64_t rows, float* const* to,
                         absl::Span<const Reading> readings) {
  RunShared(rows, [&](int64_t first, int64_t count, Scratch* scratch) {
    encoder_.Run(observations + first * observation_size_, count, scratch->next.data(),
                 scratch->parts.data());
    Finish(first, count, to, readings, scratch);
  });
}

void LatentModel::Step(size_t step, const float* const* from, const TowerInputs& inputs,
                       int64_t rows, float* const* to, absl::Span<const Reading> readings) {
  const int64_t size = latents_.size, num_inputs = options_.steps[step].num_inputs;
  for (int64_t row = 0; inputs.rows != nullptr && row < rows; ++row) {
    LZ_CHECK(0 <= inputs.rows[row] && inputs.rows[row] < num_inputs, "input ", inputs.rows[row],
             " of ", num_inputs, " inputs");
  }
  RunShared(rows, [&](int64_t first, int64_t count, Scratch* scratch) {
    for (int64_t row = 0; row < count; ++row) {
      std::copy_n(from[first + row], size, scratch->latents.data() + row * size);
    }
    TowerInputs share = inputs;
    if (inputs.rows != nullptr) share.rows += first;
    if (inputs.values != nullptr) share.values += first * (num_inputs - 1);
    steps_[step].Run(scratch->latents.data(), share, count, scratch->next.data(),
                     scratch->parts.data());
    Finish(first, count, to, readings, scratch);
  });
}

void LatentModel::Finish(int64_t first, int64_t count, float* const* to,
                         absl::Span<const Reading> readings, Scratch* scratch) const {
  const int64_t size = latents_.size;
  NormalizeLatents(count, scratch);
  for (int64_t row = 0; row < count && to != nullptr; ++row) {
    std::copy_n(scratch->next.data() + row * size, size, to[first + row]);
  }
  for (const Reading& reading : readings) {
    const LatentHead& head = heads_[reading.head];
    const int64_t out = head.out();
    const std::optional<ValueSupport>& support = options_.heads[reading.head].support;
    if (!support.has_value()) {
      head.Run(scratch->next.data(), count, reading.to + first * out, scratch->parts.data());
      continue;
    }
    head.Run(scratch->next.data(), count, scratch->outputs.data(), scratch->parts.data());
    DecodeRows(count, *support, scratch->outputs.data(), out, reading.to + first);
  }
}

void LatentModel::NormalizeLatents(int64_t count, Scratch* scratch) const {
  const int64_t size = latents_.size, group = options_.model.sim_norm_group;
  float* latents = scratch->next.data();
  if (options_.model.latent_norm == LatentNorm::kLayerNorm) {
    NormTask task;
    task.rows = count;
    task.size = task.x_stride = task.y_stride = size;
    task.x = latents;
    return NormRows(task, latents);
  }
  if (!latents_.planes.has_value()) {
    return RunSimNorm(count, size, group, latents, size, latents, size);
  }
  // The network's groups are neighbours in planes of [channels, cells].
  const int64_t channels = options_.model.encoder_channels, cells = size / channels;
  float* turned = scratch->latents.data();
  for (int64_t row = 0; row < count; ++row) {
    float* const from = latents + row * size;
    for (int64_t i = 0; i < size; ++i) turned[i % channels * cells + i / channels] = from[i];
    RunSimNorm(1, size, group, turned, size, turned, size);
    for (int64_t i = 0; i < size; ++i) from[i] = turned[i % channels * cells + i / channels];
  }
}

}  // namespace lzero::packed
