// A 3x3 convolution and its gradients by plain loops in double precision.
#ifndef LZERO_TESTS_KERNELS_CONVOLUTION_PLAIN_CONVOLUTION_H_
#define LZERO_TESTS_KERNELS_CONVOLUTION_PLAIN_CONVOLUTION_H_

#include <cstdint>
#include <random>
#include <vector>

#include "lzero/kernels/convolution/packed_convolution.h"
#include "tests/kernels/kernel_testing.h"

namespace lzero {

// Calls body(place in x, place in the weight, place in y) for all products of a convolution of x
// [samples, height, width, in] with weight [out, in, 3, 3].
template <class Body>
void ForEachProduct(const ConvolutionShape& shape, const PlaneSizes& planes, const Body& body) {
  const PlaneSizes output = shape.OutputOf(planes);
  for (int64_t cell = 0; cell < output.cells(); ++cell) {
    const int64_t column = cell % output.width * shape.stride, line = cell / output.width;
    const int64_t row = line % output.height * shape.stride, sample = line / output.height;
    for (int64_t k = 0; k < 9; ++k) {
      const int64_t down = row + k / 3 - 1, across = column + k % 3 - 1;
      if (down < 0 || down >= planes.height || across < 0 || across >= planes.width) continue;
      const int64_t from = (sample * planes.height + down) * planes.width + across;
      for (int64_t o = 0; o < shape.out; ++o) {
        for (int64_t i = 0; i < shape.in; ++i) {
          body(static_cast<size_t>(from * shape.in + i),
               static_cast<size_t>((o * shape.in + i) * 9 + k),
               static_cast<size_t>(cell * shape.out + o));
        }
      }
    }
  }
}

// A convolution of random numbers with its output and, for a random dy, its gradients.
struct PlainConvolution {
  PlainConvolution(const ConvolutionShape& shape, const PlaneSizes& planes, std::mt19937* random)
      : x(RandomNumbers(random, planes.cells() * shape.in, -1.0f, 1.0f)),
        weight(RandomNumbers(random, shape.weight_size(), -1.0f, 1.0f)),
        dy(RandomNumbers(random, shape.OutputOf(planes).cells() * shape.out, -1.0f, 1.0f)),
        y(dy.size()),
        dx(x.size()),
        dweight(weight.size()) {
    ForEachProduct(shape, planes, [&](size_t from, size_t k, size_t to) {
      y[to] += static_cast<double>(x[from]) * weight[k];
      dx[from] += static_cast<double>(dy[to]) * weight[k];
      dweight[k] += static_cast<double>(x[from]) * dy[to];
    });
  }

  std::vector<float> x, weight, dy;
  std::vector<double> y, dx, dweight;
};

inline std::vector<ConvolutionShape> ConvolutionShapes() {
  return {{16, 16, 1}, {17, 20, 1}, {32, 5, 1}, {3, 16, 1},  {1, 1, 1},
          {16, 16, 2}, {3, 33, 2},  {33, 4, 2}, {1025, 1, 1}};
}

// Many small planes for few channels alone.
inline std::vector<PlaneSizes> PlaneSizesToTry(const ConvolutionShape& shape) {
  if (shape.in > 1000) return {{1, 1, 1}, {2, 6, 7}};
  return {{1, 1, 1}, {3, 3, 3}, {2, 6, 7}, {5, 4, 8}, {2, 9, 5}, {30, 10, 10}, {1, 20, 17}};
}

}  // namespace lzero

#endif  // LZERO_TESTS_KERNELS_CONVOLUTION_PLAIN_CONVOLUTION_H_
