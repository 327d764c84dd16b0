// Scalars as categorical distributions: two-hot targets put values on the atoms of a ValueSupport,
// maybe squeezed by the transform h, and a softmax over logits is decoded back. [MuZero App. F] All
// tensors float32 on one device. Pure functions; any thread.
#ifndef LZERO_NN_SUPPORT_H_
#define LZERO_NN_SUPPORT_H_

#include <cstdint>

#include "ATen/core/Tensor.h"
#include "lzero/kernels/value_support.h"

namespace lzero {

// h(values) elementwise (kernels/value_support.h): [...] -> [...]. The caller must not
// differentiate it: it is for targets.
at::Tensor TransformValues(const at::Tensor& values);

// The inverse of h elementwise: transformed [...] -> [...]. Gradients flow.
at::Tensor InverseTransformValues(const at::Tensor& transformed);

// Cross-entropy of logits [..., S] against the two-hot encoding of values [...] -> [...]: the
// value is clamped to the atoms, then split between the two nearest; the exact maximum keeps all
// its mass. Gradients flow to the logits alone.
at::Tensor TwoHotCrossEntropy(const at::Tensor& logits, const at::Tensor& values,
                              const ValueSupport& support);

// Value of the mean atom under softmax(logits [..., S]) -> [...]. `atoms` [S] are
// SupportAtoms(support) on the device of the logits. Logits of bfloat16 give values of float32.
// Gradients flow to the logits.
at::Tensor DecodeSupport(const at::Tensor& logits, const at::Tensor& atoms,
                         const ValueSupport& support);

// Places of the atoms, of values or squeezed ones: [S] float32 on the CPU. A constant.
at::Tensor SupportAtoms(const ValueSupport& support);

}  // namespace lzero

#endif  // LZERO_NN_SUPPORT_H_
