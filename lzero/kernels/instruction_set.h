// Which instruction set the kernels use. A kernel file includes this header before Highway's, is
// compiled once for AVX-512, AVX2 and plain scalar code, and calls LZ_KERNEL(Function)(arguments):
// the choice is made while the program runs. Not the loops: see simd_inl.h. Any thread.
#ifndef LZERO_KERNELS_INSTRUCTION_SET_H_
#define LZERO_KERNELS_INSTRUCTION_SET_H_

#include <vector>

// AVX-512, AVX2 and plain scalar code; not Highway's emulation of vectors, whatever the compiler.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_BROKEN_EMU128 1

namespace lzero {

// Each holds the ones before it. kAvx512Bf16 differs from kAvx512 in products of bf16 weights.
enum class InstructionSet { kScalar, kAvx2, kAvx512, kAvx512Bf16 };

// "scalar", "AVX2", "AVX-512", "AVX-512 with bf16".
const char* NameOf(InstructionSet set);

// All that this machine can run, best first.
std::vector<InstructionSet> AvailableInstructionSets();

// The one that kernels use now: the best, or the smaller one that the variable
// LZERO_INSTRUCTION_SET of the environment names (scalar, avx2, avx512). Other words are ignored.
InstructionSet CurrentInstructionSet();

// Makes all threads use `set`, which the machine must have, until the object is gone: for tests.
class ScopedInstructionSet {
 public:
  explicit ScopedInstructionSet(InstructionSet set);
  ~ScopedInstructionSet();
  ScopedInstructionSet(const ScopedInstructionSet&) = delete;
  ScopedInstructionSet& operator=(const ScopedInstructionSet&) = delete;

 private:
  InstructionSet before_;
};

template <typename Function>
Function* KernelOf(Function* scalar, Function* avx2, Function* avx512) {
  const InstructionSet set = CurrentInstructionSet();
  return set >= InstructionSet::kAvx512 ? avx512 : set == InstructionSet::kAvx2 ? avx2 : scalar;
}

// The function of this name that was compiled for the current instruction set.
#define LZ_KERNEL(function) \
  ::lzero::KernelOf(N_SCALAR::function, N_AVX2::function, N_AVX3::function)

}  // namespace lzero

#endif  // LZERO_KERNELS_INSTRUCTION_SET_H_
