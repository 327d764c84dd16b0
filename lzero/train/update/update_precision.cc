#include "lzero/train/update/update_precision.h"

#include "ATen/autocast_mode.h"
#include "lzero/tensor/torch.h"

namespace lzero {

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
