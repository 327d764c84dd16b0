#include "lzero/kernels/attention_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "lzero/kernels/parallel.h"
#include "lzero/kernels/vector_math.h"

namespace lzero {
namespace {

using simd::Floats;
using simd::KeepFirst;
using simd::kLanes;
using simd::Load;
using simd::LoadSome;
using simd::Store;
using simd::StoreSome;

constexpr int64_t kMostLanes = 16;
constexpr int64_t kSamplesAThread = 4;

int64_t Padded(int64_t size) { return (size + kMostLanes - 1) / kMostLanes * kMostLanes; }

// Arrays of one head of one sample, rows padded with zeros to whole registers: [T, padded D] each.
struct HeadArrays {
  int64_t row_size;  // padded
  int64_t num_keys;  // padded K
  float *query, *key, *value, *dquery, *dkey, *dvalue, *dout;
  float *probabilities, *dscores;  // [T, padded K] of a token's keys, from its first on
};

HeadArrays MakeHeadArrays(const AttentionTask& task, std::vector<float>& storage) {
  const int64_t row_size = Padded(task.head_size), num_keys = Padded(NumKeys(task));
  const int64_t size = task.tokens * row_size, scores = task.tokens * num_keys;
  // Behind the last array three rows that are read and not used.
  storage.assign(static_cast<size_t>(7 * size + 2 * scores + 3 * row_size), 0.0f);
  float* begin = storage.data();
  return {row_size,
          num_keys,
          begin,
          begin + size,
          begin + 2 * size,
          begin + 3 * size,
          begin + 4 * size,
          begin + 5 * size,
          begin + 6 * size,
          begin + 7 * size,
          begin + 7 * size + scores};
}

struct KeyRange {
  int64_t first, count;
};

LZ_INLINE KeyRange KeysOf(const AttentionTask& task, int64_t sample, int64_t token) {
  const int64_t padding = task.num_padding == nullptr ? 0 : task.num_padding[sample];
  int64_t first = token < task.window ? 0 : token - task.window + 1;
  if (first < padding) first = padding;
  if (first > token) first = token;
  return {first, token - first + 1};
}

LZ_INLINE float ScoreScale(const AttentionTask& task) {
  return 1.0f / __builtin_sqrtf(static_cast<float>(task.head_size));
}

// The other channel of each rotated pair.
template <int Bytes>
LZ_INLINE Floats<Bytes> SwapPairs(Floats<Bytes> x) {
  if constexpr (Bytes == 64) {
    return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
  } else if constexpr (Bytes == 32) {
    return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
  } else {
    return __builtin_shufflevector(x, x, 1, 0, 3, 2);
  }
}

// to = from rotated by the angle of `token`, backwards for direction -1. D numbers.
template <int Bytes, bool Whole>
LZ_INLINE void RotateSome(const AttentionTask& task, int64_t token, float direction,
                          const float* from, float* to) {
  const float* cosines = task.cosines + token * task.head_size;
  const float* sines = task.sines + token * task.head_size;
  for (int64_t j = 0; j < task.head_size; j += kLanes<Bytes>) {
    const int64_t count = task.head_size - j;
    const Floats<Bytes> x = LoadSome<Bytes, Whole>(from + j, count);
    const Floats<Bytes> cosine = LoadSome<Bytes, Whole>(cosines + j, count);
    const Floats<Bytes> sine = direction * LoadSome<Bytes, Whole>(sines + j, count);
    StoreSome<Bytes, Whole>(x * cosine + SwapPairs<Bytes>(x) * sine, to + j, count);
  }
}

template <int Bytes>
LZ_INLINE void RotateRow(const AttentionTask& task, int64_t token, float direction,
                         const float* from, float* to) {
  if (task.head_size % kLanes<Bytes> == 0) {
    RotateSome<Bytes, true>(task, token, direction, from, to);
  } else {
    RotateSome<Bytes, false>(task, token, direction, from, to);
  }
}

// Lane i is the product of `row` with row i of `rows`, for i < count; other lanes are anything.
template <int Bytes>
LZ_INLINE Floats<Bytes> DotRows(const float* row, const float* rows, int64_t count,
                                int64_t row_size) {
  constexpr int64_t kFours = kLanes<Bytes> / 4;
  Floats<16> dots[kFours] = {};
#pragma GCC unroll 4
  for (int64_t four = 0; four < kFours; ++four) {
    if (4 * four >= count) break;
    Floats<Bytes> sums[4] = {};
    for (int64_t j = 0; j < row_size; j += kLanes<Bytes>) {
      const Floats<Bytes> x = Load<Bytes>(row + j);
#pragma GCC unroll 4
      for (int64_t i = 0; i < 4; ++i) {
        sums[i] += x * Load<Bytes>(rows + (4 * four + i) * row_size + j);
      }
    }
    dots[four] = simd::SumFour<Bytes>(sums);
  }
  Floats<Bytes> result;
  std::memcpy(&result, dots, sizeof(result));
  return result;
}

// to = the sum of factors[i] * row i of `rows`, for i < count.
template <int Bytes>
LZ_INLINE void MixRows(const float* factors, const float* rows, int64_t count, int64_t row_size,
                       float* to) {
  for (int64_t j = 0; j < row_size; j += kLanes<Bytes>) {
    Floats<Bytes> sum = {};
    for (int64_t i = 0; i < count; ++i) {
      sum += factors[i] * Load<Bytes>(rows + i * row_size + j);
    }
    Store<Bytes>(sum, to + j);
  }
}

LZ_INLINE void CopyRow(const float* from, int64_t count, float* to) {
  int64_t j = 0;
  for (; j + kLanes<16> <= count; j += kLanes<16>) Store<16>(Load<16>(from + j), to + j);
  for (; j < count; ++j) to[j] = from[j];
}

constexpr int64_t kCacheLine = 64 / sizeof(float);

LZ_INLINE void PrefetchRow(const float* row, int64_t count) {
  for (int64_t j = 0; j < count; j += kCacheLine) __builtin_prefetch(row + j);
}

// Rotated queries and keys, and values of one head.
template <int Bytes>
LZ_INLINE void GatherHead(const AttentionTask& task, int64_t sample, int64_t head,
                          const HeadArrays& arrays) {
  const int64_t width = task.heads * task.head_size;
  for (int64_t token = 0; token < task.tokens; ++token) {
    const float* row =
        task.qkv + (sample * task.tokens + token) * 3 * width + head * task.head_size;
    const int64_t at = token * arrays.row_size;
    RotateRow<Bytes>(task, token, 1.0f, row, arrays.query + at);
    RotateRow<Bytes>(task, token, 1.0f, row + width, arrays.key + at);
    CopyRow(row + 2 * width, task.head_size, arrays.value + at);
  }
}

// scale * (query . key) for `count` keys; -infinity up to a whole register.
template <int Bytes>
LZ_INLINE void ComputeScores(const float* query, const float* keys, int64_t count, int64_t row_size,
                             float scale, float* scores) {
  for (int64_t i = 0; i < count; i += kLanes<Bytes>) {
    const Floats<Bytes> dots = DotRows<Bytes>(query, keys + i * row_size, count - i, row_size);
    Store<Bytes>(KeepFirst<Bytes>(scale * dots, count - i, -__builtin_inff()), scores + i);
  }
}

// Softmax of `count` scores that ComputeScores wrote, in place; zeros up to a whole register.
template <int Bytes>
LZ_INLINE void Softmax(float* scores, int64_t count) {
  const float factor = 1.0f / simd::ExpOfRow<Bytes>(scores, count, scores).sum;
  for (int64_t i = 0; i < count; i += kLanes<Bytes>) {
    Store<Bytes>(factor * Load<Bytes>(scores + i), scores + i);
  }
}

struct AttentionForward {
  // Each stage for all queries, so that one query's latency hides behind the others.
  template <int Bytes>
  LZ_INLINE static void Run(const AttentionTask* task, const HeadArrays* head_arrays, float* out,
                            int64_t sample, int64_t head) {
    const HeadArrays& arrays = *head_arrays;
    const int64_t row_size = arrays.row_size, num_tokens = task->tokens;
    const float scale = ScoreScale(*task);
    GatherHead<Bytes>(*task, sample, head, arrays);
    for (int64_t token = 0; token < num_tokens; ++token) {
      const KeyRange keys = KeysOf(*task, sample, token);
      ComputeScores<Bytes>(arrays.query + token * row_size, arrays.key + keys.first * row_size,
                           keys.count, row_size, scale,
                           arrays.probabilities + token * arrays.num_keys);
    }
    for (int64_t token = 0; token < num_tokens; ++token) {
      Softmax<Bytes>(arrays.probabilities + token * arrays.num_keys,
                     KeysOf(*task, sample, token).count);
    }
    for (int64_t token = 0; token < num_tokens; ++token) {
      const KeyRange keys = KeysOf(*task, sample, token);
      // Not into an array that is read padded: what is no number here stays in this sample.
      float* mixed = arrays.dquery + token * row_size;
      MixRows<Bytes>(arrays.probabilities + token * arrays.num_keys,
                     arrays.value + keys.first * row_size, keys.count, row_size, mixed);
      CopyRow(mixed, task->head_size,
              out + ((sample * num_tokens + token) * task->heads + head) * task->head_size);
    }
    if (task->probabilities == nullptr) return;
    const int64_t num_keys = NumKeys(*task);
    float* kept = task->probabilities + (sample * task->heads + head) * num_tokens * num_keys;
    for (int64_t token = 0; token < num_tokens; ++token) {
      CopyRow(arrays.probabilities + token * arrays.num_keys, KeysOf(*task, sample, token).count,
              kept + token * num_keys);
    }
  }
};

struct AttentionBackward {
  // The gradients of a query's scores.
  template <int Bytes>
  LZ_INLINE static void RunQuery(const HeadArrays& arrays, const KeyRange& keys, int64_t token,
                                 float scale) {
    const int64_t row_size = arrays.row_size;
    const float* values = arrays.value + keys.first * row_size;
    const float* probabilities = arrays.probabilities + token * arrays.num_keys;
    float* dscores = arrays.dscores + token * arrays.num_keys;
    Floats<Bytes> sums = {};
    for (int64_t i = 0; i < keys.count; i += kLanes<Bytes>) {
      const int64_t count = keys.count - i;
      const Floats<Bytes> slopes = KeepFirst<Bytes>(
          DotRows<Bytes>(arrays.dout + token * row_size, values + i * row_size, count, row_size),
          count, 0.0f);
      Store<Bytes>(slopes, dscores + i);
      // Behind the keys lie probabilities of other samples.
      sums += KeepFirst<Bytes>(slopes * Load<Bytes>(probabilities + i), count, 0.0f);
    }
    const float mean = simd::Sum<Bytes>(sums);
    for (int64_t i = 0; i < keys.count; i += kLanes<Bytes>) {
      Store<Bytes>(scale * Load<Bytes>(probabilities + i) * (Load<Bytes>(dscores + i) - mean),
                   dscores + i);
    }
  }

  // The gradients of a key and its value, from all queries that see it.
  template <int Bytes>
  LZ_INLINE static void RunKey(const AttentionTask& task, const HeadArrays& arrays, int64_t sample,
                               int64_t token) {
    const int64_t row_size = arrays.row_size;
    for (int64_t j = 0; j < row_size; j += kLanes<Bytes>) {
      Floats<Bytes> dkey = {}, dvalue = {};
      for (int64_t query = token; query < task.tokens && query < token + task.window; ++query) {
        const int64_t first = KeysOf(task, sample, query).first;
        if (first > token) break;
        const int64_t at = query * arrays.num_keys + token - first;
        dkey += arrays.dscores[at] * Load<Bytes>(arrays.query + query * row_size + j);
        dvalue += arrays.probabilities[at] * Load<Bytes>(arrays.dout + query * row_size + j);
      }
      Store<Bytes>(dkey, arrays.dkey + token * row_size + j);
      Store<Bytes>(dvalue, arrays.dvalue + token * row_size + j);
    }
  }

  // What the forward pass kept of the same head of the next sample.
  LZ_INLINE static void PrefetchNext(const AttentionTask& task, int64_t sample, int64_t head) {
    const int64_t width = task.heads * task.head_size, next = sample + 1;
    const float* row = task.qkv + next * task.tokens * 3 * width + head * task.head_size;
    for (int64_t i = 0; i < 3 * task.tokens; ++i) PrefetchRow(row + i * width, task.head_size);
    const int64_t num_scores = task.tokens * NumKeys(task);
    PrefetchRow(task.probabilities + (next * task.heads + head) * num_scores, num_scores);
  }

  // dout and probabilities of the head, padded.
  template <int Bytes>
  LZ_INLINE static void GatherGradients(const AttentionTask& task, const float* dout,
                                        const HeadArrays& arrays, int64_t sample, int64_t head) {
    const int64_t width = task.heads * task.head_size, num_keys = NumKeys(task);
    const float* kept = task.probabilities + (sample * task.heads + head) * task.tokens * num_keys;
    for (int64_t token = 0; token < task.tokens; ++token) {
      CopyRow(dout + (sample * task.tokens + token) * width + head * task.head_size, task.head_size,
              arrays.dout + token * arrays.row_size);
      CopyRow(kept + token * num_keys, KeysOf(task, sample, token).count,
              arrays.probabilities + token * arrays.num_keys);
    }
  }

  template <int Bytes>
  LZ_INLINE static void Run(const AttentionTask* task, const HeadArrays* head_arrays,
                            const float* dout, float* dqkv, int64_t sample, int64_t head) {
    const HeadArrays& arrays = *head_arrays;
    const int64_t width = task->heads * task->head_size;
    PrefetchNext(*task, sample, head);
    GatherHead<Bytes>(*task, sample, head, arrays);
    GatherGradients<Bytes>(*task, dout, arrays, sample, head);
    for (int64_t token = 0; token < task->tokens; ++token) {
      RunQuery<Bytes>(arrays, KeysOf(*task, sample, token), token, ScoreScale(*task));
    }
    for (int64_t token = 0; token < task->tokens; ++token) {
      const KeyRange keys = KeysOf(*task, sample, token);
      MixRows<Bytes>(arrays.dscores + token * arrays.num_keys,
                     arrays.key + keys.first * arrays.row_size, keys.count, arrays.row_size,
                     arrays.dquery + token * arrays.row_size);
      RunKey<Bytes>(*task, arrays, sample, token);
    }
    for (int64_t token = 0; token < task->tokens; ++token) {
      const int64_t at = token * arrays.row_size;
      float* to = dqkv + (sample * task->tokens + token) * 3 * width + head * task->head_size;
      RotateRow<Bytes>(*task, token, -1.0f, arrays.dquery + at, to);
      RotateRow<Bytes>(*task, token, -1.0f, arrays.dkey + at, to + width);
      CopyRow(arrays.dvalue + at, task->head_size, to + 2 * width);
    }
  }
};

// Calls run(arrays, sample, head) for every head of every sample, each thread with its own arrays.
template <typename Function>
void ForEachHead(const AttentionTask& task, const Function& run) {
  ParallelFor(0, task.samples, kSamplesAThread, [&](int64_t begin, int64_t end) {
    thread_local std::vector<float> storage;
    const HeadArrays arrays = MakeHeadArrays(task, storage);
    for (int64_t sample = begin; sample < end; ++sample) {
      for (int64_t head = 0; head < task.heads; ++head) run(&arrays, sample, head);
    }
  });
}

}  // namespace

int64_t NumKeys(const AttentionTask& task) { return std::min(task.window, task.tokens); }

void RunAttention(const AttentionTask& task, float* out) {
  ForEachHead(task, [&](const HeadArrays* arrays, int64_t sample, int64_t head) {
    simd::RunWidest<AttentionForward>(&task, arrays, out, sample, head);
  });
}

void RunAttentionBackward(const AttentionTask& task, const float* dout, float* dqkv) {
  ForEachHead(task, [&](const HeadArrays* arrays, int64_t sample, int64_t head) {
    simd::RunWidest<AttentionBackward>(&task, arrays, dout, dqkv, sample, head);
  });
}

}  // namespace lzero
