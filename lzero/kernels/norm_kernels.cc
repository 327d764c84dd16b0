#include "lzero/kernels/norm_kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lzero/kernels/instruction_set.h"
#include "lzero/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lzero/kernels/norm_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::HWY_NAMESPACE {
namespace {

// So many rows at once: their sums wait for each other's latency, not for their own.
constexpr int64_t kGroupRows = 4;

enum class After { kNothing, kAffine, kAffineAndGelu };

// Kernel::RunRows for all rows in groups.
template <typename Kernel, After Next, typename... Arguments>
HWY_INLINE void RunGroupsOf(const NormTask& task, Arguments... arguments) {
  int64_t row = 0;
  for (; row + kGroupRows <= task.rows; row += kGroupRows) {
    Kernel::template RunRows<Next, kGroupRows>(task, row, arguments...);
  }
  for (; row < task.rows; ++row) Kernel::template RunRows<Next, 1>(task, row, arguments...);
}

// The same with everything that does not change from row to row known to the compiler.
template <typename Kernel, typename... Arguments>
HWY_INLINE void RunGroups(const NormTask& task, Arguments... arguments) {
  if (task.weight == nullptr) {
    RunGroupsOf<Kernel, After::kNothing>(task, arguments...);
  } else if (!task.gelu) {
    RunGroupsOf<Kernel, After::kAffine>(task, arguments...);
  } else {
    RunGroupsOf<Kernel, After::kAffineAndGelu>(task, arguments...);
  }
}

struct Forward {
  template <After Next, int Rows>
  HWY_INLINE static void RunRows(const NormTask& task, int64_t row, float* y) {
    const int64_t size = task.size, stride = task.x_stride;
    const float* x = task.x + row * stride;
    Floats sums[kGroupRows] = {Zero(), Zero(), Zero(), Zero()};
    Floats squares[kGroupRows] = {Zero(), Zero(), Zero(), Zero()};
    float means[kGroupRows], inverses[kGroupRows];
    ForEachVector(size, [&](int64_t j, auto lanes) HWY_ATTR {
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i) {
        sums[i] = hn::Add(sums[i], Load(lanes, x + i * stride + j));
        PrefetchAhead(x + i * stride + j);
      }
    });
    const float share = 1.0f / static_cast<float>(size);
    SumFour(sums, share, means);
    ForEachVector(size, [&](int64_t j, auto lanes) HWY_ATTR {
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i) {
        const Floats distance =
            Keep(lanes, hn::Sub(Load(lanes, x + i * stride + j), Set(means[i])), 0.0f);
        squares[i] = hn::MulAdd(distance, distance, squares[i]);
      }
    });
    SumFour(squares, share, inverses);
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) inverses[i] = 1.0f / std::sqrt(inverses[i] + kNormEpsilon);
    for (int i = 0; i < Rows && task.means != nullptr; ++i) {
      task.means[row + i] = means[i];
      task.inverse_deviations[row + i] = inverses[i];
    }
    Finish<Next, Rows>(task, x, means, inverses, y + row * task.y_stride);
  }

  template <After Next, int Rows>
  HWY_INLINE static void Finish(const NormTask& task, const float* x, const float* means,
                                const float* inverses, float* y) {
    const float *weights = task.weight, *biases = task.bias;
    const int64_t x_stride = task.x_stride, y_stride = task.y_stride;
    ForEachVector(task.size, [&](int64_t j, auto lanes) HWY_ATTR {
      Floats weight = Zero(), bias = Zero();
      if (Next != After::kNothing) {
        weight = Load(lanes, weights + j);
        bias = Load(lanes, biases + j);
      }
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i) {
        Floats value =
            hn::Mul(hn::Sub(Load(lanes, x + i * x_stride + j), Set(means[i])), Set(inverses[i]));
        if (Next != After::kNothing) value = hn::MulAdd(value, weight, bias);
        if (Next == After::kAffineAndGelu) value = Gelu(value);
        Store(lanes, value, y + i * y_stride + j);
      }
    });
  }
};

// Adds to the gradients of weight and bias, if there are any.
struct Backward {
  // What is read in every part of the rows, in local variables: the compiler must suppose that a
  // store changes what pointers lead to.
  struct Rows {
    int64_t size;
    const float *x, *dy, *weight, *bias;
    float *dx, *again, *dweight, *dbias;
    float means[kGroupRows], inverses[kGroupRows];
  };

  template <int NumRows>
  HWY_INLINE static Rows MakeRows(const NormTask& task, int64_t row, const float* dy, float* dx,
                                  float* dweight, float* dbias) {
    const int64_t begin = row * task.size;
    Rows rows = {task.size,
                 task.x + begin,
                 dy + begin,
                 task.weight,
                 task.bias,
                 dx + begin,
                 task.again == nullptr ? nullptr : task.again + begin,
                 dweight,
                 dbias,
                 {},
                 {}};
#pragma GCC unroll 4
    for (int i = 0; i < NumRows; ++i) {
      rows.means[i] = task.means[row + i];
      rows.inverses[i] = task.inverse_deviations[row + i];
    }
    return rows;
  }

  template <After Next, int NumRows>
  HWY_INLINE static void RunRows(const NormTask& task, int64_t row, const float* dy, float* dx,
                                 float* dweight, float* dbias) {
    const Rows rows = MakeRows<NumRows>(task, row, dy, dx, dweight, dbias);
    const float* addend = task.addend == nullptr ? nullptr : task.addend + row * task.size;
    // First the gradient of the normalised rows, and its means.
    Floats totals[kGroupRows] = {Zero(), Zero(), Zero(), Zero()};
    Floats with_rows[kGroupRows] = {Zero(), Zero(), Zero(), Zero()};
    ForEachVector(rows.size, [&](int64_t j, auto lanes) HWY_ATTR {
      ComputePart<Next, NumRows>(rows, j, lanes, totals, with_rows);
    });
    const float share = 1.0f / static_cast<float>(rows.size);
    float total[kGroupRows], with_row[kGroupRows];
    SumFour(totals, share, total);
    SumFour(with_rows, share, with_row);
    ForEachVector(rows.size, [&](int64_t j, auto lanes) HWY_ATTR {
#pragma GCC unroll 4
      for (int i = 0; i < NumRows; ++i) {
        const int64_t at = i * rows.size + j;
        const Floats inverse = Set(rows.inverses[i]);
        const Floats normal =
            hn::Mul(hn::Sub(Load(lanes, rows.x + at), Set(rows.means[i])), inverse);
        const Floats centred = hn::Sub(Load(lanes, rows.dx + at), Set(total[i]));
        Floats result = hn::NegMulAdd(normal, Set(with_row[i]), centred);
        result = addend == nullptr ? hn::Mul(result, inverse)
                                   : hn::MulAdd(result, inverse, Load(lanes, addend + at));
        Store(lanes, result, rows.dx + at);
      }
    });
  }

  // The gradient of the normalised rows from `j` on, through GELU if there is one, into dx; adds it
  // and its product with these rows to the totals.
  template <After Next, int NumRows, class Lanes>
  HWY_INLINE static void ComputePart(const Rows& rows, int64_t j, Lanes lanes, Floats* totals,
                                     Floats* with_rows) {
    Floats weight = Zero(), bias = Zero(), dweight = Zero(), dbias = Zero();
    if (Next != After::kNothing) {
      weight = Load(lanes, rows.weight + j);
      bias = Load(lanes, rows.bias + j);
      dweight = Load(lanes, rows.dweight + j);
      dbias = Load(lanes, rows.dbias + j);
    }
#pragma GCC unroll 4
    for (int i = 0; i < NumRows; ++i) {
      const int64_t at = i * rows.size + j;
      PrefetchAhead(rows.x + at);
      const Floats normal =
          hn::Mul(hn::Sub(Load(lanes, rows.x + at), Set(rows.means[i])), Set(rows.inverses[i]));
      Floats gradient = Load(lanes, rows.dy + at);
      if (Next == After::kAffineAndGelu) {
        const Floats z = hn::MulAdd(normal, weight, bias);
        const Floats gate = GeluGate(z);
        gradient = hn::Mul(gradient, GeluSlope(z, gate));
        if (rows.again != nullptr) Store(lanes, hn::Mul(z, gate), rows.again + at);
      }
      if (Next != After::kNothing) {
        dweight = hn::MulAdd(gradient, normal, dweight);
        dbias = hn::Add(dbias, gradient);
        gradient = hn::Mul(gradient, weight);
      }
      totals[i] = hn::Add(totals[i], gradient);  // zero behind the row's end
      with_rows[i] = hn::MulAdd(gradient, normal, with_rows[i]);
      Store(lanes, gradient, rows.dx + at);
    }
    if (Next != After::kNothing) {
      Store(lanes, dweight, rows.dweight + j);
      Store(lanes, dbias, rows.dbias + j);
    }
  }
};

void NormForward(const NormTask& task, float* y) { RunGroups<Forward>(task, y); }

void NormBackward(const NormTask& task, const float* dy, float* dx, float* dweight, float* dbias) {
  RunGroups<Backward>(task, dy, dx, dweight, dbias);
}

void GeluForward(const float* x, float* y, int64_t count) {
  ForEachVector(count, [&](int64_t j, auto lanes)
                           HWY_ATTR { Store(lanes, Gelu(Load(lanes, x + j)), y + j); });
}

void GeluBackward(const float* x, const float* dy, float* dx, float* again, int64_t count) {
  ForEachVector(count, [&](int64_t j, auto lanes) HWY_ATTR {
    PrefetchAhead(x + j);
    const Floats value = Load(lanes, x + j), gate = GeluGate(value);
    const Floats gradient = hn::Mul(Load(lanes, dy + j), GeluSlope(value, gate));
    if (again != nullptr) Store(lanes, hn::Mul(value, gate), again + j);
    Store(lanes, gradient, dx + j);
  });
}

void SoftmaxOf(const float* x, int64_t count, float* y) { Softmax<false>(x, count, y); }

}  // namespace
}  // namespace lzero::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lzero {
namespace {

// Gradients of the parameters are summed over so many rows first, then over these parts in order:
// the same sums whatever thread has which part.
constexpr int64_t kPartRows = 128;
constexpr int64_t kElementsAThread = 16384;

int64_t RowsAThread(int64_t size) { return std::max<int64_t>(1, kElementsAThread / size); }

// Rows begin to end - 1 of a contiguous task.
NormTask PartOf(const NormTask& task, int64_t begin, int64_t end) {
  NormTask part = task;
  part.rows = end - begin;
  part.x += begin * task.size;
  part.x_stride = part.y_stride = task.size;
  if (task.means != nullptr) part.means += begin;
  if (task.means != nullptr) part.inverse_deviations += begin;
  if (task.again != nullptr) part.again += begin * task.size;
  if (task.addend != nullptr) part.addend += begin * task.size;
  return part;
}

}  // namespace

void NormRows(const NormTask& task, float* y) { LZ_KERNEL(NormForward)(task, y); }

void RunNorm(NormTask task, float* y) {
  ParallelFor(0, task.rows, RowsAThread(task.size), [&](int64_t begin, int64_t end) {
    NormRows(PartOf(task, begin, end), y + begin * task.size);
  });
}

void RunNormBackward(const NormTask& task, const float* dy, float* dx, float* dweight,
                     float* dbias) {
  const int64_t num_parts = (task.rows + kPartRows - 1) / kPartRows;
  std::vector<float> sums;  // [parts, 2, size]
  if (task.weight != nullptr) sums.assign(static_cast<size_t>(num_parts * 2 * task.size), 0.0f);
  const int64_t parts_a_thread = (RowsAThread(task.size) + kPartRows - 1) / kPartRows;
  ParallelFor(0, num_parts, parts_a_thread, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      float* part_sums = task.weight == nullptr ? nullptr : sums.data() + part * 2 * task.size;
      float* second = part_sums == nullptr ? nullptr : part_sums + task.size;
      const int64_t first = part * kPartRows, last = std::min(task.rows, first + kPartRows);
      AddNormBackward(PartOf(task, first, last), dy + first * task.size, dx + first * task.size,
                      part_sums, second);
    }
  });
  if (task.weight == nullptr) return;
  std::fill_n(dweight, task.size, 0.0f);
  std::fill_n(dbias, task.size, 0.0f);
  for (int64_t part = 0; part < num_parts; ++part) {
    const float* part_sums = sums.data() + part * 2 * task.size;
    for (int64_t j = 0; j < task.size; ++j) dweight[j] += part_sums[j];
    for (int64_t j = 0; j < task.size; ++j) dbias[j] += part_sums[task.size + j];
  }
}

void AddNormBackward(const NormTask& task, const float* dy, float* dx, float* dweight,
                     float* dbias) {
  LZ_KERNEL(NormBackward)(task, dy, dx, dweight, dbias);
}

void RunGelu(int64_t count, const float* x, float* y) {
  ParallelFor(0, count, kElementsAThread, [&](int64_t begin, int64_t end) {
    LZ_KERNEL(GeluForward)(x + begin, y + begin, end - begin);
  });
}

void RunGeluBackward(int64_t count, const float* x, const float* dy, float* dx, float* again) {
  ParallelFor(0, count, kElementsAThread, [&](int64_t begin, int64_t end) {
    LZ_KERNEL(GeluBackward)
    (x + begin, dy + begin, dx + begin, again == nullptr ? nullptr : again + begin, end - begin);
  });
}

void RunSimNorm(int64_t rows, int64_t size, int64_t group, const float* x, int64_t x_stride,
                float* y, int64_t y_stride) {
  const auto softmax = LZ_KERNEL(SoftmaxOf);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t first = 0; first < size; first += group) {
      softmax(x + row * x_stride + first, group, y + row * y_stride + first);
    }
  }
}

}  // namespace lzero
#endif
