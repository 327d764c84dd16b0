#include "lzero/kernels/convolution/plane_kernels.h"

#include <algorithm>
#include <cmath>

#include "lzero/kernels/instruction_set.h"
#include "lzero/kernels/norm_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lzero/kernels/convolution/plane_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::HWY_NAMESPACE {
namespace {

struct Moments {
  float mean, inverse;
};

// Sum of body(vector, sums) over x [size], four sums side by side.
template <class Add>
HWY_INLINE float SumOver(const float* x, int64_t size, const Add& add) {
  Floats sums[4] = {Zero(), Zero(), Zero(), Zero()};
  int64_t j = 0;
  for (; j + 4 * kLanes <= size; j += 4 * kLanes) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) sums[i] = add(AllLanes(), Load(x + j + i * kLanes), sums[i]);
  }
  ForEachVector(size - j, [&](int64_t i, auto lanes)
                              HWY_ATTR { sums[0] = add(lanes, Load(lanes, x + j + i), sums[0]); });
  return Sum(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])));
}

Moments MomentsOf(const float* x, int64_t size) {
  const float share = 1.0f / static_cast<float>(size);
  const float mean =
      share * SumOver(x, size, [](auto, Floats v, Floats sum) HWY_ATTR { return hn::Add(sum, v); });
  const float variance =
      share * SumOver(x, size, [mean](auto lanes, Floats v, Floats sum) HWY_ATTR {
        const Floats distance = Keep(lanes, hn::Sub(v, Set(mean)), 0.0f);
        return hn::MulAdd(distance, distance, sum);
      });
  return {mean, 1.0f / std::sqrt(variance + kNormEpsilon)};
}

// Calls body(j, at, lanes) for all numbers of a sample: channel j, place `at` in the sample.
template <class Body>
HWY_INLINE void ForEachPlace(const PlaneNormTask& task, const Body& body) {
  for (int64_t cell = 0; cell < task.cells; ++cell) {
    const int64_t begin = cell * task.channels;
    ForEachVector(task.channels,
                  [&](int64_t j, auto lanes) HWY_ATTR { body(j, begin + j, lanes); });
  }
}

template <bool Adds, bool Relu>
void NormSample(const PlaneNormTask& task, const float* x, const float* addend, Moments moments,
                float* y) {
  const float *weight = task.weight, *bias = task.bias;
  const Floats mean = Set(moments.mean), inverse = Set(moments.inverse);
  ForEachPlace(task, [&](int64_t j, int64_t at, auto lanes) HWY_ATTR {
    const Floats normal = hn::Mul(hn::Sub(Load(lanes, x + at), mean), inverse);
    Floats value = hn::MulAdd(normal, Load(lanes, weight + j), Load(lanes, bias + j));
    if (Adds) value = hn::Add(value, Load(lanes, addend + at));
    if (Relu) value = hn::IfThenZeroElse(hn::Lt(value, Zero()), value);  // NaN stays NaN
    Store(lanes, value, y + at);
  });
}

void Forward(const PlaneNormTask& task, float* y) {
  const int64_t size = task.cells * task.channels;
  const auto norm = task.addend != nullptr
                        ? (task.relu ? NormSample<true, true> : NormSample<true, false>)
                        : (task.relu ? NormSample<false, true> : NormSample<false, false>);
  for (int64_t sample = 0; sample < task.samples; ++sample) {
    const int64_t at = sample * size;
    const Moments moments = MomentsOf(task.x + at, size);
    if (task.means != nullptr) {
      task.means[sample] = moments.mean;
      task.inverse_deviations[sample] = moments.inverse;
    }
    norm(task, task.x + at, task.addend == nullptr ? nullptr : task.addend + at, moments, y + at);
  }
}

template <bool Relu>
void BackwardSample(const PlaneNormTask& task, const float* x, const PlaneNormGradients& p,
                    Moments moments) {
  const float* weight = task.weight;
  const Floats mean = Set(moments.mean), inverse = Set(moments.inverse);
  Floats total = Zero(), with_normal = Zero();
  ForEachPlace(task, [&](int64_t j, int64_t at, auto lanes) HWY_ATTR {
    Floats gradient = Load(lanes, p.dy + at);
    if (Relu) {
      gradient = hn::IfThenElseZero(hn::Gt(Load(lanes, p.y + at), Zero()), gradient);
    }
    const Floats normal = hn::Mul(hn::Sub(Load(lanes, x + at), mean), inverse);
    if (p.daddend != nullptr) Store(lanes, gradient, p.daddend + at);
    Store(lanes, hn::MulAdd(gradient, normal, Load(lanes, p.dweight + j)), p.dweight + j);
    Store(lanes, hn::Add(Load(lanes, p.dbias + j), gradient), p.dbias + j);
    gradient = hn::Mul(gradient, Load(lanes, weight + j));
    total = hn::Add(total, gradient);  // zero behind the last channel
    with_normal = hn::MulAdd(gradient, normal, with_normal);
    Store(lanes, gradient, p.dx + at);
  });
  const float share = 1.0f / static_cast<float>(task.cells * task.channels);
  const Floats mean_total = Set(share * Sum(total)), mean_normal = Set(share * Sum(with_normal));
  ForEachVector(task.cells * task.channels, [&](int64_t at, auto lanes) HWY_ATTR {
    const Floats normal = hn::Mul(hn::Sub(Load(lanes, x + at), mean), inverse);
    const Floats centred = hn::Sub(Load(lanes, p.dx + at), mean_total);
    Store(lanes, hn::Mul(inverse, hn::NegMulAdd(normal, mean_normal, centred)), p.dx + at);
  });
}

void Backward(const PlaneNormTask& task, const PlaneNormGradients& places) {
  const int64_t size = task.cells * task.channels;
  for (int64_t sample = 0; sample < task.samples; ++sample) {
    const int64_t at = sample * size;
    PlaneNormGradients p = places;
    p.dy += at;
    p.dx += at;
    if (p.y != nullptr) p.y += at;
    if (p.daddend != nullptr) p.daddend += at;
    const Moments moments = {task.means[sample], task.inverse_deviations[sample]};
    (task.relu ? BackwardSample<true> : BackwardSample<false>)(task, task.x + at, p, moments);
  }
}

// Cells of x in the 2x2 of cell (row, column) of its half: places, and how many there are.
struct Four {
  int64_t at[4];
  int count;
};

HWY_INLINE Four CellsOf(const PlaneSizes& planes, int64_t sample, int64_t row, int64_t column) {
  const int64_t first = (sample * planes.height + 2 * row) * planes.width + 2 * column;
  if (2 * row + 1 < planes.height && 2 * column + 1 < planes.width) {
    return {{first, first + 1, first + planes.width, first + planes.width + 1}, 4};
  }
  Four four = {{}, 0};
  for (int64_t y = 2 * row; y < std::min(2 * row + 2, planes.height); ++y) {
    for (int64_t x = 2 * column; x < std::min(2 * column + 2, planes.width); ++x) {
      four.at[four.count++] = (sample * planes.height + y) * planes.width + x;
    }
  }
  return four;
}

// Calls body(four, place of the half's cell) for all cells of the half.
template <class Body>
HWY_INLINE void ForEachFour(const PlaneSizes& planes, const Body& body) {
  int64_t cell = 0;
  for (int64_t sample = 0; sample < planes.samples; ++sample) {
    for (int64_t row = 0; row < (planes.height + 1) / 2; ++row) {
      for (int64_t column = 0; column < (planes.width + 1) / 2; ++column) {
        body(CellsOf(planes, sample, row, column), cell++);
      }
    }
  }
}

template <int Count>
HWY_INLINE void Average(const Four& four, int64_t channels, const float* x, float* y) {
  const float* from[Count];
  for (int i = 0; i < Count; ++i) from[i] = x + four.at[i] * channels;
  const Floats share = Set(1.0f / static_cast<float>(Count));
  ForEachVector(channels, [&](int64_t j, auto lanes) HWY_ATTR {
    Floats sum = Load(lanes, from[0] + j);
    for (int i = 1; i < Count; ++i) sum = hn::Add(sum, Load(lanes, from[i] + j));
    Store(lanes, hn::Mul(share, sum), y + j);
  });
}

template <int Count>
HWY_INLINE void Spread(const Four& four, int64_t channels, const float* dy, float* dx) {
  float* to[Count];
  for (int i = 0; i < Count; ++i) to[i] = dx + four.at[i] * channels;
  const Floats share = Set(1.0f / static_cast<float>(Count));
  ForEachVector(channels, [&](int64_t j, auto lanes) HWY_ATTR {
    const Floats gradient = hn::Mul(share, Load(lanes, dy + j));
    for (int i = 0; i < Count; ++i) Store(lanes, gradient, to[i] + j);
  });
}

void Halve(const PlaneSizes& planes, int64_t channels, const float* x, float* y) {
  ForEachFour(planes, [&](const Four& four, int64_t cell) HWY_ATTR {
    float* to = y + cell * channels;
    if (four.count == 4) return Average<4>(four, channels, x, to);
    four.count == 2 ? Average<2>(four, channels, x, to) : Average<1>(four, channels, x, to);
  });
}

void HalveBackward(const PlaneSizes& planes, int64_t channels, const float* dy, float* dx) {
  ForEachFour(planes, [&](const Four& four, int64_t cell) HWY_ATTR {
    const float* from = dy + cell * channels;
    if (four.count == 4) return Spread<4>(four, channels, from, dx);
    four.count == 2 ? Spread<2>(four, channels, from, dx) : Spread<1>(four, channels, from, dx);
  });
}

// As many bytes as there are lanes: i / 255 of each.
HWY_INLINE Floats Fractions(const uint8_t* bytes) {
  const hn::Rebind<uint8_t, Tag> d;
  return hn::Div(hn::ConvertTo(Tag(), hn::PromoteTo(IntTag(), hn::LoadU(d, bytes))), Set(255.0f));
}

// Calls store(vectors, to) for whole vectors of cells; returns how many cells that were.
template <int Channels, class Interleave>
HWY_INLINE int64_t TurnCells(int64_t cells, const uint8_t* bytes, float* y,
                             const Interleave& interleave) {
  int64_t cell = 0;
  for (; cell + kLanes <= cells; cell += kLanes) {
    Floats v[Channels];
    for (int c = 0; c < Channels; ++c) v[c] = Fractions(bytes + c * cells + cell);
    interleave(v, y + cell * Channels);
  }
  return cell;
}

// A sample of 1, 3 or 4 channels, the first cells of it; 0 cells for others.
int64_t TurnSample(int64_t channels, int64_t cells, const uint8_t* bytes, float* y) {
  const Tag d;
  if (channels == 1) {
    return TurnCells<1>(cells, bytes, y,
                        [](const Floats* v, float* to) HWY_ATTR { Store(v[0], to); });
  }
  if (channels == 3) {
    return TurnCells<3>(cells, bytes, y, [d](const Floats* v, float* to) HWY_ATTR {
      hn::StoreInterleaved3(v[0], v[1], v[2], d, to);
    });
  }
  if (channels == 4) {
    return TurnCells<4>(cells, bytes, y, [d](const Floats* v, float* to) HWY_ATTR {
      hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, to);
    });
  }
  return 0;
}

}  // namespace
}  // namespace lzero::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lzero {
void NormPlanes(const PlaneNormTask& task, float* y) { LZ_KERNEL(Forward)(task, y); }

void NormPlanesBackward(const PlaneNormTask& task, const PlaneNormGradients& gradients) {
  LZ_KERNEL(Backward)(task, gradients);
}

void BytesToPlanes(const PlaneSizes& planes, int64_t channels, const uint8_t* bytes, float* y) {
  const int64_t cells = planes.height * planes.width;
  for (int64_t sample = 0; sample < planes.samples; ++sample) {
    for (int64_t cell = LZ_KERNEL(TurnSample)(channels, cells, bytes, y); cell < cells; ++cell) {
      for (int64_t c = 0; c < channels; ++c) {
        y[cell * channels + c] = static_cast<float>(bytes[c * cells + cell]) / 255.0f;
      }
    }
    bytes += channels * cells;
    y += channels * cells;
  }
}

void HalvePlanes(const PlaneSizes& planes, int64_t channels, const float* x, float* y) {
  LZ_KERNEL(Halve)(planes, channels, x, y);
}

void HalvePlanesBackward(const PlaneSizes& planes, int64_t channels, const float* dy, float* dx) {
  LZ_KERNEL(HalveBackward)(planes, channels, dy, dx);
}

}  // namespace lzero
#endif
