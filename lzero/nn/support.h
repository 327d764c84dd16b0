// Scalars as categorical distributions: the transform h squeezes values, two-hot targets put them
// on S atoms -K .. K, a softmax over logits is decoded back. [MuZero App. F] All tensors float32 on
// one device. Pure functions; any thread.
#ifndef LZERO_NN_SUPPORT_H_
#define LZERO_NN_SUPPORT_H_

#include <cstdint>

#include "ATen/core/Tensor.h"

namespace lzero {

// h(values) elementwise (kernels/value_transform.h): [...] -> [...]. The caller must not
// differentiate it: it is for targets.
at::Tensor TransformValues(const at::Tensor& values);

// The inverse of h elementwise: transformed [...] -> [...]. Gradients flow.
at::Tensor InverseTransformValues(const at::Tensor& transformed);

// Cross-entropy of logits [..., S] against the two-hot encoding of h(values [...]) -> [...]: the
// value is clamped to the atoms, then split between the two nearest; the exact maximum keeps all
// its mass. Gradients flow to the logits alone.
at::Tensor TwoHotCrossEntropy(const at::Tensor& logits, const at::Tensor& values);

// Expected value of softmax(logits [..., S]) over the atoms, transformed back -> [...]. `atoms` [S]
// is SupportAtoms(S). Logits of bfloat16 give values of float32. Gradients flow to the logits.
at::Tensor DecodeSupport(const at::Tensor& logits, const at::Tensor& atoms);

// [S] float32 on the CPU: -K, ..., K, K = (S - 1) / 2. S must be odd and at least 3. A constant.
at::Tensor SupportAtoms(int64_t support_size);

}  // namespace lzero

#endif  // LZERO_NN_SUPPORT_H_
