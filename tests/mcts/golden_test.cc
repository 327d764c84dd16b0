#include "lzero/mcts/golden.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"

namespace lzero {
namespace {

std::vector<std::string> GoldenFiles() {
  const std::string folder = JoinPath(LZ_TEST_DATA, "golden/search");
  std::vector<std::string> files;
  const auto names = ListDirectory(folder);
  EXPECT_TRUE(names.ok()) << names.status();
  for (const std::string& name : *names) {
    if (name.size() > 5 && name.substr(name.size() - 5) == ".json") files.push_back(name);
  }
  return files;
}

TEST(GoldenTest, EveryRecordedSearchIsReproduced) {
  const auto files = GoldenFiles();
  EXPECT_GE(files.size(), 12u);
  for (const std::string& name : files) {
    const auto report = ReplayGoldenFile(JoinPath(JoinPath(LZ_TEST_DATA, "golden/search"), name));
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_THAT(report->differences, testing::IsEmpty()) << name;
    EXPECT_GT(report->num_nodes, 1) << name;
  }
}

}  // namespace
}  // namespace lzero
