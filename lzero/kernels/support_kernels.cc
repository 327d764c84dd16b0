#include "lzero/kernels/support_kernels.h"

#include <cmath>

#include "lzero/kernels/parallel.h"
#include "lzero/kernels/value_transform.h"
#include "lzero/kernels/vector_math.h"

namespace lzero {
namespace {

using simd::Floats;
using simd::kLanes;
using simd::Load;
using simd::Store;

constexpr int64_t kRowsAThread = 128;

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

// exp(x - shift) of a row in registers: the last one overlaps the one before, and what that one had
// is zero here.
template <int Bytes>
struct RowPart {
  int64_t at;  // of the first lane in the row
  Floats<Bytes> powers;
};

template <int Bytes>
LZ_INLINE RowPart<Bytes> ExponentialsFrom(const float* x, int64_t size, int64_t j, float shift) {
  const int64_t at = j + kLanes<Bytes> <= size ? j : size - kLanes<Bytes>;
  const Floats<Bytes> powers = simd::Exp<Bytes>(Load<Bytes>(x + at) - shift);
  return {at, at == j ? powers : powers - simd::KeepFirst<Bytes>(powers, j - at, 0.0f)};
}

// The largest of the row and the sum of exp(x - largest) over it.
struct RowSum {
  float largest, sum;
};

template <int Bytes>
LZ_INLINE RowSum SumExponentials(const float* x, int64_t size) {
  float largest = x[0], sum = 0.0f;
  if (size < kLanes<Bytes>) {
    for (int64_t j = 1; j < size; ++j) largest = x[j] > largest ? x[j] : largest;
    for (int64_t j = 0; j < size; ++j) sum += __builtin_expf(x[j] - largest);
    return {largest, sum};
  }
  Floats<Bytes> lanes = Load<Bytes>(x + size - kLanes<Bytes>);
  for (int64_t j = 0; j + kLanes<Bytes> <= size; j += kLanes<Bytes>) {
    const Floats<Bytes> part = Load<Bytes>(x + j);
    lanes = part > lanes ? part : lanes;
  }
  largest = simd::Max<Bytes>(lanes);
  Floats<Bytes> sums = {};
  for (int64_t j = 0; j < size; j += kLanes<Bytes>) {
    sums += ExponentialsFrom<Bytes>(x, size, j, largest).powers;
  }
  return {largest, simd::Sum<Bytes>(sums)};
}

struct TwoHotForward {
  template <int Bytes>
  LZ_INLINE static void Run(const TwoHotTask* task, float* losses, int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const float* logits = task->logits + row * task->atoms;
      const RowSum total = SumExponentials<Bytes>(logits, task->atoms);
      const float log_sum = total.largest + __builtin_logf(total.sum);
      task->log_sums[row] = log_sum;
      const Split split = SplitBetweenAtoms(task->values[row], task->atoms);
      losses[row] = (1.0f - split.upper_share) * (log_sum - logits[split.lower]) +
                    split.upper_share * (log_sum - logits[split.lower + 1]);
    }
  }
};

struct TwoHotBackward {
  template <int Bytes>
  LZ_INLINE static void Run(const TwoHotTask* task, const float* dlosses, float* dlogits,
                            int64_t first, int64_t last) {
    const int64_t atoms = task->atoms;
    for (int64_t row = first; row < last; ++row) {
      const float* logits = task->logits + row * atoms;
      float* out = dlogits + row * atoms;
      const float factor = dlosses[row], log_sum = task->log_sums[row];
      for (int64_t j = 0; j < atoms && atoms >= kLanes<Bytes>; j += kLanes<Bytes>) {
        const int64_t at = j + kLanes<Bytes> <= atoms ? j : atoms - kLanes<Bytes>;
        Store<Bytes>(factor * simd::Exp<Bytes>(Load<Bytes>(logits + at) - log_sum), out + at);
      }
      for (int64_t j = 0; j < atoms && atoms < kLanes<Bytes>; ++j) {
        out[j] = factor * __builtin_expf(logits[j] - log_sum);
      }
      const Split split = SplitBetweenAtoms(task->values[row], task->atoms);
      out[split.lower] -= factor * (1.0f - split.upper_share);
      out[split.lower + 1] -= factor * split.upper_share;
    }
  }
};

// Means of the atoms, not yet transformed back.
struct DecodeRows {
  template <int Bytes>
  LZ_INLINE static void Run(const float* logits, int64_t atoms, float* means, int64_t first,
                            int64_t last) {
    const float limit = static_cast<float>(atoms - 1) / 2;
    Floats<Bytes> steps = {};
    for (int i = 0; i < static_cast<int>(kLanes<Bytes>); ++i) steps[i] = static_cast<float>(i);
    for (int64_t row = first; row < last; ++row) {
      const float* x = logits + row * atoms;
      const RowSum total = SumExponentials<Bytes>(x, atoms);
      Floats<Bytes> sums = {};
      for (int64_t j = 0; j < atoms && atoms >= kLanes<Bytes>; j += kLanes<Bytes>) {
        const RowPart<Bytes> part = ExponentialsFrom<Bytes>(x, atoms, j, total.largest);
        sums += part.powers * (steps + (static_cast<float>(part.at) - limit));
      }
      float sum = simd::Sum<Bytes>(sums);
      for (int64_t j = 0; j < atoms && atoms < kLanes<Bytes>; ++j) {
        sum += __builtin_expf(x[j] - total.largest) * (static_cast<float>(j) - limit);
      }
      means[row] = sum / total.sum;
    }
  }
};

}  // namespace

void RunTwoHotLoss(const TwoHotTask& task, float* losses) {
  ParallelFor(0, task.rows, kRowsAThread, [&](int64_t begin, int64_t end) {
    simd::RunWidest<TwoHotForward>(&task, losses, begin, end);
  });
}

void RunTwoHotLossBackward(const TwoHotTask& task, const float* dlosses, float* dlogits) {
  ParallelFor(0, task.rows, kRowsAThread, [&](int64_t begin, int64_t end) {
    simd::RunWidest<TwoHotBackward>(&task, dlosses, dlogits, begin, end);
  });
}

void RunDecode(int64_t rows, int64_t atoms, const float* logits, float* values) {
  ParallelFor(0, rows, kRowsAThread, [&](int64_t begin, int64_t end) {
    simd::RunWidest<DecodeRows>(logits, atoms, values, begin, end);
    for (int64_t row = begin; row < end; ++row) values[row] = InverseTransformValue(values[row]);
  });
}

}  // namespace lzero
