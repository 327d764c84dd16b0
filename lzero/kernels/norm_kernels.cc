#include "lzero/kernels/norm_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "lzero/kernels/parallel.h"
#include "lzero/kernels/vector_math.h"

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

// So many rows at once: their sums wait for each other's latency, not for their own.
constexpr int64_t kGroupRows = 4;

enum class After { kNothing, kScale, kScaleAndGelu };

// Lanes from `count` on become 0.
template <int Bytes, bool Whole>
LZ_INLINE Floats<Bytes> KeepSome(Floats<Bytes> x, int64_t count) {
  if (Whole || count >= kLanes<Bytes>) return x;
  Floats<Bytes> kept = {};
  std::memcpy(&kept, &x, static_cast<size_t>(count) * sizeof(float));
  return kept;
}

// Kernel::RunRows for rows [first, last) in groups.
template <typename Kernel, int Bytes, bool Whole, After Next, typename... Arguments>
LZ_INLINE void RunGroupsOf(const NormTask& task, int64_t first, int64_t last,
                           Arguments... arguments) {
  int64_t row = first;
  for (; row + kGroupRows <= last; row += kGroupRows) {
    Kernel::template RunRows<Bytes, Whole, Next, kGroupRows>(task, row, arguments...);
  }
  for (; row < last; ++row) {
    Kernel::template RunRows<Bytes, Whole, Next, 1>(task, row, arguments...);
  }
}

// The same with everything that does not change from row to row known to the compiler.
template <typename Kernel, int Bytes, bool Whole, typename... Arguments>
LZ_INLINE void RunGroups(const NormTask& task, Arguments... arguments) {
  if (task.scale == nullptr) {
    RunGroupsOf<Kernel, Bytes, Whole, After::kNothing>(task, arguments...);
  } else if (!task.gelu) {
    RunGroupsOf<Kernel, Bytes, Whole, After::kScale>(task, arguments...);
  } else {
    RunGroupsOf<Kernel, Bytes, Whole, After::kScaleAndGelu>(task, arguments...);
  }
}

template <typename Kernel, int Bytes, typename... Arguments>
LZ_INLINE void RunAllGroups(const NormTask& task, Arguments... arguments) {
  if (task.size % kLanes<Bytes> == 0) {
    RunGroups<Kernel, Bytes, true>(task, arguments...);
  } else {
    RunGroups<Kernel, Bytes, false>(task, arguments...);
  }
}

struct NormForward {
  template <int Bytes>
  LZ_INLINE static void Run(const NormTask* task, float* y, int64_t first, int64_t last) {
    RunAllGroups<NormForward, Bytes>(*task, first, last, y);
  }

  template <int Bytes, bool Whole, After Next, int Rows>
  LZ_INLINE static void RunRows(const NormTask& task, int64_t row, float* y) {
    const int64_t size = task.size;
    const float* x = task.x + row * size;
    Floats<Bytes> sums[kGroupRows] = {}, squares[kGroupRows] = {};
    for (int64_t j = 0; j < size; j += kLanes<Bytes>) {
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i) {
        sums[i] += LoadSome<Bytes, Whole>(x + i * size + j, size - j);
        simd::PrefetchAhead(x + i * size + j);
      }
    }
    const Floats<16> means = simd::SumFour<Bytes>(sums) / static_cast<float>(size);
    for (int64_t j = 0; j < size; j += kLanes<Bytes>) {
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i) {
        const Floats<Bytes> distance = KeepSome<Bytes, Whole>(
            LoadSome<Bytes, Whole>(x + i * size + j, size - j) - means[i], size - j);
        squares[i] += distance * distance;
      }
    }
    const Floats<16> variances = simd::SumFour<Bytes>(squares) / static_cast<float>(size);
    Floats<16> inverses;
#pragma GCC unroll 4
    for (int i = 0; i < kGroupRows; ++i) inverses[i] = __builtin_sqrtf(variances[i] + kNormEpsilon);
    inverses = 1.0f / inverses;
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) {
      task.means[row + i] = means[i];
      task.inverse_spreads[row + i] = inverses[i];
    }
    Finish<Bytes, Whole, Next, Rows>(task, x, means, inverses, y + row * size);
  }

  template <int Bytes, bool Whole, After Next, int Rows>
  LZ_INLINE static void Finish(const NormTask& task, const float* x, Floats<16> means,
                               Floats<16> inverses, float* y) {
    const int64_t size = task.size;
    const float *scales = task.scale, *shifts = task.shift;
    for (int64_t j = 0; j < size; j += kLanes<Bytes>) {
      Floats<Bytes> scale = {}, shift = {};
      if (Next != After::kNothing) {
        scale = LoadSome<Bytes, Whole>(scales + j, size - j);
        shift = LoadSome<Bytes, Whole>(shifts + j, size - j);
      }
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i) {
        const int64_t at = i * size + j;
        Floats<Bytes> value = (LoadSome<Bytes, Whole>(x + at, size - j) - means[i]) * inverses[i];
        if (Next != After::kNothing) value = value * scale + shift;
        if (Next == After::kScaleAndGelu) value = value * simd::GeluGate<Bytes>(value);
        StoreSome<Bytes, Whole>(value, y + at, size - j);
      }
    }
  }
};

// Adds to the gradients of scale and shift, if there are any.
struct NormBackward {
  template <int Bytes>
  LZ_INLINE static void Run(const NormTask* task, const float* dy, float* dx, float* dscale,
                            float* dshift, int64_t first, int64_t last) {
    RunAllGroups<NormBackward, Bytes>(*task, first, last, dy, dx, dscale, dshift);
  }

  // What is read in every part of the rows, in local variables: the compiler must suppose that a
  // store changes what pointers lead to.
  struct Rows {
    int64_t size;
    const float *x, *dy, *scale, *shift;
    float *dx, *again, *dscale, *dshift;
    float means[kGroupRows], inverses[kGroupRows];
  };

  template <int NumRows>
  LZ_INLINE static Rows MakeRows(const NormTask& task, int64_t row, const float* dy, float* dx,
                                 float* dscale, float* dshift) {
    const int64_t begin = row * task.size;
    Rows rows = {task.size,
                 task.x + begin,
                 dy + begin,
                 task.scale,
                 task.shift,
                 dx + begin,
                 task.again == nullptr ? nullptr : task.again + begin,
                 dscale,
                 dshift,
                 {},
                 {}};
#pragma GCC unroll 4
    for (int i = 0; i < NumRows; ++i) {
      rows.means[i] = task.means[row + i];
      rows.inverses[i] = task.inverse_spreads[row + i];
    }
    return rows;
  }

  template <int Bytes, bool Whole, After Next, int NumRows>
  LZ_INLINE static void RunRows(const NormTask& task, int64_t row, const float* dy, float* dx,
                                float* dscale, float* dshift) {
    const Rows rows = MakeRows<NumRows>(task, row, dy, dx, dscale, dshift);
    const float* addend = task.addend == nullptr ? nullptr : task.addend + row * task.size;
    // First the gradient of the normalised rows, and its means.
    Floats<Bytes> totals[kGroupRows] = {}, with_rows[kGroupRows] = {};
    for (int64_t j = 0; j < rows.size; j += kLanes<Bytes>) {
      ComputePart<Bytes, Whole, Next, NumRows>(rows, j, totals, with_rows);
    }
    const Floats<16> total = simd::SumFour<Bytes>(totals) / static_cast<float>(rows.size);
    const Floats<16> with_row = simd::SumFour<Bytes>(with_rows) / static_cast<float>(rows.size);
    for (int64_t j = 0; j < rows.size; j += kLanes<Bytes>) {
      const int64_t count = rows.size - j;
#pragma GCC unroll 4
      for (int i = 0; i < NumRows; ++i) {
        const int64_t at = i * rows.size + j;
        const Floats<Bytes> normal =
            (LoadSome<Bytes, Whole>(rows.x + at, count) - rows.means[i]) * rows.inverses[i];
        const Floats<Bytes> gradient = LoadSome<Bytes, Whole>(rows.dx + at, count);
        Floats<Bytes> result = (gradient - total[i] - normal * with_row[i]) * rows.inverses[i];
        if (addend != nullptr) result += LoadSome<Bytes, Whole>(addend + at, count);
        StoreSome<Bytes, Whole>(result, rows.dx + at, count);
      }
    }
  }

  // The gradient of the normalised rows from `j` on, through GELU if there is one, into dx; adds it
  // and its product with these rows to the totals.
  template <int Bytes, bool Whole, After Next, int NumRows>
  LZ_INLINE static void ComputePart(const Rows& rows, int64_t j, Floats<Bytes>* totals,
                                    Floats<Bytes>* with_rows) {
    const int64_t count = rows.size - j;
    Floats<Bytes> scale = {}, shift = {}, dscale = {}, dshift = {};
    if (Next != After::kNothing) {
      scale = LoadSome<Bytes, Whole>(rows.scale + j, count);
      shift = LoadSome<Bytes, Whole>(rows.shift + j, count);
      dscale = LoadSome<Bytes, Whole>(rows.dscale + j, count);
      dshift = LoadSome<Bytes, Whole>(rows.dshift + j, count);
    }
#pragma GCC unroll 4
    for (int i = 0; i < NumRows; ++i) {
      const int64_t at = i * rows.size + j;
      simd::PrefetchAhead(rows.x + at);
      const Floats<Bytes> normal =
          (LoadSome<Bytes, Whole>(rows.x + at, count) - rows.means[i]) * rows.inverses[i];
      Floats<Bytes> gradient = LoadSome<Bytes, Whole>(rows.dy + at, count);
      if (Next == After::kScaleAndGelu) {
        const Floats<Bytes> z = normal * scale + shift;
        const Floats<Bytes> gate = simd::GeluGate<Bytes>(z);
        gradient *= simd::GeluSlope<Bytes>(z, gate);
        if (rows.again != nullptr) StoreSome<Bytes, Whole>(z * gate, rows.again + at, count);
      }
      if (Next != After::kNothing) {
        dscale += gradient * normal;
        dshift += gradient;
        gradient *= scale;
      }
      totals[i] += gradient;  // zero behind the row's end
      with_rows[i] += gradient * normal;
      StoreSome<Bytes, Whole>(gradient, rows.dx + at, count);
    }
    if (Next != After::kNothing) {
      StoreSome<Bytes, Whole>(dscale, rows.dscale + j, count);
      StoreSome<Bytes, Whole>(dshift, rows.dshift + j, count);
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
      simd::PrefetchAhead(x + j);
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
  const int64_t num_groups = (task.rows + kGroupRows - 1) / kGroupRows;
  const int64_t groups_a_thread = (RowsAThread(task.size) + kGroupRows - 1) / kGroupRows;
  ParallelFor(0, num_groups, groups_a_thread, [&](int64_t begin, int64_t end) {
    simd::RunWidest<NormForward>(&task, y, begin * kGroupRows,
                                 std::min(task.rows, end * kGroupRows));
  });
}

void RunNormBackward(const NormTask& task, const float* dy, float* dx, float* dscale,
                     float* dshift) {
  const int64_t num_parts = (task.rows + kPartRows - 1) / kPartRows;
  std::vector<float> sums;  // [parts, 2, size]
  if (task.scale != nullptr) sums.assign(static_cast<size_t>(num_parts * 2 * task.size), 0.0f);
  const int64_t parts_a_thread = (RowsAThread(task.size) + kPartRows - 1) / kPartRows;
  ParallelFor(0, num_parts, parts_a_thread, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      float* part_sums = task.scale == nullptr ? nullptr : sums.data() + part * 2 * task.size;
      float* second = part_sums == nullptr ? nullptr : part_sums + task.size;
      simd::RunWidest<NormBackward>(&task, dy, dx, part_sums, second, part * kPartRows,
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

void AddNormBackward(const NormTask& task, const float* dy, float* dx, float* dscale,
                     float* dshift) {
  simd::RunWidest<NormBackward>(&task, dy, dx, dscale, dshift, int64_t{0}, task.rows);
}

void RunGelu(int64_t count, const float* x, float* y) {
  ParallelFor(0, count, kElementsAThread,
              [&](int64_t begin, int64_t end) { simd::RunWidest<GeluForward>(x, y, begin, end); });
}

void RunGeluBackward(int64_t count, const float* x, const float* dy, float* dx, float* again) {
  ParallelFor(0, count, kElementsAThread, [&](int64_t begin, int64_t end) {
    simd::RunWidest<GeluBackward>(x, dy, dx, again, begin, end);
  });
}

}  // namespace lzero
