#include "lzero/nn/norm_kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ATen/Parallel.h"
#include "lzero/nn/vector_math.h"

namespace lzero {
namespace {

using simd::Floats;
using simd::kLanes;
using simd::Load;
using simd::LoadSome;
using simd::StoreSome;

// Gradients of the parameters are summed over so many rows first, then over these parts in order:
// the same sums whatever thread has which part.
constexpr int64_t kPartRows = 128;
constexpr int64_t kElementsAThread = 16384;

template <int Bytes, bool Whole>
LZ_INLINE float SumOfRow(const float* x, int64_t size) {
  Floats<Bytes> sum = {};
  for (int64_t j = 0; j < size; j += kLanes<Bytes>) sum += LoadSome<Bytes, Whole>(x + j, size - j);
  return simd::Sum<Bytes>(sum);
}

template <int Bytes, bool Whole>
LZ_INLINE float SquaresOfRow(const float* x, int64_t size, float mean) {
  Floats<Bytes> sum = {};
  const int64_t whole = Whole ? size : size - size % kLanes<Bytes>;
  for (int64_t j = 0; j < whole; j += kLanes<Bytes>) {
    const Floats<Bytes> distance = Load<Bytes>(x + j) - mean;
    sum += distance * distance;
  }
  float rest = 0.0f;
  for (int64_t j = whole; j < size; ++j) rest += (x[j] - mean) * (x[j] - mean);
  return simd::Sum<Bytes>(sum) + rest;
}

struct NormForward {
  template <int Bytes>
  LZ_INLINE static void Run(const NormTask* task, float* y, int64_t first, int64_t last) {
    if (task->size % kLanes<Bytes> == 0) {
      RunRows<Bytes, true>(task, y, first, last);
    } else {
      RunRows<Bytes, false>(task, y, first, last);
    }
  }

  template <int Bytes, bool Whole>
  LZ_INLINE static void RunRows(const NormTask* task, float* y, int64_t first, int64_t last) {
    const int64_t size = task->size;
    for (int64_t row = first; row < last; ++row) {
      const float* x = task->x + row * size;
      const float mean = SumOfRow<Bytes, Whole>(x, size) / static_cast<float>(size);
      const float variance = SquaresOfRow<Bytes, Whole>(x, size, mean) / static_cast<float>(size);
      const float inverse = 1.0f / __builtin_sqrtf(variance + kNormEpsilon);
      task->means[row] = mean;
      task->inverse_spreads[row] = inverse;
      for (int64_t j = 0; j < size; j += kLanes<Bytes>) {
        Floats<Bytes> value = (LoadSome<Bytes, Whole>(x + j, size - j) - mean) * inverse;
        if (task->scale != nullptr) {
          value = value * LoadSome<Bytes, Whole>(task->scale + j, size - j) +
                  LoadSome<Bytes, Whole>(task->shift + j, size - j);
        }
        if (task->gelu) value = value * simd::GeluGate<Bytes>(value);
        StoreSome<Bytes, Whole>(value, y + row * size + j, size - j);
      }
    }
  }
};

// Adds to the sums [2, size] of the gradients of scale and shift, if there are any.
struct NormBackward {
  template <int Bytes>
  LZ_INLINE static void Run(const NormTask* task, const float* dy, float* dx, float* sums,
                            int64_t first, int64_t last) {
    if (task->size % kLanes<Bytes> == 0) {
      RunRows<Bytes, true>(task, dy, dx, sums, first, last);
    } else {
      RunRows<Bytes, false>(task, dy, dx, sums, first, last);
    }
  }

  template <int Bytes, bool Whole>
  LZ_INLINE static void RunRows(const NormTask* task, const float* dy, float* dx, float* sums,
                                int64_t first, int64_t last) {
    const int64_t size = task->size;
    for (int64_t row = first; row < last; ++row) {
      const float* x = task->x + row * size;
      const float mean = task->means[row], inverse = task->inverse_spreads[row];
      float* out = dx + row * size;
      // First the gradient of the normalised row, and its means.
      Floats<Bytes> total = {}, with_row = {};
      for (int64_t j = 0; j < size; j += kLanes<Bytes>) {
        const int64_t count = size - j;
        Floats<Bytes> normal = (LoadSome<Bytes, Whole>(x + j, count) - mean) * inverse;
        Floats<Bytes> gradient = LoadSome<Bytes, Whole>(dy + row * size + j, count);
        if (task->scale != nullptr) {
          const Floats<Bytes> scale = LoadSome<Bytes, Whole>(task->scale + j, count);
          if (task->gelu) {
            const Floats<Bytes> z = normal * scale + LoadSome<Bytes, Whole>(task->shift + j, count);
            const Floats<Bytes> gate = simd::GeluGate<Bytes>(z);
            gradient *= simd::GeluSlope<Bytes>(z, gate);
            if (task->again != nullptr) {
              StoreSome<Bytes, Whole>(z * gate, task->again + row * size + j, count);
            }
          }
          StoreSome<Bytes, Whole>(LoadSome<Bytes, Whole>(sums + j, count) + gradient * normal,
                                  sums + j, count);
          StoreSome<Bytes, Whole>(LoadSome<Bytes, Whole>(sums + size + j, count) + gradient,
                                  sums + size + j, count);
          gradient *= scale;
        }
        total += gradient;  // zero behind the row's end
        with_row += gradient * normal;
        StoreSome<Bytes, Whole>(gradient, out + j, count);
      }
      const float mean_total = simd::Sum<Bytes>(total) / static_cast<float>(size);
      const float mean_with_row = simd::Sum<Bytes>(with_row) / static_cast<float>(size);
      for (int64_t j = 0; j < size; j += kLanes<Bytes>) {
        const int64_t count = size - j;
        const Floats<Bytes> normal = (LoadSome<Bytes, Whole>(x + j, count) - mean) * inverse;
        const Floats<Bytes> gradient = LoadSome<Bytes, Whole>(out + j, count);
        StoreSome<Bytes, Whole>((gradient - mean_total - normal * mean_with_row) * inverse, out + j,
                                count);
      }
    }
  }
};

struct GeluForward {
  template <int Bytes>
  LZ_INLINE static void Run(const float* x, float* y, int64_t first, int64_t last) {
    const int64_t whole = last - (last - first) % kLanes<Bytes>;
    RunPart<Bytes, true>(x, y, first, whole);
    RunPart<Bytes, false>(x, y, whole, last);
  }

  template <int Bytes, bool Whole>
  LZ_INLINE static void RunPart(const float* x, float* y, int64_t first, int64_t last) {
    for (int64_t j = first; j < last; j += kLanes<Bytes>) {
      const Floats<Bytes> value = LoadSome<Bytes, Whole>(x + j, last - j);
      StoreSome<Bytes, Whole>(value * simd::GeluGate<Bytes>(value), y + j, last - j);
    }
  }
};

struct GeluBackward {
  template <int Bytes>
  LZ_INLINE static void Run(const float* x, const float* dy, float* dx, float* again, int64_t first,
                            int64_t last) {
    const int64_t whole = last - (last - first) % kLanes<Bytes>;
    RunPart<Bytes, true>(x, dy, dx, again, first, whole);
    RunPart<Bytes, false>(x, dy, dx, again, whole, last);
  }

  template <int Bytes, bool Whole>
  LZ_INLINE static void RunPart(const float* x, const float* dy, float* dx, float* again,
                                int64_t first, int64_t last) {
    for (int64_t j = first; j < last; j += kLanes<Bytes>) {
      const Floats<Bytes> value = LoadSome<Bytes, Whole>(x + j, last - j);
      const Floats<Bytes> gate = simd::GeluGate<Bytes>(value);
      const Floats<Bytes> slope = simd::GeluSlope<Bytes>(value, gate);
      if (again != nullptr) StoreSome<Bytes, Whole>(value * gate, again + j, last - j);
      StoreSome<Bytes, Whole>(LoadSome<Bytes, Whole>(dy + j, last - j) * slope, dx + j, last - j);
    }
  }
};

int64_t RowsAThread(int64_t size) { return std::max<int64_t>(1, kElementsAThread / size); }

}  // namespace

void RunNorm(const NormTask& task, float* y) {
  at::parallel_for(0, task.rows, RowsAThread(task.size), [&](int64_t begin, int64_t end) {
    simd::RunWidest<NormForward>(&task, y, begin, end);
  });
}

void RunNormBackward(const NormTask& task, const float* dy, float* dx, float* dscale,
                     float* dshift) {
  const int64_t num_parts = (task.rows + kPartRows - 1) / kPartRows;
  std::vector<float> sums;  // [parts, 2, size]
  if (task.scale != nullptr) sums.assign(static_cast<size_t>(num_parts * 2 * task.size), 0.0f);
  const int64_t parts_a_thread = (RowsAThread(task.size) + kPartRows - 1) / kPartRows;
  at::parallel_for(0, num_parts, parts_a_thread, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      float* part_sums = task.scale == nullptr ? nullptr : sums.data() + part * 2 * task.size;
      simd::RunWidest<NormBackward>(&task, dy, dx, part_sums, part * kPartRows,
                                    std::min(task.rows, (part + 1) * kPartRows));
    }
  });
  if (task.scale == nullptr) return;
  std::fill_n(dscale, task.size, 0.0f);
  std::fill_n(dshift, task.size, 0.0f);
  for (int64_t part = 0; part < num_parts; ++part) {
    const float* part_sums = sums.data() + part * 2 * task.size;
    for (int64_t j = 0; j < task.size; ++j) dscale[j] += part_sums[j];
    for (int64_t j = 0; j < task.size; ++j) dshift[j] += part_sums[task.size + j];
  }
}

void AddNormBackward(const NormTask& task, const float* dy, float* dx, float* sums) {
  simd::RunWidest<NormBackward>(&task, dy, dx, sums, int64_t{0}, task.rows);
}

void RunGelu(int64_t count, const float* x, float* y) {
  at::parallel_for(0, count, kElementsAThread, [&](int64_t begin, int64_t end) {
    simd::RunWidest<GeluForward>(x, y, begin, end);
  });
}

void RunGeluBackward(int64_t count, const float* x, const float* dy, float* dx, float* again) {
  at::parallel_for(0, count, kElementsAThread, [&](int64_t begin, int64_t end) {
    simd::RunWidest<GeluBackward>(x, dy, dx, again, begin, end);
  });
}

}  // namespace lzero
