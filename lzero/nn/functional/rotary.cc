#include "lzero/nn/functional/rotary.h"

#include "lzero/base/check.h"
#include "lzero/tensor/torch.h"

namespace lzero {

at::Tensor RotaryTable(int64_t first, int64_t count, int64_t head_size) {
  LZ_CHECK(head_size % 2 == 0, "head size ", head_size);
  const auto options = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor exponents =
      at::arange(0, head_size, 2, options) / static_cast<double>(head_size);
  const at::Tensor frequencies = at::pow(10000.0, -exponents);
  const at::Tensor positions = at::arange(first, first + count, options);
  const at::Tensor angles = at::outer(positions, frequencies);
  return at::polar(at::ones_like(angles), angles).to(at::kComplexFloat).unsqueeze(1);
}

at::Tensor Rotate(const at::Tensor& x, const at::Tensor& table) {
  // There are no complex numbers of bfloat16.
  const at::Tensor wide = x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x;
  const at::Tensor pairs = at::view_as_complex(wide.unflatten(-1, {-1, 2}));
  return at::view_as_real(pairs * table).flatten(-2);
}

}  // namespace lzero
