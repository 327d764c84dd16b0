// Where the hand-written kernels of this folder take over from plain at:: operations: float32 on
// the CPU. The plain operations work on every device and type, and are what the kernels are tested
// against.
#ifndef LZERO_NN_FUSED_PATH_H_
#define LZERO_NN_FUSED_PATH_H_

#include <initializer_list>

#include "ATen/core/Tensor.h"

namespace lzero {

// Whether kernels may run on these tensors: all float32 on the CPU, none empty, and no
// PlainPathGuard alive in this thread. Undefined tensors do not matter.
bool CanFuse(std::initializer_list<at::Tensor> tensors);

// Whether a result of these tensors is to be differentiated.
bool NeedsGradient(std::initializer_list<at::Tensor> tensors);

// While one lives, its thread runs plain operations only.
class PlainPathGuard {
 public:
  PlainPathGuard();
  ~PlainPathGuard();
  PlainPathGuard(const PlainPathGuard&) = delete;
  PlainPathGuard& operator=(const PlainPathGuard&) = delete;
};

// For the backward function of a kernel: it has no derivative of its own, and asking for one is the
// caller's bug.
void CheckFirstDerivative(const char* function);

}  // namespace lzero

#endif  // LZERO_NN_FUSED_PATH_H_
