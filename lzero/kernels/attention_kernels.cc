#include "lzero/kernels/attention_kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lzero/kernels/instruction_set.h"
#include "lzero/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lzero/kernels/attention_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::HWY_NAMESPACE {
namespace {

// Arrays of one head of one sample, rows padded to whole vectors: [T, padded D] each.
struct HeadArrays {
  int64_t row_size;  // padded
  int64_t num_keys;  // padded K
  float *query, *key, *dquery, *dkey;
  float* scores;  // [T, padded K] of a token's keys, from its first on
};

HWY_INLINE HeadArrays MakeHeadArrays(const AttentionTask& task, float* storage) {
  const int64_t row_size = (task.head_size + 15) / 16 * 16, size = task.tokens * row_size;
  const int64_t num_keys = (std::min(task.window, task.tokens) + 15) / 16 * 16;
  return {row_size,           num_keys,           storage,           storage + size,
          storage + 2 * size, storage + 3 * size, storage + 4 * size};
}

struct KeyRange {
  int64_t first, count;
};

HWY_INLINE KeyRange KeysOf(const AttentionTask& task, int64_t sample, int64_t token) {
  const int64_t padding = task.num_padding == nullptr ? 0 : task.num_padding[sample];
  int64_t first = token < task.window ? 0 : token - task.window + 1;
  if (first < padding) first = padding;
  if (first > token) first = token;
  return {first, token - first + 1};
}

HWY_INLINE float ScoreScale(int64_t head_size) {
  return 1.0f / std::sqrt(static_cast<float>(head_size));
}

// x from j on, each number in the place of the other one of its pair.
template <class Lanes>
HWY_INLINE Floats LoadSwapped(Lanes lanes, const float* x, int64_t j) {
#if HWY_TARGET == HWY_SCALAR
  return Load(lanes, x + (j ^ 1));
#else
  return hn::Shuffle2301(Load(lanes, x + j));
#endif
}

// x from j on, rotated.
template <class Lanes>
HWY_INLINE Floats Rotated(Lanes lanes, const float* x, int64_t j, Floats cosines, Floats sines) {
  // Most angles are small: the cosine's product is the one that is not rounded.
  return hn::MulAdd(Load(lanes, x + j), cosines, hn::Mul(LoadSwapped(lanes, x, j), sines));
}

// scores[i] = scale * (query . key(i)) for i < count, and anything for up to three more.
// `query(lanes, j, i)` are numbers of the query from j on, as key i sees it.
template <class Query, class Key>
HWY_INLINE void ComputeScores(int64_t count, int64_t size, float scale, const Query& query,
                              const Key& key, float* scores) {
  for (int64_t first = 0; first < count; first += 4) {
    int64_t places[4];
    const float* keys[4];
    for (int64_t i = 0; i < 4; ++i) {
      places[i] = std::min(first + i, count - 1);
      keys[i] = key(places[i]);
    }
    Floats sums[4] = {Zero(), Zero(), Zero(), Zero()};
    ForEachVector(size, [&](int64_t j, auto lanes) HWY_ATTR {
#pragma GCC unroll 4
      for (int64_t i = 0; i < 4; ++i) {
        sums[i] = hn::MulAdd(query(lanes, j, places[i]), Load(lanes, keys[i] + j), sums[i]);
      }
    });
    SumFour(sums, scale, scores + first);
  }
}

// to [size] = the sum of factors[i] * row(i) for i < count.
template <class Row>
HWY_INLINE void MixRows(const float* factors, int64_t count, int64_t size, const Row& row,
                        float* to) {
  ForEachVector(size, [&](int64_t j, auto lanes) HWY_ATTR {
    Floats sum = Zero();
    for (int64_t i = 0; i < count; ++i) {
      sum = hn::MulAdd(Set(factors[i]), Load(lanes, row(i) + j), sum);
    }
    Store(lanes, sum, to + j);
  });
}

void WindowForward(const WindowAttentionTask& task, float* out, int64_t out_stride) {
  const int64_t size = task.head_size, embed_dim = task.heads * size;
  const int64_t score_stride = (task.window_stride + 15) / 16 * 16;
  for (int64_t r = 0; r < task.rows; ++r) {
    const float* const* window = task.windows + r * task.window_stride;
    const int64_t count = task.window_sizes[r];
    for (int64_t h = 0; h < task.heads; ++h) {
      const float* head_query = task.queries + r * task.query_stride + h * size;
      const int64_t offset = task.layer_offset + h * size;
      // Instead of every key by its place the query is rotated back by its distance, which gives
      // the same product: q . R(-d) k = (R(d) q) . k.
      const auto query = [&](auto lanes, int64_t j, int64_t i) HWY_ATTR {
        const int64_t at = (count - 1 - i) * task.table_stride + j;
        return Rotated(lanes, head_query, j, Load(lanes, task.cosines + at),
                       Load(lanes, task.sines + at));
      };
      const auto key = [&](int64_t i) { return window[i] + offset; };
      ComputeScores(count, size, ScoreScale(size), query, key, task.scores + h * score_stride);
    }
    for (int64_t h = 0; h < task.heads; ++h) {
      float* scores = task.scores + h * score_stride;
      const int64_t offset = task.layer_offset + embed_dim + h * size;
      Softmax<true>(scores, count, scores);
      const auto value = [&](int64_t i) { return window[i] + offset; };
      MixRows(scores, count, size, value, out + r * out_stride + h * size);
    }
  }
}

// to [D] = from rotated by the angle of `token`, backwards for direction -1.
HWY_INLINE void RotateRow(const AttentionTask& task, int64_t token, float direction,
                          const float* from, float* to) {
  const float* cosines = task.cosines + token * task.head_size;
  const float* sines = task.sines + token * task.head_size;
  ForEachVector(task.head_size, [&](int64_t j, auto lanes) HWY_ATTR {
    const Floats sine = hn::Mul(Set(direction), Load(lanes, sines + j));
    Store(lanes, Rotated(lanes, from, j, Load(lanes, cosines + j), sine), to + j);
  });
}

// Where one head of one sample lies: rows `stride` apart.
struct Head {
  const float *query, *key, *value;
  int64_t stride;
};

HWY_INLINE Head HeadOf(const AttentionTask& task, int64_t sample, int64_t head) {
  const int64_t width = task.heads * task.head_size;
  const float* begin = task.qkv + sample * task.tokens * 3 * width + head * task.head_size;
  return {begin, begin + width, begin + 2 * width, 3 * width};
}

// Rotated queries and keys of one head.
HWY_INLINE void RotateHead(const AttentionTask& task, const Head& head, const HeadArrays& arrays) {
  for (int64_t token = 0; token < task.tokens; ++token) {
    const int64_t at = token * arrays.row_size, from = token * head.stride;
    RotateRow(task, token, 1.0f, head.query + from, arrays.query + at);
    RotateRow(task, token, 1.0f, head.key + from, arrays.key + at);
  }
}

// Each stage for all queries, so that one query's latency hides behind the others.
void SequenceForward(const AttentionTask& task, float* storage, float* out, int64_t sample,
                     int64_t head) {
  const HeadArrays arrays = MakeHeadArrays(task, storage);
  const int64_t num_tokens = task.tokens, size = task.head_size, row_size = arrays.row_size;
  const Head places = HeadOf(task, sample, head);
  RotateHead(task, places, arrays);
  for (int64_t token = 0; token < num_tokens; ++token) {
    const KeyRange keys = KeysOf(task, sample, token);
    const float* row = arrays.query + token * row_size;
    const auto query = [&](auto lanes, int64_t j, int64_t)
                           HWY_ATTR { return Load(lanes, row + j); };
    const auto key = [&](int64_t i) { return arrays.key + (keys.first + i) * row_size; };
    ComputeScores(keys.count, size, ScoreScale(size), query, key,
                  arrays.scores + token * arrays.num_keys);
  }
  for (int64_t token = 0; token < num_tokens; ++token) {
    float* scores = arrays.scores + token * arrays.num_keys;
    Softmax<true>(scores, KeysOf(task, sample, token).count, scores);
  }
  for (int64_t token = 0; token < num_tokens; ++token) {
    const KeyRange keys = KeysOf(task, sample, token);
    const auto value = [&](int64_t i) { return places.value + (keys.first + i) * places.stride; };
    MixRows(arrays.scores + token * arrays.num_keys, keys.count, size, value,
            out + ((sample * num_tokens + token) * task.heads + head) * size);
  }
  if (task.probabilities == nullptr) return;
  const int64_t num_keys = std::min(task.window, num_tokens);
  float* kept = task.probabilities + (sample * task.heads + head) * num_tokens * num_keys;
  for (int64_t token = 0; token < num_tokens; ++token) {
    const float* scores = arrays.scores + token * arrays.num_keys;
    ForEachVector(KeysOf(task, sample, token).count, [&](int64_t j, auto lanes) HWY_ATTR {
      Store(lanes, Load(lanes, scores + j), kept + token * num_keys + j);
    });
  }
}

struct Backward {
  const AttentionTask& task;
  HeadArrays arrays;
  Head places;
  const float* dout;           // of this head, rows as wide as out
  const float* probabilities;  // of this head [T, K]
  float* dqkv;                 // of this head, rows as wide as qkv
  int64_t num_keys;            // K
  int64_t sample;

  const float* DoutOf(int64_t token) const { return dout + token * (places.stride / 3); }

  // The gradients of a query's scores.
  HWY_INLINE void RunQuery(int64_t token) const {
    const KeyRange keys = KeysOf(task, sample, token);
    const float *row = DoutOf(token), *chosen = probabilities + token * num_keys;
    float* dscores = arrays.scores + token * arrays.num_keys;
    const auto query = [&](auto lanes, int64_t j, int64_t)
                           HWY_ATTR { return Load(lanes, row + j); };
    const auto value = [&](int64_t i) { return places.value + (keys.first + i) * places.stride; };
    ComputeScores(keys.count, task.head_size, 1.0f, query, value, dscores);
    Floats sums = Zero();
    ForEachVector(keys.count, [&](int64_t i, auto lanes) HWY_ATTR {
      sums = hn::MulAdd(Load(lanes, dscores + i), Load(lanes, chosen + i), sums);
    });
    const Floats mean = Set(Sum(sums)), scale = Set(ScoreScale(task.head_size));
    ForEachVector(keys.count, [&](int64_t i, auto lanes) HWY_ATTR {
      const Floats slope = hn::Sub(Load(lanes, dscores + i), mean);
      Store(hn::Mul(hn::Mul(scale, Load(lanes, chosen + i)), slope), dscores + i);
    });
  }

  // The gradients of a key and its value, from all queries that see it.
  HWY_INLINE void RunKey(int64_t token) const {
    float* dvalues = dqkv + token * places.stride + 2 * (places.stride / 3);
    ForEachVector(task.head_size, [&](int64_t j, auto lanes) HWY_ATTR {
      Floats dkey = Zero(), dvalue = Zero();
      for (int64_t query = token; query < task.tokens && query < token + task.window; ++query) {
        const int64_t first = KeysOf(task, sample, query).first, place = token - first;
        if (place < 0) break;
        const Floats slope = Set(arrays.scores[query * arrays.num_keys + place]);
        dkey = hn::MulAdd(slope, Load(lanes, arrays.query + query * arrays.row_size + j), dkey);
        dvalue = hn::MulAdd(Set(probabilities[query * num_keys + place]),
                            Load(lanes, DoutOf(query) + j), dvalue);
      }
      Store(lanes, dkey, arrays.dkey + token * arrays.row_size + j);
      Store(lanes, dvalue, dvalues + j);
    });
  }

  HWY_INLINE void Run() const {
    const int64_t row_size = arrays.row_size;
    RotateHead(task, places, arrays);
    for (int64_t token = 0; token < task.tokens; ++token) RunQuery(token);
    for (int64_t token = 0; token < task.tokens; ++token) {
      const KeyRange keys = KeysOf(task, sample, token);
      const auto key = [&](int64_t i) { return arrays.key + (keys.first + i) * row_size; };
      MixRows(arrays.scores + token * arrays.num_keys, keys.count, task.head_size, key,
              arrays.dquery + token * row_size);
      RunKey(token);
    }
    for (int64_t token = 0; token < task.tokens; ++token) {
      float* to = dqkv + token * places.stride;
      RotateRow(task, token, -1.0f, arrays.dquery + token * row_size, to);
      RotateRow(task, token, -1.0f, arrays.dkey + token * row_size, to + places.stride / 3);
    }
  }
};

HWY_INLINE void PrefetchRow(const float* row, int64_t count) {
  constexpr int64_t kCacheLine = 64 / sizeof(float);
  for (int64_t j = 0; j < count; j += kCacheLine) __builtin_prefetch(row + j);
}

void SequenceBackward(const AttentionTask& task, float* storage, const float* dout, float* dqkv,
                      int64_t sample, int64_t head) {
  const int64_t num_keys = std::min(task.window, task.tokens), num_scores = task.tokens * num_keys;
  const int64_t width = task.heads * task.head_size, at = sample * task.tokens * width;
  const int64_t column = head * task.head_size;
  // What the forward pass kept of the same head of the next sample.
  const Head next = HeadOf(task, sample + 1, head);
  for (int64_t i = 0; i < 3 * task.tokens; ++i) {
    PrefetchRow(next.query + i * width, task.head_size);
  }
  const float* probabilities = task.probabilities + (sample * task.heads + head) * num_scores;
  PrefetchRow(probabilities + task.heads * num_scores, num_scores);
  const HeadArrays arrays = MakeHeadArrays(task, storage);
  const Backward backward = {task,
                             arrays,
                             HeadOf(task, sample, head),
                             dout + at + column,
                             probabilities,
                             dqkv + 3 * at + column,
                             num_keys,
                             sample};
  backward.Run();
}

}  // namespace
}  // namespace lzero::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lzero {
namespace {

constexpr int64_t kSamplesAThread = 4;

int64_t StorageSize(const AttentionTask& task) {
  const int64_t row_size = (task.head_size + 15) / 16 * 16,
                num_keys = (NumKeys(task) + 15) / 16 * 16;
  return task.tokens * (4 * row_size + num_keys);
}

// Calls run(storage, sample, head) for every head of every sample, each thread with its own
// storage.
template <typename Function>
void ForEachHead(const AttentionTask& task, const Function& run) {
  ParallelFor(0, task.samples, kSamplesAThread, [&](int64_t begin, int64_t end) {
    thread_local std::vector<float> storage;
    storage.resize(static_cast<size_t>(StorageSize(task)));
    for (int64_t sample = begin; sample < end; ++sample) {
      for (int64_t head = 0; head < task.heads; ++head) run(storage.data(), sample, head);
    }
  });
}

}  // namespace

int64_t NumKeys(const AttentionTask& task) { return std::min(task.window, task.tokens); }

void RunAttention(const AttentionTask& task, float* out) {
  ForEachHead(task, [&](float* storage, int64_t sample, int64_t head) {
    LZ_KERNEL(SequenceForward)(task, storage, out, sample, head);
  });
}

void RunAttentionBackward(const AttentionTask& task, const float* dout, float* dqkv) {
  ForEachHead(task, [&](float* storage, int64_t sample, int64_t head) {
    LZ_KERNEL(SequenceBackward)(task, storage, dout, dqkv, sample, head);
  });
}

void AttendWindows(const WindowAttentionTask& task, float* out, int64_t out_stride) {
  LZ_KERNEL(WindowForward)(task, out, out_stride);
}

}  // namespace lzero
#endif
