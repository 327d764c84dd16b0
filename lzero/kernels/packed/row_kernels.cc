// Row operations between the products: norms, GELU, softmax. One row after the other, in registers
// where it fits.
#include "lzero/kernels/packed/kernel_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lzero/kernels/packed/row_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/packed/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::packed::HWY_NAMESPACE {
namespace {

constexpr float kNormEpsilon = 1e-5f;  // of PyTorch's layer_norm

// Mean of a row, and 1 / its deviation, in every lane.
struct Moments {
  Floats mean;
  Floats scale;
};

HWY_INLINE Moments MomentsOf(const float* x, int64_t size) {
  const Tag d;
  const Floats one_over_size = hn::Set(d, 1.0f / static_cast<float>(size));
  Floats sum = hn::Zero(d);
  ForEachVector(size, [&](int64_t i, auto mask)
                          HWY_ATTR { sum = hn::Add(sum, hn::MaskedLoad(mask, d, x + i)); });
  const Floats mean = hn::Mul(Sum(sum), one_over_size);
  Floats squares = hn::Zero(d);
  ForEachVector(size, [&](int64_t i, auto mask) HWY_ATTR {
    const Floats deviation =
        hn::IfThenElseZero(mask, hn::Sub(hn::MaskedLoad(mask, d, x + i), mean));
    squares = hn::MulAdd(deviation, deviation, squares);
  });
  const Floats variance = hn::MulAdd(Sum(squares), one_over_size, hn::Set(d, kNormEpsilon));
  return {mean, hn::Div(hn::Set(d, 1.0f), hn::Sqrt(variance))};
}

// Softmax of size numbers from x to y; returns nothing else.
HWY_INLINE void SoftmaxRow(const float* x, int64_t size, float* y) {
  const Tag d;
  const Floats lowest = hn::Set(d, kMinusInfinity);
  Floats largest = lowest;
  ForEachVector(size, [&](int64_t i, auto mask) HWY_ATTR {
    largest = hn::Max(largest, hn::IfThenElse(mask, hn::MaskedLoad(mask, d, x + i), lowest));
  });
  largest = Largest(largest);
  Floats sum = hn::Zero(d);
  ForEachVector(size, [&](int64_t i, auto mask) HWY_ATTR {
    const Floats power = Exp(hn::Sub(hn::MaskedLoad(mask, d, x + i), largest));
    sum = hn::Add(sum, hn::IfThenElseZero(mask, power));
    hn::BlendedStore(power, mask, d, y + i);
  });
  const Floats scale = hn::Div(hn::Set(d, 1.0f), Sum(sum));
  ForEachVector(size, [&](int64_t i, auto mask) HWY_ATTR {
    hn::BlendedStore(hn::Mul(hn::MaskedLoad(mask, d, y + i), scale), mask, d, y + i);
  });
}

}  // namespace

void Normalize(const RowsCall& call) {
  const Tag d;
  for (int64_t r = 0; r < call.num_rows; ++r) {
    const float* x = call.x + r * call.x_stride;
    float* y = call.y + r * call.y_stride;
    const Moments moments = MomentsOf(x, call.size);
    ForEachVector(call.size, [&](int64_t i, auto mask) HWY_ATTR {
      const Floats centred = hn::Sub(hn::MaskedLoad(mask, d, x + i), moments.mean);
      hn::BlendedStore(hn::Mul(centred, moments.scale), mask, d, y + i);
    });
  }
}

void NormalizeGelu(const RowsCall& call, const float* scale, const float* shift) {
  const Tag d;
  for (int64_t r = 0; r < call.num_rows; ++r) {
    const float* x = call.x + r * call.x_stride;
    float* y = call.y + r * call.y_stride;
    const Moments moments = MomentsOf(x, call.size);
    ForEachVector(call.size, [&](int64_t i, auto mask) HWY_ATTR {
      const Floats centred = hn::Sub(hn::MaskedLoad(mask, d, x + i), moments.mean);
      const Floats scaled =
          hn::MulAdd(hn::Mul(centred, moments.scale), hn::MaskedLoad(mask, d, scale + i),
                     hn::MaskedLoad(mask, d, shift + i));
      hn::BlendedStore(Gelu(scaled), mask, d, y + i);
    });
  }
}

void SoftmaxGroups(const RowsCall& call, int64_t group) {
  for (int64_t r = 0; r < call.num_rows; ++r) {
    for (int64_t first = 0; first < call.size; first += group) {
      SoftmaxRow(call.x + r * call.x_stride + first, group, call.y + r * call.y_stride + first);
    }
  }
}

void ExpectedAtom(const RowsCall& call) {
  const Tag d;
  const Floats steps = hn::ConvertTo(d, hn::Iota(IntTag(), 0));
  const float lowest_atom = -0.5f * static_cast<float>(call.size - 1);
  for (int64_t r = 0; r < call.num_rows; ++r) {
    const float* x = call.x + r * call.x_stride;
    Floats largest = hn::Set(d, x[0]);
    ForEachVector(call.size, [&](int64_t i, auto mask) HWY_ATTR {
      const Floats logits = hn::MaskedLoad(mask, d, x + i);
      largest = hn::Max(largest, hn::IfThenElse(mask, logits, largest));
    });
    largest = Largest(largest);
    Floats sum = hn::Zero(d), weighted = hn::Zero(d);
    ForEachVector(call.size, [&](int64_t i, auto mask) HWY_ATTR {
      const Floats power =
          hn::IfThenElseZero(mask, Exp(hn::Sub(hn::MaskedLoad(mask, d, x + i), largest)));
      const Floats atoms = hn::Add(steps, hn::Set(d, lowest_atom + static_cast<float>(i)));
      sum = hn::Add(sum, power);
      weighted = hn::MulAdd(power, atoms, weighted);
    });
    call.y[r * call.y_stride] = hn::GetLane(Sum(weighted)) / hn::GetLane(Sum(sum));
  }
}

}  // namespace lzero::packed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
