// What each kernel of a captured step reads and writes, as plain structs that are passed by value:
// pointers into the memory of the device, owning nothing. The arithmetic is in token_kernels.h, the
// order in device_network.h. Axes: M rows, W - 1 tokens a context, L layers, E embed dim, H units
// of a head's hidden layer, S atoms, P policy size, D numbers of a box action. All arrays are
// contiguous; float32 unless said. "Operands" are what products read: float32, or bfloat16.
#ifndef LZERO_INFERENCE_DEVICE_STEP_TASKS_H_
#define LZERO_INFERENCE_DEVICE_STEP_TASKS_H_

#include <cstdint>

#include "lzero/base/host_device.h"
#include "lzero/kernels/value_support.h"
#include "lzero/kv_cache/step_rows.h"

namespace lzero {

// What a LayerNorm [size] multiplies with and adds; null: neither.
struct NormPointers {
  const float* weight;
  const float* bias;
};

// x becomes the tokens of the actions, and is normalised for the first block.
struct PutActionTask {
  StepRows rows;
  const float* table;  // [A, E]; box: [D + 1, E], a linear map and its bias
  int32_t action_dim;  // D; discrete: 0
  int32_t size;        // E
  NormPointers norm;
  float* x;      // [M, E]
  void* normal;  // [M, E] operands
};

// One layer's attention of the action token (`token` 0) or of the latent token (1): its keys and
// values are stored, keys before rotation, and it looks at the context and at itself.
struct AttendTask {
  StepRows rows;
  int32_t token;
  int32_t layer, num_layers;
  int32_t num_heads, head_size;
  const float* qkv;        // [M, 3 E] before the bias
  const float* bias;       // [3 E]
  const float* rotations;  // [W, head_size] cosine and sine of each pair, at distance W - 1 ... 0
  float* pool;             // [slots, L, 2, E]
  void* mixed;             // [M, E] operands
};

// x gets the bias that its last product left out, and is normalised.
struct AddAndNormalizeTask {
  const float* bias;  // [E]
  int32_t size;       // E
  NormPointers norm;
  float* x;      // [M, E]
  void* normal;  // [M, E] operands
};

// LayerNorm and GELU (tanh) of both heads' hidden layers, which lie beside each other.
struct HeadsGeluTask {
  const float* hidden;  // [M, 2, H] before the bias
  const float* bias;    // [2, H]
  NormPointers norm;    // [2, H]
  int32_t size;         // H
  void* active;         // [M, 2, H] operands
};

// Values of a two-hot head, of S atoms.
struct DecodeTask {
  const float* logits;  // [M, S] before the bias
  const float* bias;    // [S]
  ValueSupport support;
  float* values;  // [M]
};

// What the heads said at the action token: rewards, and x becomes the next latents.
struct ReadActionTask {
  DecodeTask rewards;
  const float* latents;  // [M, E] before bias and final norm; may be x
  const float* bias;     // [E]; null: none is left out
  int32_t size;          // E
  int32_t norm_group;    // of SimNorm; 0: LayerNorm
  NormPointers norm;     // of the first block
  float* x;              // [M, E]
  void* normal;          // [M, E] operands
};

// What the heads said at the latent token.
struct ReadLatentTask {
  DecodeTask values;
  const float* policy;  // [M, P] before the bias
  const float* bias;    // [P]
  int32_t policy_size;
  float* prior_logits;  // [M, P]
};

// y = x W^T, or y + x W^T, or gelu(x W^T + bias), as cuBLASLt computes them. `x` and `weight` are
// operands; y is float32, with a GELU operands.
struct ProductTask {
  const void* x;       // [rows, in]
  const void* weight;  // [out, in]
  void* y;             // [rows, out]
  int64_t x_stride;    // operands from row to row
  int32_t rows, in, out;
  bool adds;
  const void* gelu_bias;  // [out] operands; null: no GELU
};

}  // namespace lzero

#endif  // LZERO_INFERENCE_DEVICE_STEP_TASKS_H_
