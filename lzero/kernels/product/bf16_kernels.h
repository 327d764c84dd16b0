// Products of bf16 rows and weights with the processor's own instruction. Not for other sets: see
// product_kernels.cc. Any thread.
#ifndef LZERO_KERNELS_PRODUCT_BF16_KERNELS_H_
#define LZERO_KERNELS_PRODUCT_BF16_KERNELS_H_

#include "lzero/kernels/product/product_kernels.h"

namespace lzero {

// As RunProduct, without GELU. Only where InstructionSet::kAvx512Bf16 is available.
void MultiplyBf16(const ProductCall& call);

}  // namespace lzero

#endif  // LZERO_KERNELS_PRODUCT_BF16_KERNELS_H_
