// Scalars as categorical distributions: the transform h squeezes values, two-hot targets spread
// them over S atoms -K .. K, a softmax over logits is decoded back. [MuZero App. F] Pure functions;
// any thread.
#ifndef LZERO_NN_SUPPORT_H_
#define LZERO_NN_SUPPORT_H_

#include <cstdint>

#include "ATen/core/Tensor.h"

namespace lzero {

// The transform of single numbers (kernels/value_transform.h) elementwise, float32.
at::Tensor TransformValues(const at::Tensor& values);
at::Tensor InverseTransformValues(const at::Tensor& transformed);

// Cross-entropy of logits [..., S] against the two-hot encoding of h(values [...]) -> [...]: the
// value is clamped to the atoms, then split between the two nearest; the exact maximum keeps all
// its mass.
at::Tensor TwoHotCrossEntropy(const at::Tensor& logits, const at::Tensor& values);

// The dense two-hot encoding of h(values [...]) -> [..., support_size].
at::Tensor TwoHot(const at::Tensor& values, int64_t support_size);

// Expected value of softmax(logits [..., S]) over the atoms, transformed back -> [...].
// `atoms` is SupportAtoms(S).
at::Tensor DecodeSupport(const at::Tensor& logits, const at::Tensor& atoms);

// [-K, ..., K] float32, K = (S - 1) / 2. S must be odd and at least 3.
at::Tensor SupportAtoms(int64_t support_size);

}  // namespace lzero

#endif  // LZERO_NN_SUPPORT_H_
