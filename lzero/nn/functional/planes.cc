#include "lzero/nn/functional/planes.h"

#include <optional>
#include <utility>

#include "ATen/Context.h"
#include "lzero/kernels/convolution/normed_convolution.h"
#include "lzero/kernels/convolution/plane_kernels.h"
#include "lzero/kernels/parallel.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"
#include "torch/csrc/autograd/custom_function.h"

namespace lzero {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;
using MaybeTensor = std::optional<at::Tensor>;

thread_local std::optional<bool> rounds_to_tf32;

// 3x3, one cell of zeros around x.
at::Tensor Convolve(const at::Tensor& x, const at::Tensor& weight, int64_t stride) {
  if (!x.is_cuda() || !rounds_to_tf32.has_value() || at::GradMode::is_enabled()) {
    return at::conv2d(x, weight, {}, stride, 1);
  }
  const at::Context& context = at::globalContext();
  return at::_convolution(x, weight, {}, {stride, stride}, {1, 1}, {1, 1}, /*transposed=*/false,
                          {0, 0}, /*groups=*/1, context.benchmarkCuDNN(),
                          context.deterministicCuDNN(), context.userEnabledCuDNN(),
                          *rounds_to_tf32);
}

at::Tensor ChannelsLast(const at::Tensor& planes) {
  return planes.contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor EmptyPlanes(const at::Tensor& like, const PlaneSizes& sizes, int64_t channels) {
  return at::empty({sizes.samples, channels, sizes.height, sizes.width},
                   like.options().memory_format(at::MemoryFormat::ChannelsLast));
}

PlaneSizes SizesOf(const at::Tensor& planes) {
  return {planes.size(0), planes.size(2), planes.size(3)};
}

// x and the addend with channels last, weights contiguous.
NormedConvolutionTask TaskFor(const at::Tensor& x, const NormedConvolutionWeights& weights,
                              int64_t stride, const at::Tensor& addend, bool relu) {
  NormedConvolutionTask task;
  task.shape = {x.size(1), weights.weight.size(0), stride};
  task.planes = SizesOf(x);
  task.x = x.const_data_ptr<float>();
  task.weight = weights.weight.const_data_ptr<float>();
  task.norm_weight = weights.norm_weight.const_data_ptr<float>();
  task.norm_bias = weights.norm_bias.const_data_ptr<float>();
  task.addend = DataOrNull(addend);
  task.relu = relu;
  return task;
}

class NormedConvolutionFunction : public torch::autograd::Function<NormedConvolutionFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const Variable& norm_weight, const Variable& norm_bias,
                          const MaybeTensor& addend, int64_t stride, bool relu) {
    NormedConvolutionTask task =
        TaskFor(x, {weight, norm_weight, norm_bias}, stride, addend.value_or(at::Tensor()), relu);
    const PlaneSizes sizes = task.shape.OutputOf(task.planes);
    at::Tensor y = EmptyPlanes(x, sizes, task.shape.out), units = at::empty_like(y);
    at::Tensor moments = at::empty({2, sizes.samples}, x.options());
    task.units = units.mutable_data_ptr<float>();
    task.moments = moments.mutable_data_ptr<float>();
    RunNormedConvolution(task, y.mutable_data_ptr<float>());
    context->save_for_backward(
        {x, weight, norm_weight, norm_bias, units, moments, relu ? y : at::Tensor()});
    context->saved_data["stride"] = stride;
    context->saved_data["relu"] = relu;
    context->saved_data["adds"] = addend.has_value();
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    CheckFirstDerivative("NormedConvolution");
    const variable_list saved = context->get_saved_variables();
    const bool relu = context->saved_data["relu"].toBool();
    NormedConvolutionTask task = TaskFor(saved[0], {saved[1], saved[2], saved[3]},
                                         context->saved_data["stride"].toInt(), {}, relu);
    task.units = saved[4].mutable_data_ptr<float>();
    task.moments = saved[5].mutable_data_ptr<float>();
    const at::Tensor dy = ChannelsLast(gradients[0]);
    variable_list results(7);  // nothing for stride and ReLU
    NormedConvolutionGradients to;
    if (context->needs_input_grad(0)) {
      results[0] = at::empty_like(saved[0]);
      to.dx = results[0].mutable_data_ptr<float>();
    }
    float** places[] = {&to.weight, &to.norm_weight, &to.norm_bias};
    for (size_t i = 0; i < 3; ++i) {
      results[i + 1] = at::empty_like(saved[i + 1]);
      *places[i] = results[i + 1].mutable_data_ptr<float>();
    }
    if (context->saved_data["adds"].toBool() && context->needs_input_grad(4)) {
      results[4] = relu ? at::empty_like(dy) : dy;
      if (relu) to.daddend = results[4].mutable_data_ptr<float>();
    }
    RunNormedConvolutionBackward(task, relu ? saved[6].const_data_ptr<float>() : nullptr,
                                 dy.const_data_ptr<float>(), to);
    return results;
  }
};

// Shares the samples of x and y among threads: body(planes of x, where they begin in x and in y).
template <class Body>
void ForSamples(const at::Tensor& x, const at::Tensor& y, const Body& body) {
  const PlaneSizes sizes = SizesOf(x);
  const int64_t x_size = x.numel() / sizes.samples, y_size = y.numel() / sizes.samples;
  ParallelFor(0, sizes.samples, 1, [&](int64_t begin, int64_t end) {
    body({end - begin, sizes.height, sizes.width}, begin * x_size, begin * y_size);
  });
}

class HalvedPlanesFunction : public torch::autograd::Function<HalvedPlanesFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& x) {
    const PlaneSizes sizes = SizesOf(x);
    context->saved_data["sizes"] = x.sizes();
    at::Tensor y = EmptyPlanes(x, ConvolutionShape{1, 1, 2}.OutputOf(sizes), x.size(1));
    const auto* const from = x.const_data_ptr<float>();
    auto* const to = y.mutable_data_ptr<float>();
    ForSamples(x, y, [&](const PlaneSizes& some, int64_t x_begin, int64_t y_begin) {
      HalvePlanes(some, x.size(1), from + x_begin, to + y_begin);
    });
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    CheckFirstDerivative("HalvedPlanes");
    const std::vector<int64_t> sizes = context->saved_data["sizes"].toIntVector();
    const at::Tensor dy = ChannelsLast(gradients[0]);
    const PlaneSizes planes = {sizes[0], sizes[2], sizes[3]};
    at::Tensor dx = EmptyPlanes(dy, planes, sizes[1]);
    const auto* const from = dy.const_data_ptr<float>();
    auto* const to = dx.mutable_data_ptr<float>();
    ForSamples(dx, dy, [&](const PlaneSizes& some, int64_t x_begin, int64_t y_begin) {
      HalvePlanesBackward(some, sizes[1], from + y_begin, to + x_begin);
    });
    return {dx};
  }
};

bool IsFused(const at::Tensor& x, const NormedConvolutionWeights& weights,
             const at::Tensor& addend) {
  return CanFuse({x, weights.weight, weights.norm_weight, weights.norm_bias, addend});
}

}  // namespace

ConvolutionPrecision::ConvolutionPrecision(std::optional<bool> rounds)
    : before_(std::exchange(rounds_to_tf32, rounds)) {}

ConvolutionPrecision::~ConvolutionPrecision() { rounds_to_tf32 = before_; }

at::Tensor NormedConvolution(const at::Tensor& x, const NormedConvolutionWeights& weights,
                             int64_t stride, const at::Tensor& addend, bool relu) {
  const NormedConvolutionWeights& w = weights;
  if (!IsFused(x, w, addend)) {
    at::Tensor y = at::group_norm(Convolve(x, w.weight, stride), 1, w.norm_weight, w.norm_bias);
    if (addend.defined()) y = y + addend;
    return relu ? at::relu(y) : y;
  }
  const at::Tensor last = ChannelsLast(x);
  const at::Tensor added = addend.defined() ? ChannelsLast(addend) : addend;
  const NormedConvolutionWeights ready = {w.weight.contiguous(), w.norm_weight.contiguous(),
                                          w.norm_bias.contiguous()};
  if (NeedsGradient({x, w.weight, w.norm_weight, w.norm_bias, addend})) {
    return NormedConvolutionFunction::apply(last, ready.weight, ready.norm_weight, ready.norm_bias,
                                            added.defined() ? MaybeTensor(added) : std::nullopt,
                                            stride, relu);
  }
  const NormedConvolutionTask task = TaskFor(last, ready, stride, added, relu);
  at::Tensor y = EmptyPlanes(x, task.shape.OutputOf(task.planes), task.shape.out);
  RunNormedConvolution(task, y.mutable_data_ptr<float>());
  return y;
}

at::Tensor PlanesOfBytes(const at::Tensor& bytes) {
  const at::Tensor ready = bytes.contiguous();
  at::Tensor planes =
      at::empty(ready.sizes(),
                ready.options().dtype(at::kFloat).memory_format(at::MemoryFormat::ChannelsLast));
  const auto* const from = ready.const_data_ptr<uint8_t>();
  auto* const to = planes.mutable_data_ptr<float>();
  ForSamples(ready, planes, [&](const PlaneSizes& some, int64_t begin, int64_t /*same*/) {
    BytesToPlanes(some, ready.size(1), from + begin, to + begin);
  });
  return planes;
}

at::Tensor HalvedPlanes(const at::Tensor& x) {
  if (CanFuse({x})) return HalvedPlanesFunction::apply(ChannelsLast(x));
  return at::avg_pool2d(x, {2, 2}, {2, 2}, {0, 0}, /*ceil_mode=*/true);
}

}  // namespace lzero
