// Products of bf16 rows and weights with the processor's own instruction. Not for other sets: see
// linear_kernels.cc. Any thread.
#ifndef LZERO_KERNELS_PACKED_BF16_KERNELS_H_
#define LZERO_KERNELS_PACKED_BF16_KERNELS_H_

#include "lzero/kernels/packed/kernels.h"

namespace lzero::packed {

// As Linear, without GELU. Only where InstructionSet::kAvx512Bf16 is available.
void MultiplyBf16(const LinearCall& call);

}  // namespace lzero::packed

#endif  // LZERO_KERNELS_PACKED_BF16_KERNELS_H_
