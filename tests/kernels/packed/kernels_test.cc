#include "lzero/kernels/packed/kernels.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace lzero::packed::kernels_test {
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

std::vector<std::string> AvailableNames() {
  std::vector<std::string> names;
  for (const Kernels* kernels : AvailableKernels()) names.push_back(kernels->name);
  return names;
}

TEST(KernelsTest, AreWhatTheProcessorCanRunBestFirst) {
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
  std::vector<std::string> expected;
#ifndef __clang__  // the kernels with the processor's bf16 products are written for GCC
  if (avx512 && has({"avx512_bf16"})) expected.push_back("AVX-512 with bf16");
#endif
  if (avx512) expected.push_back("AVX-512");
  if (avx2) expected.push_back("AVX2");
  expected.push_back("scalar");
  EXPECT_EQ(AvailableNames(), expected);
}

TEST(KernelsTest, TheBestAreTheFirst) {
  const std::vector<const Kernels*> available = AvailableKernels();
  ASSERT_FALSE(available.empty());
  EXPECT_EQ(&BestKernels(), available.front());
  EXPECT_EQ(available.back()->name, std::string("scalar"));
}

TEST(KernelsTest, EachSetIsComplete) {
  for (const Kernels* kernels : AvailableKernels()) {
    EXPECT_NE(kernels->linear, nullptr) << kernels->name;
    EXPECT_NE(kernels->normalize, nullptr) << kernels->name;
    EXPECT_NE(kernels->normalize_gelu, nullptr) << kernels->name;
    EXPECT_NE(kernels->softmax_groups, nullptr) << kernels->name;
    EXPECT_NE(kernels->attend, nullptr) << kernels->name;
    EXPECT_NE(kernels->expected_atom, nullptr) << kernels->name;
  }
}

TEST(KernelsTest, SetsAreNotOneSetUnderSeveralNames) {
  std::set<void (*)(const RowsCall&)> functions;
  std::set<void (*)(const LinearCall&)> products;
  for (const Kernels* kernels : AvailableKernels()) {
    functions.insert(kernels->normalize);
    EXPECT_TRUE(products.insert(kernels->linear).second) << kernels->name;
  }
  // The bf16 set differs from its neighbour in products alone.
  const bool has_bf16 = AvailableKernels().front()->name == std::string("AVX-512 with bf16");
  EXPECT_EQ(functions.size(), products.size() - (has_bf16 ? 1 : 0));
}

}  // namespace
}  // namespace lzero::packed::kernels_test
