// The fuzz target of golden trees over its corpus, without libFuzzer.
#include <string>

#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "tests/fuzz/golden_fuzz.cc"

namespace lzero::golden_fuzz_corpus_test {
namespace {

TEST(GoldenFuzzCorpusTest, NothingInTheCorpusCrashes) {
  const std::string folder = JoinPath(LZ_TEST_DATA, "fuzz/corpus/golden");
  const auto names = ListDirectory(folder);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_GE(names->size(), 5u);
  for (const std::string& name : *names) {
    const auto text = ReadFile(JoinPath(folder, name));
    ASSERT_TRUE(text.ok()) << text.status();
    // Every prefix too: files that were cut off.
    for (size_t size = 0; size <= text->size(); size += 1 + text->size() / 200) {
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text->data()), size);
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text->data()), text->size());
  }
}

}  // namespace
}  // namespace lzero::golden_fuzz_corpus_test
