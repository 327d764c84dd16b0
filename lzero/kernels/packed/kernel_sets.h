// The kernels of each instruction set by name, and which sets are compiled: the seam between
// kernels.cc, which chooses, and the files that hold the loops. Included before Highway's headers.
// Not for other files.
#ifndef LZERO_KERNELS_PACKED_KERNEL_SETS_H_
#define LZERO_KERNELS_PACKED_KERNEL_SETS_H_

#include <cstdint>

#include "lzero/kernels/packed/kernels.h"

// AVX-512, AVX2 and plain scalar code; not Highway's emulation of vectors, whatever the compiler.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_BROKEN_EMU128 1

#define LZ_DECLARE_KERNELS(instruction_set)                                         \
  namespace lzero::packed::instruction_set {                                        \
  void Linear(const LinearCall& call);                                              \
  /* GELU of rows of whole panels. */                                               \
  void GeluRows(const RowsCall& call);                                              \
  void Normalize(const RowsCall& call);                                             \
  void NormalizeGelu(const RowsCall& call, const float* scale, const float* shift); \
  void SoftmaxGroups(const RowsCall& call, int64_t group);                          \
  void ExpectedAtom(const RowsCall& call);                                          \
  void Attend(const AttendCall& call);                                              \
  }

LZ_DECLARE_KERNELS(N_AVX3)
LZ_DECLARE_KERNELS(N_AVX2)
LZ_DECLARE_KERNELS(N_SCALAR)

#undef LZ_DECLARE_KERNELS

namespace lzero::packed::avx512_bf16 {
// Whether this build has the function below and this machine can run it.
bool IsAvailable();
// As N_AVX3::Linear, with the processor's own products of bf16 pairs.
void Linear(const LinearCall& call);
}  // namespace lzero::packed::avx512_bf16

#endif  // LZERO_KERNELS_PACKED_KERNEL_SETS_H_
