#include "lzero/nn/support_kernels.h"

#include <cmath>

#include "ATen/Parallel.h"
#include "lzero/base/value_transform.h"
#include "lzero/nn/vector_math.h"

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

// As in value_transform.cc: the exact maximum is share 1 of the last atom; a NaN keeps a valid atom
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

// The largest of the row and the sum of exp(x - largest) over it.
struct RowSum {
  float largest, sum;
};

template <int Bytes>
LZ_INLINE RowSum SumExponentials(const float* x, int64_t size) {
  const int64_t whole = size - size % kLanes<Bytes>;
  float largest = x[0];
  Floats<Bytes> lanes = Floats<Bytes>{} + largest;
  for (int64_t j = 0; j < whole; j += kLanes<Bytes>) {
    const Floats<Bytes> part = Load<Bytes>(x + j);
    lanes = part > lanes ? part : lanes;
  }
  for (int i = 0; i < static_cast<int>(kLanes<Bytes>); ++i) {
    largest = lanes[i] > largest ? lanes[i] : largest;
  }
  for (int64_t j = whole; j < size; ++j) largest = x[j] > largest ? x[j] : largest;
  Floats<Bytes> sums = {};
  for (int64_t j = 0; j < whole; j += kLanes<Bytes>) {
    sums += simd::Exp<Bytes>(Load<Bytes>(x + j) - largest);
  }
  float sum = simd::Sum<Bytes>(sums);
  for (int64_t j = whole; j < size; ++j) sum += __builtin_expf(x[j] - largest);
  return {largest, sum};
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
    const int64_t whole = task->atoms - task->atoms % kLanes<Bytes>;
    for (int64_t row = first; row < last; ++row) {
      const float* logits = task->logits + row * task->atoms;
      float* out = dlogits + row * task->atoms;
      const float factor = dlosses[row], log_sum = task->log_sums[row];
      for (int64_t j = 0; j < whole; j += kLanes<Bytes>) {
        Store<Bytes>(factor * simd::Exp<Bytes>(Load<Bytes>(logits + j) - log_sum), out + j);
      }
      for (int64_t j = whole; j < task->atoms; ++j) {
        out[j] = factor * __builtin_expf(logits[j] - log_sum);
      }
      const Split split = SplitBetweenAtoms(task->values[row], task->atoms);
      out[split.lower] -= factor * (1.0f - split.upper_share);
      out[split.lower + 1] -= factor * split.upper_share;
    }
  }
};

struct SupportMeans {
  template <int Bytes>
  LZ_INLINE static void Run(const float* logits, int64_t atoms, float* means, int64_t first,
                            int64_t last) {
    const int64_t whole = atoms - atoms % kLanes<Bytes>;
    const float limit = static_cast<float>(atoms - 1) / 2;
    Floats<Bytes> steps = {};
    for (int i = 0; i < static_cast<int>(kLanes<Bytes>); ++i) steps[i] = static_cast<float>(i);
    for (int64_t row = first; row < last; ++row) {
      const float* x = logits + row * atoms;
      const RowSum total = SumExponentials<Bytes>(x, atoms);
      Floats<Bytes> sums = {};
      for (int64_t j = 0; j < whole; j += kLanes<Bytes>) {
        sums += simd::Exp<Bytes>(Load<Bytes>(x + j) - total.largest) *
                (steps + (static_cast<float>(j) - limit));
      }
      float sum = simd::Sum<Bytes>(sums);
      for (int64_t j = whole; j < atoms; ++j) {
        sum += __builtin_expf(x[j] - total.largest) * (static_cast<float>(j) - limit);
      }
      means[row] = sum / total.sum;
    }
  }
};

}  // namespace

void RunTwoHotLoss(const TwoHotTask& task, float* losses) {
  at::parallel_for(0, task.rows, kRowsAThread, [&](int64_t begin, int64_t end) {
    simd::RunWidest<TwoHotForward>(&task, losses, begin, end);
  });
}

void RunTwoHotLossBackward(const TwoHotTask& task, const float* dlosses, float* dlogits) {
  at::parallel_for(0, task.rows, kRowsAThread, [&](int64_t begin, int64_t end) {
    simd::RunWidest<TwoHotBackward>(&task, dlosses, dlogits, begin, end);
  });
}

void RunSupportMeans(int64_t rows, int64_t atoms, const float* logits, float* means) {
  at::parallel_for(0, rows, kRowsAThread, [&](int64_t begin, int64_t end) {
    simd::RunWidest<SupportMeans>(logits, atoms, means, begin, end);
  });
}

}  // namespace lzero
