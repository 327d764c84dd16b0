#include "lzero/kernels/packed/kernels.h"

#include <cpuid.h>

#include "lzero/kernels/packed/kernel_sets.h"

namespace lzero::packed {
namespace {

#define LZ_KERNELS(name, products, instruction_set)                                            \
  {                                                                                            \
    name, products::Linear, instruction_set::Normalize, instruction_set::NormalizeGelu,        \
        instruction_set::SoftmaxGroups, instruction_set::Attend, instruction_set::ExpectedAtom \
  }
constexpr Kernels kAvx512Bf16 = LZ_KERNELS("AVX-512 with bf16", avx512_bf16, N_AVX3);
constexpr Kernels kAvx512 = LZ_KERNELS("AVX-512", N_AVX3, N_AVX3);
constexpr Kernels kAvx2 = LZ_KERNELS("AVX2", N_AVX2, N_AVX2);
constexpr Kernels kScalar = LZ_KERNELS("scalar", N_SCALAR, N_SCALAR);
#undef LZ_KERNELS

// clang 14 does not know this feature by name.
bool HasF16c() {
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

// The features that the compiler may use in each set, as Highway asks for them.
bool HasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes") && HasF16c();
}

bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd");
}

}  // namespace

std::vector<const Kernels*> AvailableKernels() {
  std::vector<const Kernels*> available;
  if (HasAvx512() && avx512_bf16::IsAvailable()) available.push_back(&kAvx512Bf16);
  if (HasAvx512()) available.push_back(&kAvx512);
  if (HasAvx2()) available.push_back(&kAvx2);
  available.push_back(&kScalar);
  return available;
}

const Kernels& BestKernels() {
  static const Kernels& best = *AvailableKernels().front();
  return best;
}

}  // namespace lzero::packed
