#include "lzero/train/update/update_precision.h"

#include "ATen/Context.h"
#include "ATen/autocast_mode.h"
#include "lzero/tensor/torch.h"

namespace lzero {

ProductPrecision::ProductPrecision(TrainDtype dtype, at::Device device)
    : is_on_device_(device.is_cuda()) {
  if (!is_on_device_) return;
  at::Context& context = at::globalContext();
  products_before_ = context.allowTF32CuBLAS();
  convolutions_before_ = context.allowTF32CuDNN();
  context.setAllowTF32CuBLAS(dtype == TrainDtype::kTf32);
  context.setAllowTF32CuDNN(dtype == TrainDtype::kTf32);
}

ProductPrecision::~ProductPrecision() {
  if (!is_on_device_) return;
  at::globalContext().setAllowTF32CuBLAS(products_before_);
  at::globalContext().setAllowTF32CuDNN(convolutions_before_);
}

ForwardPrecision::ForwardPrecision(TrainDtype dtype, at::Device device)
    : casts_(dtype == TrainDtype::kBf16 && device.is_cuda()) {
  if (!casts_) return;
  enabled_before_ = at::autocast::is_autocast_enabled(at::kCUDA);
  cache_before_ = at::autocast::is_autocast_cache_enabled();
  dtype_before_ = at::autocast::get_autocast_dtype(at::kCUDA);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  at::autocast::set_autocast_cache_enabled(false);
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
}

ForwardPrecision::~ForwardPrecision() {
  if (!casts_) return;
  at::autocast::set_autocast_enabled(at::kCUDA, enabled_before_);
  at::autocast::set_autocast_cache_enabled(cache_before_);
  at::autocast::set_autocast_dtype(at::kCUDA, dtype_before_);
}

}  // namespace lzero
