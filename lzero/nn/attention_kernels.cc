#include "lzero/nn/attention_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "ATen/Parallel.h"
#include "lzero/nn/vector_math.h"

namespace lzero {
namespace {

using simd::Floats;
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
  float *query, *key, *value, *dquery, *dkey, *dvalue, *dout;
  float *scores, *slopes;  // [padded K]
};

HeadArrays MakeHeadArrays(const AttentionTask& task, std::vector<float>& storage) {
  const int64_t row_size = Padded(task.head_size), keys = Padded(NumKeys(task));
  const int64_t size = task.tokens * row_size;
  storage.assign(static_cast<size_t>(7 * size + 2 * keys), 0.0f);
  float* begin = storage.data();
  return {row_size,         begin,
          begin + size,     begin + 2 * size,
          begin + 3 * size, begin + 4 * size,
          begin + 5 * size, begin + 6 * size,
          begin + 7 * size, begin + 7 * size + keys};
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

template <int Bytes>
LZ_INLINE float Dot(const float* a, const float* b, int64_t row_size) {
  Floats<Bytes> sum = {};
  for (int64_t j = 0; j < row_size; j += kLanes<Bytes>) {
    sum += Load<Bytes>(a + j) * Load<Bytes>(b + j);
  }
  return simd::Sum<Bytes>(sum);
}

// to += factor * from.
template <int Bytes>
LZ_INLINE void AddRow(float factor, const float* from, int64_t row_size, float* to) {
  for (int64_t j = 0; j < row_size; j += kLanes<Bytes>) {
    Store<Bytes>(Load<Bytes>(to + j) + factor * Load<Bytes>(from + j), to + j);
  }
}

LZ_INLINE void CopyRow(const float* from, int64_t count, float* to) {
  int64_t j = 0;
  for (; j + kLanes<16> <= count; j += kLanes<16>) Store<16>(Load<16>(from + j), to + j);
  for (; j < count; ++j) to[j] = from[j];
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

// Softmax of the first `count` scores, in place.
template <int Bytes>
LZ_INLINE void Softmax(float* scores, int64_t count) {
  float largest = scores[0];
  for (int64_t i = 1; i < count; ++i) largest = scores[i] > largest ? scores[i] : largest;
  float total = 0.0f;
  for (int64_t i = 0; i < count; i += kLanes<Bytes>) {
    Store<Bytes>(simd::Exp<Bytes>(Load<Bytes>(scores + i) - largest), scores + i);
  }
  for (int64_t i = 0; i < count; ++i) total += scores[i];
  for (int64_t i = 0; i < count; ++i) scores[i] /= total;
}

struct AttentionForward {
  template <int Bytes>
  LZ_INLINE static void Run(const AttentionTask* task, const HeadArrays* head_arrays, float* out,
                            int64_t sample, int64_t head) {
    const HeadArrays& arrays = *head_arrays;
    const int64_t row_size = arrays.row_size, num_keys = NumKeys(*task);
    const float scale = ScoreScale(*task);
    GatherHead<Bytes>(*task, sample, head, arrays);
    for (int64_t token = 0; token < task->tokens; ++token) {
      const KeyRange keys = KeysOf(*task, sample, token);
      for (int64_t i = 0; i < keys.count; ++i) {
        arrays.scores[i] = scale * Dot<Bytes>(arrays.query + token * row_size,
                                              arrays.key + (keys.first + i) * row_size, row_size);
      }
      Softmax<Bytes>(arrays.scores, keys.count);
      if (task->probabilities != nullptr) {
        CopyRow(arrays.scores, keys.count,
                task->probabilities +
                    ((sample * task->heads + head) * task->tokens + token) * num_keys);
      }
      float* mixed = out + ((sample * task->tokens + token) * task->heads + head) * task->head_size;
      for (int64_t j = 0; j < task->head_size; j += kLanes<Bytes>) {
        Floats<Bytes> sum = {};
        for (int64_t i = 0; i < keys.count; ++i) {
          sum += arrays.scores[i] * Load<Bytes>(arrays.value + (keys.first + i) * row_size + j);
        }
        StoreSome<Bytes, false>(sum, mixed + j, task->head_size - j);
      }
    }
  }
};

struct AttentionBackward {
  // One query: adds to the gradients of its keys and values, and writes its own.
  template <int Bytes>
  LZ_INLINE static void RunQuery(const HeadArrays& arrays, const KeyRange& keys,
                                 const float* probabilities, int64_t token, float scale) {
    const int64_t row_size = arrays.row_size;
    const float* dout = arrays.dout + token * row_size;
    float mean = 0.0f;
    for (int64_t i = 0; i < keys.count; ++i) {
      const int64_t at = (keys.first + i) * row_size;
      arrays.slopes[i] = Dot<Bytes>(dout, arrays.value + at, row_size);
      mean += probabilities[i] * arrays.slopes[i];
      AddRow<Bytes>(probabilities[i], dout, row_size, arrays.dvalue + at);
    }
    for (int64_t i = 0; i < keys.count; ++i) {
      const int64_t at = (keys.first + i) * row_size;
      const float slope = scale * probabilities[i] * (arrays.slopes[i] - mean);
      AddRow<Bytes>(slope, arrays.key + at, row_size, arrays.dquery + token * row_size);
      AddRow<Bytes>(slope, arrays.query + token * row_size, row_size, arrays.dkey + at);
    }
  }

  template <int Bytes>
  LZ_INLINE static void Run(const AttentionTask* task, const HeadArrays* head_arrays,
                            const float* dout, float* dqkv, int64_t sample, int64_t head) {
    const HeadArrays& arrays = *head_arrays;
    const int64_t row_size = arrays.row_size, num_keys = NumKeys(*task);
    const int64_t width = task->heads * task->head_size;
    GatherHead<Bytes>(*task, sample, head, arrays);
    const size_t bytes = static_cast<size_t>(task->tokens * row_size) * sizeof(float);
    for (float* sums : {arrays.dquery, arrays.dkey, arrays.dvalue}) std::memset(sums, 0, bytes);
    for (int64_t token = 0; token < task->tokens; ++token) {
      const int64_t row = sample * task->tokens + token;
      CopyRow(dout + row * width + head * task->head_size, task->head_size,
              arrays.dout + token * row_size);
      RunQuery<Bytes>(
          arrays, KeysOf(*task, sample, token),
          task->probabilities + ((sample * task->heads + head) * task->tokens + token) * num_keys,
          token, ScoreScale(*task));
    }
    for (int64_t token = 0; token < task->tokens; ++token) {
      const int64_t at = token * row_size;
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
  at::parallel_for(0, task.samples, kSamplesAThread, [&](int64_t begin, int64_t end) {
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
