// Whether products and convolutions on a CUDA device round their float32 operands to TF32.
#ifndef LZERO_TENSOR_PRODUCT_PRECISION_H_
#define LZERO_TENSOR_PRODUCT_PRECISION_H_

#include "c10/core/Device.h"

namespace lzero {

// While it lives they do (`rounds`) or do not; on the CPU nothing changes. libtorch keeps this for
// the whole process: other threads that compute on a device meet it. A capture takes it into the
// graph for good. One at a time.
class ProductPrecision {
 public:
  ProductPrecision(bool rounds, at::Device device);
  ~ProductPrecision();
  ProductPrecision(const ProductPrecision&) = delete;
  ProductPrecision& operator=(const ProductPrecision&) = delete;

 private:
  const bool is_on_device_;
  bool products_before_ = false, convolutions_before_ = false;
};

}  // namespace lzero

#endif  // LZERO_TENSOR_PRODUCT_PRECISION_H_
