#include "lzero/kernels/instruction_set.h"

#include <cpuid.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "lzero/base/check.h"

namespace lzero {
namespace {

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

// The kernels with the processor's own products of bf16 pairs are written for GCC.
bool HasBf16() {
#if defined(__GNUC__) && !defined(__clang__)
  return HasAvx512() && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

InstructionSet FirstInstructionSet() {
  const InstructionSet best = AvailableInstructionSets().front();
  const char* variable = std::getenv("LZERO_INSTRUCTION_SET");
  const std::string_view name = variable == nullptr ? "" : variable;
  InstructionSet named = best;
  if (name == "scalar") named = InstructionSet::kScalar;
  if (name == "avx2") named = InstructionSet::kAvx2;
  if (name == "avx512") named = InstructionSet::kAvx512;
  return named < best ? named : best;
}

std::atomic<InstructionSet>& Current() {
  static std::atomic<InstructionSet> current = FirstInstructionSet();
  return current;
}

}  // namespace

const char* NameOf(InstructionSet set) {
  switch (set) {
    case InstructionSet::kScalar:
      return "scalar";
    case InstructionSet::kAvx2:
      return "AVX2";
    case InstructionSet::kAvx512:
      return "AVX-512";
    case InstructionSet::kAvx512Bf16:
      return "AVX-512 with bf16";
  }
  return "unknown";
}

std::vector<InstructionSet> AvailableInstructionSets() {
  std::vector<InstructionSet> available;
  if (HasBf16()) available.push_back(InstructionSet::kAvx512Bf16);
  if (HasAvx512()) available.push_back(InstructionSet::kAvx512);
  if (HasAvx2()) available.push_back(InstructionSet::kAvx2);
  available.push_back(InstructionSet::kScalar);
  return available;
}

InstructionSet CurrentInstructionSet() { return Current().load(std::memory_order_relaxed); }

ScopedInstructionSet::ScopedInstructionSet(InstructionSet set) : before_(CurrentInstructionSet()) {
  LZ_CHECK(set <= AvailableInstructionSets().front(), "this machine has no ", NameOf(set));
  Current().store(set, std::memory_order_relaxed);
}

ScopedInstructionSet::~ScopedInstructionSet() {
  Current().store(before_, std::memory_order_relaxed);
}

}  // namespace lzero
