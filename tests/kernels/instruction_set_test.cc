#include "lzero/kernels/instruction_set.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace lzero::instruction_set_test {
namespace {

// The processor's features as the kernel names them; empty where there is no such file.
std::set<std::string> ProcessorFlags() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("flags", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    std::set<std::string> flags;
    for (std::string word; words >> word;) flags.insert(word);
    return flags;
  }
  return {};
}

TEST(InstructionSetTest, AreWhatTheProcessorCanRunBestFirst) {
  const std::set<std::string> flags = ProcessorFlags();
  if (flags.empty()) GTEST_SKIP() << "the features of this processor are not known";
  const auto has = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (flags.count(name) == 0) return false;
    }
    return true;
  };
  const bool avx2 = has({"avx2", "fma", "bmi1", "bmi2", "pclmulqdq", "aes", "f16c"});
  const bool avx512 = avx2 && has({"avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512cd"});
  std::vector<std::string> expected, names;
#ifndef __clang__  // the kernels with the processor's bf16 products are written for GCC
  if (avx512 && has({"avx512_bf16"})) expected.push_back("AVX-512 with bf16");
#endif
  if (avx512) expected.push_back("AVX-512");
  if (avx2) expected.push_back("AVX2");
  expected.push_back("scalar");
  for (const InstructionSet set : AvailableInstructionSets()) names.push_back(NameOf(set));
  EXPECT_EQ(names, expected);
}

TEST(InstructionSetTest, TheBestIsUsedUnlessTheEnvironmentNamesASmallerOne) {
  const char* variable = std::getenv("LZERO_INSTRUCTION_SET");
  const std::string name = variable == nullptr ? "" : variable;
  const InstructionSet best = AvailableInstructionSets().front();
  InstructionSet expected = best;
  if (name == "scalar") expected = InstructionSet::kScalar;
  if (name == "avx2") expected = std::min(best, InstructionSet::kAvx2);
  if (name == "avx512") expected = std::min(best, InstructionSet::kAvx512);
  EXPECT_EQ(CurrentInstructionSet(), expected);
}

int Scalar() { return 0; }
int Avx2() { return 1; }
int Avx512() { return 2; }

TEST(InstructionSetTest, AScopeChoosesTheKernels) {
  const InstructionSet before = CurrentInstructionSet();
  for (const InstructionSet set : AvailableInstructionSets()) {
    const ScopedInstructionSet scope(set);
    EXPECT_EQ(CurrentInstructionSet(), set);
    EXPECT_EQ(KernelOf(Scalar, Avx2, Avx512)(), std::min(static_cast<int>(set), 2));
  }
  EXPECT_EQ(CurrentInstructionSet(), before);
}

}  // namespace
}  // namespace lzero::instruction_set_test
