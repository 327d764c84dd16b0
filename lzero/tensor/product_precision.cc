#include "lzero/tensor/product_precision.h"

#include "ATen/Context.h"
#include "lzero/tensor/torch.h"

namespace lzero {

ProductPrecision::ProductPrecision(bool rounds, at::Device device)
    : is_on_device_(device.is_cuda()) {
  if (!is_on_device_) return;
  at::Context& context = at::globalContext();
  products_before_ = context.allowTF32CuBLAS();
  convolutions_before_ = context.allowTF32CuDNN();
  context.setAllowTF32CuBLAS(rounds);
  context.setAllowTF32CuDNN(rounds);
}

ProductPrecision::~ProductPrecision() {
  if (!is_on_device_) return;
  at::globalContext().setAllowTF32CuBLAS(products_before_);
  at::globalContext().setAllowTF32CuDNN(convolutions_before_);
}

}  // namespace lzero
