// Where the hand-written kernels of this folder take over from plain at:: operations: float32 on
// the CPU. The plain operations work on every device and type, and are what the kernels are tested
// against.
#ifndef LZERO_NN_FUNCTIONAL_FUSED_PATH_H_
#define LZERO_NN_FUNCTIONAL_FUSED_PATH_H_

#include <cstdint>
#include <initializer_list>

#include "ATen/core/Tensor.h"

namespace lzero {

// Fewer rows of a matrix product do not pay for packing its weights.
inline constexpr int64_t kFewRows = 64;
// Numbers of the weights of two matrices that a fused block keeps in half of a usual second cache.
inline constexpr int64_t kMostWeights = 1 << 17;

// The numbers of a contiguous float32 CPU tensor of any shape; null where it is undefined. Autograd
// does not see what is done with them.
const float* DataOrNull(const at::Tensor& tensor);

// Whether kernels may run on these tensors of any shape: all float32 on the CPU, none empty, and no
// PlainPathGuard alive in this thread. Undefined tensors do not matter.
bool CanFuse(std::initializer_list<at::Tensor> tensors);

// Whether autograd must record a result of these tensors of any shape and type. Undefined tensors
// do not matter.
bool NeedsGradient(std::initializer_list<at::Tensor> tensors);

// While one lives, its thread runs plain operations only.
class PlainPathGuard {
 public:
  PlainPathGuard();
  ~PlainPathGuard();
  PlainPathGuard(const PlainPathGuard&) = delete;
  PlainPathGuard& operator=(const PlainPathGuard&) = delete;
};

// LZ_CHECK, for the backward function of a kernel, which has no derivative of its own: the caller
// must not ask for a second one.
void CheckFirstDerivative(const char* function);

}  // namespace lzero

#endif  // LZERO_NN_FUNCTIONAL_FUSED_PATH_H_
