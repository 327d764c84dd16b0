#include "lzero/packed/plane_tower.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/kernels/convolution/plane_kernels.h"

namespace lzero::packed {
namespace {

constexpr int64_t kBlockFloats = int64_t{1} << 15;  // of the planes behind the stem of a block

int64_t FloatsOf(const PlaneSizes& planes, int64_t channels) { return planes.cells() * channels; }

int64_t BlockSamples(const TowerShape& shape) {
  return std::max<int64_t>(1, kBlockFloats / FloatsOf(shape.stem_output(1), shape.channels));
}

// y = relu(norm(units) + addend), for units of `planes`.
void NormUnits(const PlaneSizes& planes, const std::vector<float>& weight,
               const std::vector<float>& bias, const float* units, const float* addend, bool relu,
               float* y) {
  PlaneNormTask task;
  task.samples = planes.samples;
  task.cells = planes.height * planes.width;
  task.channels = static_cast<int64_t>(weight.size());
  task.x = units;
  task.weight = weight.data();
  task.bias = bias.data();
  task.addend = addend;
  task.relu = relu;
  NormPlanes(task, y);
}

}  // namespace

PlaneSizes TowerShape::stem_output(int64_t samples) const {
  return ConvolutionShape{in, channels, stem_stride}.OutputOf(input(samples));
}

PlaneSizes TowerShape::output(int64_t samples) const {
  PlaneSizes planes = stem_output(samples);
  for (const TowerBlock& block : blocks) {
    planes = ConvolutionShape{channels, channels, block.stride}.OutputOf(planes);
  }
  return planes;
}

PlaneTower::PlaneTower(const TowerShape& shape) : shape_(shape), layers_(2 * shape.blocks.size()) {
  LZ_CHECK(shape.num_inputs == 0 || (shape.in == shape.channels && shape.stem_stride == 1),
           "a step of ", shape.in, " to ", shape.channels, " channels");
  ResizeLayer({shape.in, shape.channels, shape.stem_stride}, &stem_);
  for (size_t i = 0; i < layers_.size(); ++i) ResizeLayer(ShapeOf(i), &layers_[i]);
  if (shape.num_inputs == 0) return;
  const ConvolutionShape action = {1, shape.channels, 1};
  const PlaneSizes planes = shape.input(shape.num_inputs);
  table_.resize(static_cast<size_t>(FloatsOf(planes, shape.channels)));
  stem_weight_.resize(
      static_cast<size_t>(ConvolutionShape{shape.in, shape.channels}.weight_size()));
  action_weight_.resize(static_cast<size_t>(action.weight_size()));
  action_scratch_.resize(static_cast<size_t>(PackedConvolution::ScratchSize(action, planes)));
}

int64_t PlaneTower::Bytes(const TowerShape& shape) {
  const ConvolutionShape stem = {shape.in, shape.channels, shape.stem_stride};
  const int64_t norm = 2 * shape.channels;
  int64_t bytes = PackedConvolution::Bytes(stem), floats = norm;
  for (const TowerBlock& block : shape.blocks) {
    bytes += PackedConvolution::Bytes({shape.channels, shape.channels, block.stride}) +
             PackedConvolution::Bytes({shape.channels, shape.channels, 1});
    floats += 2 * norm;
  }
  if (shape.num_inputs > 0) {
    const ConvolutionShape action = {1, shape.channels, 1};
    const PlaneSizes planes = shape.input(shape.num_inputs);
    bytes += PackedConvolution::Bytes(action);
    floats += FloatsOf(planes, shape.channels) + stem.weight_size() + action.weight_size() +
              PackedConvolution::ScratchSize(action, planes);
  }
  return bytes + floats * static_cast<int64_t>(sizeof(float));
}

ConvolutionShape PlaneTower::ShapeOf(size_t layer) const {
  return {shape_.channels, shape_.channels, layer % 2 == 0 ? shape_.blocks[layer / 2].stride : 1};
}

void PlaneTower::ResizeLayer(const ConvolutionShape& shape, Layer* layer) {
  layer->convolution.PackZeros(shape);
  layer->norm_weight.resize(static_cast<size_t>(shape.out));
  layer->norm_bias.resize(static_cast<size_t>(shape.out));
}

void PlaneTower::LoadNorm(const WeightSource& weights, const std::string& name, int64_t channels,
                          Layer* layer) {
  const absl::Span<const float> norm_weight = weights.Get(name + ".norm_weight", {channels});
  const absl::Span<const float> norm_bias = weights.Get(name + ".norm_bias", {channels});
  std::copy(norm_weight.begin(), norm_weight.end(), layer->norm_weight.begin());
  std::copy(norm_bias.begin(), norm_bias.end(), layer->norm_bias.begin());
}

void PlaneTower::LoadLayer(const WeightSource& weights, const std::string& name,
                           const ConvolutionShape& shape, Layer* layer) {
  const auto weight = weights.Get(name + ".weight", {shape.out, shape.in, 3, 3});
  layer->convolution.Pack(shape, weight.data());
  LoadNorm(weights, name, shape.out, layer);
}

void PlaneTower::Load(const WeightSource& weights, const std::string& module,
                      absl::Span<const float> table) {
  const int64_t channels = shape_.channels;
  const std::string stem = module + ".stem";
  if (shape_.num_inputs > 0) {
    LoadTable(weights.Get(stem + ".weight", {channels, shape_.in + 1, 3, 3}), table);
    LoadNorm(weights, stem, channels, &stem_);
  } else {
    LoadLayer(weights, stem, {shape_.in, channels, shape_.stem_stride}, &stem_);
  }
  for (size_t i = 0; i < layers_.size(); ++i) {
    const TowerBlock& block = shape_.blocks[i / 2];
    LoadLayer(weights, absl::StrCat(module, ".", block.name, i % 2 == 0 ? "a" : "b"), ShapeOf(i),
              &layers_[i]);
  }
}

// A convolution is linear: what the action's plane adds to it is the same for all samples.
void PlaneTower::LoadTable(absl::Span<const float> stem_weight, absl::Span<const float> table) {
  const PlaneSizes planes = shape_.input(shape_.num_inputs);
  const int64_t in = 9 * shape_.in;
  for (int64_t i = 0; i < shape_.channels; ++i) {
    const float* row = stem_weight.data() + i * (in + 9);
    std::copy_n(row, in, stem_weight_.data() + i * in);
    std::copy_n(row + in, 9, action_weight_.data() + i * 9);
  }
  stem_.convolution.Pack({shape_.in, shape_.channels, 1}, stem_weight_.data());
  action_convolution_.Pack({1, shape_.channels, 1}, action_weight_.data());
  action_convolution_.Run(planes, table.data(), table_.data(), action_scratch_.data());
}

int64_t PlaneTower::ScratchSize(const TowerShape& shape) {
  int64_t convolution =
      PackedConvolution::ScratchSize({shape.in, shape.channels, shape.stem_stride}, shape.input(1));
  for (const int64_t stride : {1, 2}) {
    convolution =
        std::max(convolution, PackedConvolution::ScratchSize(
                                  {shape.channels, shape.channels, stride}, shape.stem_output(1)));
  }
  return 4 * FloatsOf(shape.stem_output(BlockSamples(shape)), shape.channels) + convolution;
}

void PlaneTower::Run(const float* x, const TowerInputs& inputs, int64_t samples, float* y,
                     float* scratch) const {
  const int64_t block = BlockSamples(shape_);
  const int64_t size = FloatsOf(shape_.stem_output(block), shape_.channels);
  const Buffers buffers = {scratch, scratch + size, scratch + 2 * size, scratch + 3 * size,
                           scratch + 4 * size};
  for (int64_t first = 0; first < samples; first += block) {
    TowerInputs of_block = inputs;
    if (inputs.rows != nullptr) of_block.rows += first;
    if (inputs.values != nullptr) of_block.values += first * (shape_.num_inputs - 1);
    RunBlock(x + FloatsOf(shape_.input(first), shape_.in), of_block,
             std::min(block, samples - first), y + FloatsOf(shape_.output(first), shape_.channels),
             buffers);
  }
}

void PlaneTower::RunBlock(const float* x, const TowerInputs& inputs, int64_t samples, float* y,
                          const Buffers& buffers) const {
  const bool is_step = shape_.num_inputs > 0;
  PlaneSizes planes = shape_.stem_output(samples);
  stem_.convolution.Run(shape_.input(samples), x, buffers.units, buffers.convolution);
  if (is_step) AddInputs(inputs, samples, buffers.units);
  float* now = layers_.empty() ? y : buffers.x;
  NormUnits(planes, stem_.norm_weight, stem_.norm_bias, buffers.units, is_step ? x : nullptr,
            !is_step || !layers_.empty(), now);
  for (size_t i = 0; i < layers_.size(); i += 2) {
    const Layer &first = layers_[i], &second = layers_[i + 1];
    const bool is_last = i + 2 == layers_.size();
    const float* same = now;
    first.convolution.Run(planes, now, buffers.units, buffers.convolution);
    if (first.convolution.shape().stride == 2) {
      HalvePlanes(planes, shape_.channels, now, buffers.halved);
      same = buffers.halved;
      planes = first.convolution.shape().OutputOf(planes);
    }
    NormUnits(planes, first.norm_weight, first.norm_bias, buffers.units, nullptr, /*relu=*/true,
              buffers.hidden);
    second.convolution.Run(planes, buffers.hidden, buffers.units, buffers.convolution);
    now = is_last ? y : buffers.x;
    NormUnits(planes, second.norm_weight, second.norm_bias, buffers.units, same,
              !is_step || !is_last, now);
  }
}

void PlaneTower::AddInputs(const TowerInputs& inputs, int64_t samples, float* units) const {
  const int64_t size = FloatsOf(shape_.input(1), shape_.channels), last = shape_.num_inputs - 1;
  const auto add = [&](int64_t row, float factor, float* to) {
    const float* from = table_.data() + row * size;
    for (int64_t i = 0; i < size; ++i) to[i] += factor * from[i];
  };
  for (int64_t sample = 0; sample < samples; ++sample) {
    float* to = units + sample * size;
    if (inputs.rows != nullptr) {
      add(inputs.rows[sample], 1.0f, to);
      continue;
    }
    for (int64_t row = 0; row < last; ++row) add(row, inputs.values[sample * last + row], to);
    add(last, 1.0f, to);
  }
}

}  // namespace lzero::packed
