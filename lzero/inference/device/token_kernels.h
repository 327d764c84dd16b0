// The arithmetic of a captured step, one row (and head) of each task of step_tasks.h. A CUDA kernel
// is one of these functions for each block, whose lanes (base/lanes/one_lane.h) share the row;
// compiled for the host with one lane, they are what tests without a device run. Plain pointers, no
// checks, no allocation.
#ifndef LZERO_INFERENCE_DEVICE_TOKEN_KERNELS_H_
#define LZERO_INFERENCE_DEVICE_TOKEN_KERNELS_H_

#include <cmath>
#include <cstdint>

#include "lzero/base/host_device.h"
#include "lzero/inference/device/bfloat16.h"
#include "lzero/inference/device/step_tasks.h"

namespace lzero {

inline constexpr float kStepNormEpsilon = 1e-5f;

// gelu(x), tanh form.
LZ_HOST_DEVICE inline float GeluOf(float x) {
  const float inner = 0.7978845608028654f * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + tanhf(inner));
}

// LayerNorm of `value(i)`, i < size: calls put(i, result).
template <typename Lanes, typename Value, typename Put>
LZ_HOST_DEVICE void NormalizeRow(const Lanes& lanes, int size, const NormPointers& norm,
                                 const Value& value, const Put& put) {
  float sum = 0.0f;
  for (int i = lanes.lane(); i < size; i += lanes.count()) sum += value(i);
  const float mean = lanes.Sum(sum) / static_cast<float>(size);
  float squares = 0.0f;
  for (int i = lanes.lane(); i < size; i += lanes.count()) {
    const float from_mean = value(i) - mean;
    squares += from_mean * from_mean;
  }
  const float variance = lanes.Sum(squares) / static_cast<float>(size);
  const float scale = 1.0f / sqrtf(variance + kStepNormEpsilon);
  for (int i = lanes.lane(); i < size; i += lanes.count()) {
    const float normal = (value(i) - mean) * scale;
    put(i, norm.weight != nullptr ? normal * norm.weight[i] + norm.bias[i] : normal);
  }
}

// x [size] of one row -> `normal` [size] operands. Each lane reads what it wrote itself.
template <typename Operand, typename Lanes>
LZ_HOST_DEVICE void NormalizeInto(const Lanes& lanes, const float* x, int size,
                                  const NormPointers& norm, Operand* normal) {
  NormalizeRow(
      lanes, size, norm, [x](int i) { return x[i]; },
      [normal](int i, float result) { normal[i] = Operand(result); });
}

template <typename Operand, typename Lanes>
LZ_HOST_DEVICE void PutAction(const Lanes& lanes, const PutActionTask& task, int row) {
  const int64_t* action =
      task.rows.numbers + int64_t{row} * task.rows.row_size + task.rows.window + 2;
  const int64_t at = int64_t{row} * task.size;
  float* x = task.x + at;
  for (int i = lanes.lane(); i < task.size; i += lanes.count()) {
    if (task.action_dim == 0) {
      x[i] = task.table[*action * task.size + i];
      continue;
    }
    const float* numbers = reinterpret_cast<const float*>(action);
    float sum = task.table[int64_t{task.action_dim} * task.size + i];
    for (int d = 0; d < task.action_dim; ++d) sum += numbers[d] * task.table[d * task.size + i];
    x[i] = sum;
  }
  NormalizeInto(lanes, x, task.size, task.norm, static_cast<Operand*>(task.normal) + at);
}

template <typename Operand, typename Lanes>
LZ_HOST_DEVICE void AddAndNormalize(const Lanes& lanes, const AddAndNormalizeTask& task, int row) {
  const int64_t at = int64_t{row} * task.size;
  float* x = task.x + at;
  for (int i = lanes.lane(); i < task.size; i += lanes.count()) x[i] += task.bias[i];
  NormalizeInto(lanes, x, task.size, task.norm, static_cast<Operand*>(task.normal) + at);
}

// Head `head` (0 or 1) of one row.
template <typename Operand, typename Lanes>
LZ_HOST_DEVICE void HeadsGelu(const Lanes& lanes, const HeadsGeluTask& task, int row, int head) {
  const int64_t at = (int64_t{row} * 2 + head) * task.size, of_head = int64_t{head} * task.size;
  const float* hidden = task.hidden + at;
  const float* bias = task.bias + of_head;
  Operand* active = static_cast<Operand*>(task.active) + at;
  NormalizeRow(
      lanes, task.size, {task.norm.weight + of_head, task.norm.bias + of_head},
      [hidden, bias](int i) { return hidden[i] + bias[i]; },
      [active](int i, float result) { active[i] = Operand(GeluOf(result)); });
}

// The value of the mean atom under softmax(logits + bias). [MuZero App. F]
template <typename Lanes>
LZ_HOST_DEVICE void Decode(const Lanes& lanes, const DecodeTask& task, int row) {
  const float* logits = task.logits + int64_t{row} * task.support.size;
  float peak = -INFINITY;
  for (int i = lanes.lane(); i < task.support.size; i += lanes.count()) {
    peak = fmaxf(peak, logits[i] + task.bias[i]);
  }
  peak = lanes.Max(peak);
  float sum = 0.0f, moment = 0.0f;
  for (int i = lanes.lane(); i < task.support.size; i += lanes.count()) {
    const float weight = expf(logits[i] + task.bias[i] - peak);
    sum += weight;
    moment += weight * (static_cast<float>(i) + task.support.origin);
  }
  sum = lanes.Sum(sum);
  moment = lanes.Sum(moment);
  if (lanes.lane() == 0) task.values[row] = task.support.ValueOf(moment / sum);
}

// Softmax of each group of x [size].
template <typename Lanes>
LZ_HOST_DEVICE void SimNorm(const Lanes& lanes, int size, int group, float* x) {
  for (int first = lanes.lane() * group; first < size; first += lanes.count() * group) {
    float peak = x[first], sum = 0.0f;
    for (int i = first; i < first + group; ++i) peak = fmaxf(peak, x[i]);
    for (int i = first; i < first + group; ++i) sum += x[i] = expf(x[i] - peak);
    for (int i = first; i < first + group; ++i) x[i] /= sum;
  }
}

template <typename Operand, typename Lanes>
LZ_HOST_DEVICE void ReadAction(const Lanes& lanes, const ReadActionTask& task, int row) {
  if (task.rewards.values != nullptr) Decode(lanes, task.rewards, row);
  const int64_t at = int64_t{row} * task.size;
  const float* latent = task.latents + at;
  float* x = task.x + at;
  for (int i = lanes.lane(); i < task.size; i += lanes.count()) {
    x[i] = latent[i] + (task.bias != nullptr ? task.bias[i] : 0.0f);
  }
  if (task.norm_group > 0) {
    lanes.Join();  // a group is not what its lane wrote
    SimNorm(lanes, task.size, task.norm_group, x);
    lanes.Join();
  } else {
    NormalizeInto(lanes, x, task.size, {nullptr, nullptr}, x);
  }
  NormalizeInto(lanes, x, task.size, task.norm, static_cast<Operand*>(task.normal) + at);
}

template <typename Lanes>
LZ_HOST_DEVICE void ReadLatent(const Lanes& lanes, const ReadLatentTask& task, int row) {
  Decode(lanes, task.values, row);
  const int64_t at = int64_t{row} * task.policy_size;
  for (int i = lanes.lane(); i < task.policy_size; i += lanes.count()) {
    task.prior_logits[at + i] = task.policy[at + i] + task.bias[i];
  }
}

// Position `position` of what the token sees, [L, 2, E]. The window slides
// by one for the latent token: the oldest token leaves, the action token enters.
LZ_HOST_DEVICE inline const float* SeenToken(const AttendTask& task, const int64_t* numbers,
                                             int position) {
  const int window = task.rows.window;
  const int64_t token_size = int64_t{task.num_layers} * 2 * task.num_heads * task.head_size;
  const int at = position + task.token;
  return task.pool + numbers[at < window ? at : window + 1] * token_size;
}

// Calls body(i, pair) for the pairs of channels of this lane: its i-th is lane + i * count. A count
// known when it is compiled keeps what is indexed by i in registers.
template <typename Lanes, typename Body>
LZ_HOST_DEVICE void ForEachPair(const Lanes& lanes, int num_pairs, const Body& body) {
  LZ_UNROLL
  for (int i = 0; i < Lanes::kMostPairs; ++i) {
    const int pair = lanes.lane() + i * lanes.count();
    if (pair < num_pairs) body(i, pair);
  }
}

// Attention of one row and head. A lane has pairs of channels lane, lane + count, ..., at most
// Lanes::kMostPairs of them.
template <typename Operand, typename Lanes>
LZ_HOST_DEVICE void Attend(const Lanes& lanes, const AttendTask& task, int row, int head) {
  const int window = task.rows.window, size = task.head_size, num_pairs = size / 2;
  const int embed_dim = task.num_heads * size;
  const int64_t* numbers = task.rows.numbers + int64_t{row} * task.rows.row_size;
  const int64_t token_size = int64_t{task.num_layers} * 2 * embed_dim;
  const int64_t in_token = int64_t{task.layer} * 2 * embed_dim + head * size;
  const float* qkv = task.qkv + int64_t{row} * 3 * embed_dim + head * size;
  const float* bias = task.bias + head * size;
  const int64_t own_slot = numbers[window + 1];
  float* own =
      own_slot == kIdleSlot ? nullptr : task.pool + (own_slot + task.token) * token_size + in_token;
  float query[2 * Lanes::kMostPairs], mixed[2 * Lanes::kMostPairs];
  float product = 0.0f;
  ForEachPair(lanes, num_pairs, [&](int i, int pair) {
    for (int side = 0; side < 2; ++side) {
      const int channel = 2 * pair + side;
      const float key = qkv[embed_dim + channel] + bias[embed_dim + channel];
      const float value = qkv[2 * embed_dim + channel] + bias[2 * embed_dim + channel];
      query[2 * i + side] = qkv[channel] + bias[channel];
      mixed[2 * i + side] = value;
      product += query[2 * i + side] * key;
      if (own == nullptr) continue;
      own[channel] = key;
      own[embed_dim + channel] = value;
    }
  });
  // Itself first, then the context, newest last: what came so far is scaled down when a larger
  // score comes.
  const float scale = 1.0f / sqrtf(static_cast<float>(size));
  float peak = lanes.Sum(product) * scale, sum = 1.0f;
  const int length = own == nullptr ? 0 : static_cast<int>(numbers[window]) + task.token;
  for (int position = length < window ? window - length : 0; position < window; ++position) {
    const float* seen = SeenToken(task, numbers, position) + in_token;
    const float* rotation = task.rotations + int64_t{position} * size;
    product = 0.0f;
    ForEachPair(lanes, num_pairs, [&](int i, int pair) {
      const float cosine = rotation[2 * pair], sine = rotation[2 * pair + 1];
      const float first = seen[2 * pair], second = seen[2 * pair + 1];
      product += query[2 * i] * (first * cosine - second * sine) +
                 query[2 * i + 1] * (first * sine + second * cosine);
    });
    const float score = lanes.Sum(product) * scale;
    const float next_peak = fmaxf(peak, score);
    const float keep = expf(peak - next_peak), weight = expf(score - next_peak);
    peak = next_peak;
    sum = sum * keep + weight;
    ForEachPair(lanes, num_pairs, [&](int i, int pair) {
      for (int side = 0; side < 2; ++side) {
        mixed[2 * i + side] =
            mixed[2 * i + side] * keep + weight * seen[embed_dim + 2 * pair + side];
      }
    });
  }
  Operand* to = static_cast<Operand*>(task.mixed) + int64_t{row} * embed_dim + head * size;
  ForEachPair(lanes, num_pairs, [&](int i, int pair) {
    for (int side = 0; side < 2; ++side) to[2 * pair + side] = Operand(mixed[2 * i + side] / sum);
  });
}

}  // namespace lzero

#endif  // LZERO_INFERENCE_DEVICE_TOKEN_KERNELS_H_
