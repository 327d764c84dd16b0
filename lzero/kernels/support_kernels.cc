#include "lzero/kernels/support_kernels.h"

#include <cmath>

#include "lzero/kernels/instruction_set.h"
#include "lzero/kernels/parallel.h"

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
Split SplitBetweenAtoms(float value, const ValueSupport& support) {
  const float position = support.PositionOf(value);
  if (std::isnan(position)) return {0, position};
  const float lower = std::fmin(std::floor(position), static_cast<float>(support.size - 2));
  return {static_cast<int64_t>(lower), position - lower};
}

void TwoHotForward(const TwoHotTask& task, float* losses, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    const float* logits = task.logits + row * task.support.size;
    const ExponentialSum total =
        SumExponentials(logits, task.support.size, [](int64_t, auto, Floats) HWY_ATTR {});
    const float log_sum = total.largest + std::log(total.sum);
    task.log_sums[row] = log_sum;
    const Split split = SplitBetweenAtoms(task.values[row], task.support);
    losses[row] = (1.0f - split.upper_share) * (log_sum - logits[split.lower]) +
                  split.upper_share * (log_sum - logits[split.lower + 1]);
  }
}

void TwoHotBackward(const TwoHotTask& task, const float* dlosses, float* dlogits, int64_t first,
                    int64_t last) {
  for (int64_t row = first; row < last; ++row) {
    const float* logits = task.logits + row * task.support.size;
    float* out = dlogits + row * task.support.size;
    const float factor = dlosses[row];
    const Floats log_sum = Set(task.log_sums[row]);
    ForEachVector(task.support.size, [&](int64_t j, auto lanes) HWY_ATTR {
      const Floats power = Exp(hn::Sub(Load(lanes, logits + j), log_sum));
      Store(lanes, hn::Mul(Set(factor), power), out + j);
    });
    const Split split = SplitBetweenAtoms(task.values[row], task.support);
    out[split.lower] -= factor * (1.0f - split.upper_share);
    out[split.lower + 1] -= factor * split.upper_share;
  }
}

// Means of the atoms, in steps from 0.
void MeanAtoms(int64_t rows, const ValueSupport& support, const float* logits, int64_t stride,
               float* means) {
  const Floats steps = hn::ConvertTo(Tag(), hn::Iota(IntTag(), 0));
  for (int64_t row = 0; row < rows; ++row) {
    Floats weighted = Zero();
    const ExponentialSum total = SumExponentials(
        logits + row * stride, support.size, [&](int64_t j, auto, Floats power) HWY_ATTR {
          const Floats places = hn::Add(steps, Set(static_cast<float>(j) + support.origin));
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

void RunDecode(int64_t rows, const ValueSupport& support, const float* logits, float* values) {
  const int64_t stride = support.size;
  ParallelFor(0, rows, kRowsAThread, [&](int64_t begin, int64_t end) {
    DecodeRows(end - begin, support, logits + begin * stride, stride, values + begin);
  });
}

void DecodeRows(int64_t rows, const ValueSupport& support, const float* logits, int64_t stride,
                float* values) {
  LZ_KERNEL(MeanAtoms)(rows, support, logits, stride, values);
  for (int64_t row = 0; row < rows; ++row) values[row] = support.ValueOf(values[row]);
}

}  // namespace lzero
#endif
