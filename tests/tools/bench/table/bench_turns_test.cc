// Shell scripts stand for the two builds.
#include "tools/bench/table/bench_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"

namespace lzero::bench_turns_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BenchTurnsTest : public testing::Test {
 protected:
  BenchTurnsTest() {
    table_.verb = "step";
    table_.axes = {{"batch", "", "8", 100}};
  }

  // A program of this name in the test's own folder that runs `script`.
  std::string MakeProgram(const std::string& name, const std::string& script) {
    const std::string path = absl::StrCat(folder_, "/", name);
    std::ofstream(path) << "#!/bin/sh\ncd '" << folder_ << "'\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  // Says what it was asked for, and prints one case; its n-th call takes `base` + n.
  std::string MakeBuild(const std::string& name, int base) {
    return MakeProgram(
        name, absl::StrCat("echo ", name, " \"$@\" >>calls; n=$(grep -c ^", name, " calls); t=$((",
                           base, " + n))\necho loading >&2\n",
                           R"(printf '{"bench":"step","batch":%s,"us_min":%s,"us_median":%s}\n' )",
                           "$4 $t $((10 * t))"));
  }

  absl::StatusOr<BenchTurns> Measure(const BenchGiven& given, const std::string& own,
                                     const std::string& other, int64_t rounds = 5) {
    return MeasureInTurn(table_, given, *SweepCases(table_, given), rounds, own, other);
  }

  std::string Calls() { return *ReadFile(folder_ + "/calls"); }

  const std::string folder_ = [] {
    std::string folder = testing::TempDir() + "/bench turns XXXXXX";
    return std::string(mkdtemp(folder.data()));
  }();
  BenchTable table_;
};

TEST_F(BenchTurnsTest, BuildsMeasureEachCaseInTurn) {
  const std::string own = MakeBuild("own", 40), other = MakeBuild("other", 80);
  const auto turns = Measure({{"batch", {"2"}}}, own, other);
  ASSERT_TRUE(turns.ok()) << turns.status();
  const std::string words = " bench step --batch 2 --json --rounds 5\n";
  EXPECT_EQ(Calls(), absl::StrCat("other", words, "own", words, "own", words, "other", words,
                                  "other", words, "own", words));
  // The least of 41, 42, 43 and the median of ten times as much.
  EXPECT_THAT(turns->now,
              ElementsAre(R"({"bench":"step","batch":2,"us_min":41.0,"us_median":420.0})"));
  EXPECT_THAT(turns->before,
              ElementsAre(R"({"bench":"step","batch":2,"us_min":81.0,"us_median":820.0})"));
}

TEST_F(BenchTurnsTest, MoreRoundsAreMoreTurnsAndWithoutRoundsThereIsOne) {
  const std::string own = MakeBuild("own", 40), other = MakeBuild("other", 80);
  ASSERT_TRUE(Measure({{"batch", {"2", "3"}}}, own, other, 16).ok());
  std::string calls = Calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 2 * 4 * 2);
  EXPECT_LT(calls.rfind("--batch 2"), calls.find("--batch 3"));  // case by case
  std::filesystem::remove(folder_ + "/calls");
  table_.rounds = 0;
  ASSERT_TRUE(Measure({{"batch", {"2"}}}, own, other).ok());
  EXPECT_EQ(Calls(), "other bench step --batch 2 --json\nown bench step --batch 2 --json\n");
}

TEST_F(BenchTurnsTest, AProgramThatRefusesIsTold) {
  const std::string own = MakeBuild("own", 40);
  const std::string old = MakeProgram("old", "echo 'error: unknown option' >&2; exit 2");
  const auto refused = Measure({{"batch", {"2"}}}, own, old);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refused.status().message(),
            absl::StrCat(old,
                         " bench step --batch 2 --json --rounds 5: ended with exit code 2; it "
                         "said 'error: unknown option'"));
  const auto silent = Measure({{"batch", {"2"}}}, own, MakeProgram("silent", "true"));
  EXPECT_THAT(silent.status().message(), HasSubstr("--rounds 5: no line of bench step"));
}

TEST_F(BenchTurnsTest, AProgramWithOtherCasesIsTold) {
  const std::string own = MakeBuild("own", 40);
  const std::string old = MakeProgram("old", R"(echo '{"bench":"step","batch":9,"us_min":1}')");
  const auto other = Measure({{"batch", {"2"}}}, own, old);
  EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(other.status().message(),
              HasSubstr(R"(old: has other cases: {"batch":9}; asked for: {"batch":2})"));
}

TEST_F(BenchTurnsTest, AProgramIsAFileThatCanBeRun) {
  EXPECT_TRUE(IsProgram(MakeBuild("own", 40)));
  std::ofstream(folder_ + "/saved.txt") << "{}";
  EXPECT_FALSE(IsProgram(folder_ + "/saved.txt"));
  EXPECT_FALSE(IsProgram(folder_));
  EXPECT_FALSE(IsProgram("no/such/file"));
}

}  // namespace
}  // namespace lzero::bench_turns_test
