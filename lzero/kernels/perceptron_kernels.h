// A layer of hidden units and what is around it, forward and backward, over blocks of rows that
// stay in the cache: y = [x +] W2 gelu(N2(W1 N1(x) + b1)) + b2, both norms optional. It is every
// head, the feed-forward part of a block and the encoder of vectors; layer by layer they spend half
// of their time waiting for memory. float32 on the CPU. No tensors here: see perceptron.h.
#ifndef LZERO_KERNELS_PERCEPTRON_KERNELS_H_
#define LZERO_KERNELS_PERCEPTRON_KERNELS_H_

#include <cstdint>

namespace lzero {

// All contiguous. A null norm weight: no norm there.
struct PerceptronTask {
  int64_t rows = 0;
  int64_t in = 0;
  int64_t hidden = 0;
  int64_t out = 0;
  bool residual = false;                                       // y = x + ..., then out = in
  const float* x = nullptr;                                    // [rows, in]
  const float *norm_weight1 = nullptr, *norm_bias1 = nullptr;  // [in] of N1
  const float *weight1 = nullptr, *bias1 = nullptr;            // [hidden, in], [hidden]
  const float *norm_weight2 = nullptr, *norm_bias2 = nullptr;  // [hidden] of N2
  const float *weight2 = nullptr, *bias2 = nullptr;            // [out, hidden], [out]
  float* units = nullptr;    // [rows, hidden] before N2, kept for the backward pass; may be null
  float* moments = nullptr;  // [4, rows] of both norms, likewise; not null
};

// Gradients: dx [rows, in], or null; the others are like the parameters, those of norms null
// where these are.
struct PerceptronGradients {
  float* dx = nullptr;
  float *norm_weight1 = nullptr, *norm_bias1 = nullptr;
  float *weight1 = nullptr, *bias1 = nullptr;
  float *norm_weight2 = nullptr, *norm_bias2 = nullptr;
  float *weight2 = nullptr, *bias2 = nullptr;
};

// y [rows, out]. The numbers do not depend on the number of threads.
void RunPerceptron(const PerceptronTask& task, float* y);

// From dy [rows, out], after a forward pass that kept its units. Numbers as for the forward pass.
void RunPerceptronBackward(const PerceptronTask& task, const float* dy,
                           const PerceptronGradients& gradients);

}  // namespace lzero

#endif  // LZERO_KERNELS_PERCEPTRON_KERNELS_H_
