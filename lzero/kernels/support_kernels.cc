#include "lzero/kernels/support_kernels.h"

#include <cmath>

#include "lzero/kernels/instruction_set.h"
#include "lzero/kernels/parallel.h"
#include "lzero/kernels/value_transform.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lzero/kernels/support_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::HWY_NAMESPACE {
namespace {

// Two neighbours of the atoms and the share of the upper one.
struct Split {
  int64_t lower;
  float upper_share;
};

// As in nn/support.cc: the exact maximum is share 1 of the last atom; a NaN keeps a valid atom
// and makes the share NaN.
Split SplitBetweenAtoms(float value, int64_t atoms) {
  const float limit = static_cast<float>(atoms - 1) / 2;
  float position = TransformValue(value);
  position = position < -limit ? -limit : position;
  position = (position > limit ? limit : position) + limit;
  if (std::isnan(position)) return {0, position};
  const float lower = std::fmin(std::floor(position), static_cast<float>(atoms - 2));
  return {static_cast<int64_t>(lower), position - lower};
}

void TwoHotForward(const TwoHotTask& task, float* losses, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    const float* logits = task.logits + row * task.atoms;
    const ExponentialSum total =
        SumExponentials(logits, task.atoms, [](int64_t, auto, Floats) HWY_ATTR {});
    const float log_sum = total.largest + std::log(total.sum);
    task.log_sums[row] = log_sum;
    const Split split = SplitBetweenAtoms(task.values[row], task.atoms);
    losses[row] = (1.0f - split.upper_share) * (log_sum - logits[split.lower]) +
                  split.upper_share * (log_sum - logits[split.lower + 1]);
  }
}

void TwoHotBackward(const TwoHotTask& task, const float* dlosses, float* dlogits, int64_t first,
                    int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    const float* logits = task.logits + row * task.atoms;
    float* out = dlogits + row * task.atoms;
    const float factor = dlosses[row];
    const Floats log_sum = Set(task.log_sums[row]);
    ForEachVector(task.atoms, [&](int64_t j, auto lanes) HWY_ATTR {
      const Floats power = Exp(hn::Sub(Load(lanes, logits + j), log_sum));
      Store(lanes, hn::Mul(Set(factor), power), out + j);
    });
    const Split split = SplitBetweenAtoms(task.values[row], task.atoms);
    out[split.lower] -= factor * (1.0f - split.upper_share);
    out[split.lower + 1] -= factor * split.upper_share;
  }
}

// Means of the atoms, not yet transformed back.
void MeanAtoms(int64_t rows, int64_t atoms, const float* logits, int64_t stride, float* means) {
  const Floats steps = hn::ConvertTo(Tag(), hn::Iota(IntTag(), 0));
  const float limit = static_cast<float>(atoms - 1) / 2;
  for (int64_t row = 0; row < rows; ++row) {
    Floats weighted = Zero();
    const ExponentialSum total =
        SumExponentials(logits + row * stride, atoms, [&](int64_t j, auto, Floats power) HWY_ATTR {
          const Floats places = hn::Add(steps, Set(static_cast<float>(j) - limit));
          weighted = hn::MulAdd(power, places, weighted);
        });
    means[row] = Sum(weighted) / total.sum;
  }
}

}  // namespace
}  // namespace lzero::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lzero {
namespace {

constexpr int64_t kRowsAThread = 128;

}  // namespace

void RunTwoHotLoss(const TwoHotTask& task, float* losses) {
  ParallelFor(0, task.rows, kRowsAThread, [&](int64_t begin, int64_t end) {
    LZ_KERNEL(TwoHotForward)(task, losses, begin, end);
  });
}

void RunTwoHotLossBackward(const TwoHotTask& task, const float* dlosses, float* dlogits) {
  ParallelFor(0, task.rows, kRowsAThread, [&](int64_t begin, int64_t end) {
    LZ_KERNEL(TwoHotBackward)(task, dlosses, dlogits, begin, end);
  });
}

void RunDecode(int64_t rows, int64_t atoms, const float* logits, float* values) {
  ParallelFor(0, rows, kRowsAThread, [&](int64_t begin, int64_t end) {
    ComputeMeanAtoms(end - begin, atoms, logits + begin * atoms, atoms, values + begin);
    for (int64_t row = begin; row < end; ++row) values[row] = InverseTransformValue(values[row]);
  });
}

void ComputeMeanAtoms(int64_t rows, int64_t atoms, const float* logits, int64_t stride,
                      float* means) {
  LZ_KERNEL(MeanAtoms)(rows, atoms, logits, stride, means);
}

}  // namespace lzero
#endif
