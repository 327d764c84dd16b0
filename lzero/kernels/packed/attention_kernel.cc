// Sliding-window attention of single rows. Keys are kept before rotation; instead of every key by
// its distance the query is rotated back by it, which gives the same product: q . R(-d) k = (R(d)
// q) . k. [RoPE, Su et al. 2021]
#include <cmath>

#include "lzero/kernels/packed/kernel_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lzero/kernels/packed/attention_kernel.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/packed/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::packed::HWY_NAMESPACE {
namespace {

// (R(d) q) . k of one head; `cosines` and `sines` [D] of the distance, a pair of sines as -s, +s.
HWY_INLINE float RotatedProduct(const float* query, const float* key, const float* cosines,
                                const float* sines, int64_t head_size) {
#if HWY_TARGET == HWY_SCALAR
  float sum = 0.0f;
  for (int64_t i = 0; i < head_size; i += 2) {
    sum += (query[i] * cosines[i] + query[i + 1] * sines[i]) * key[i];
    sum += (query[i + 1] * cosines[i + 1] + query[i] * sines[i + 1]) * key[i + 1];
  }
  return sum;
#else
  const Tag d;
  Floats sum = hn::Zero(d);
  ForEachVector(head_size, [&](int64_t i, auto mask) HWY_ATTR {
    const Floats q = hn::MaskedLoad(mask, d, query + i);
    const Floats turned = hn::Mul(q, hn::MaskedLoad(mask, d, cosines + i));
    // Each number turns with its neighbour: (a, b) times the sines as (b, a).
    const Floats rotated =
        hn::MulAdd(hn::Shuffle2301(q), hn::MaskedLoad(mask, d, sines + i), turned);
    sum = hn::MulAdd(rotated, hn::MaskedLoad(mask, d, key + i), sum);
  });
  return hn::GetLane(Sum(sum));
#endif
}

// Softmax weights of one head over its window, into scores[0 .. size); those behind, up to a whole
// vector, become 0.
HWY_INLINE void SoftmaxScores(float* scores, int64_t size) {
  const Tag d;
  const Floats lowest = hn::Set(d, kMinusInfinity);
  Floats largest = lowest;
  ForEachVector(size, [&](int64_t i, auto mask) HWY_ATTR {
    largest = hn::Max(largest, hn::IfThenElse(mask, hn::Load(d, scores + i), lowest));
  });
  largest = Largest(largest);
  Floats sum = hn::Zero(d);
  ForEachVector(size, [&](int64_t i, auto mask) HWY_ATTR {
    const Floats power = hn::IfThenElseZero(mask, Exp(hn::Sub(hn::Load(d, scores + i), largest)));
    sum = hn::Add(sum, power);
    hn::Store(power, d, scores + i);
  });
  const Floats scale = hn::Div(hn::Set(d, 1.0f), Sum(sum));
  ForEachVector(size, [&](int64_t i, auto) HWY_ATTR {
    hn::Store(hn::Mul(hn::Load(d, scores + i), scale), d, scores + i);
  });
}

// sum_j weights[j] * values_j of one head.
HWY_INLINE void MixValues(const float* const* window, int64_t size, int64_t offset,
                          const float* weights, int64_t head_size, float* y) {
  const Tag d;
  ForEachVector(head_size, [&](int64_t i, auto mask) HWY_ATTR {
    Floats mixed = hn::Zero(d);
    for (int64_t j = 0; j < size; ++j) {
      mixed = hn::MulAdd(hn::Set(d, weights[j]), hn::MaskedLoad(mask, d, window[j] + offset + i),
                         mixed);
    }
    hn::BlendedStore(mixed, mask, d, y + i);
  });
}

}  // namespace

void Attend(const AttendCall& call) {
  const float score_scale = 1.0f / std::sqrt(static_cast<float>(call.head_size));
  const int64_t embed_dim = call.num_heads * call.head_size;
  const int64_t table_stride = PaddedSize(call.head_size);
  for (int64_t r = 0; r < call.num_rows; ++r) {
    const float* const* window = call.windows + r * call.window_stride;
    const int64_t size = call.window_sizes[r], score_stride = PaddedSize(size);
    for (int64_t h = 0; h < call.num_heads; ++h) {
      const float* query = call.queries + r * call.query_stride + h * call.head_size;
      const int64_t offset = call.layer_offset + h * call.head_size;
      float* scores = call.scores + h * score_stride;
      for (int64_t j = 0; j < size; ++j) {
        const int64_t row = (size - 1 - j) * table_stride;
        scores[j] = score_scale * RotatedProduct(query, window[j] + offset, call.cosines + row,
                                                 call.sines + row, call.head_size);
      }
    }
    for (int64_t h = 0; h < call.num_heads; ++h) {
      float* scores = call.scores + h * score_stride;
      SoftmaxScores(scores, size);
      MixValues(window, size, call.layer_offset + embed_dim + h * call.head_size, scores,
                call.head_size, call.y + r * call.y_stride + h * call.head_size);
    }
  }
}

}  // namespace lzero::packed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
