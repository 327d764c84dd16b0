#include "lzero/mcts/golden/golden.h"

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "nlohmann/json.hpp"

namespace lzero::golden_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Json = nlohmann::json;

std::string GoldenPath(const std::string& name) {
  return JoinPath(JoinPath(LZ_TEST_DATA, "golden/search"), name);
}

void ExpectAllReproduced(const std::string& folder, size_t num_files) {
  const auto names = ListDirectory(folder);
  ASSERT_TRUE(names.ok()) << names.status();
  size_t num_replayed = 0;
  for (const std::string& name : *names) {
    if (name.find(".json") == std::string::npos) continue;
    const auto report = ReplayGoldenFile(JoinPath(folder, name));
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_THAT(report->differences, IsEmpty()) << name;
    EXPECT_GT(report->num_nodes, 1) << name;
    ++num_replayed;
  }
  EXPECT_GE(num_replayed, num_files);
}

TEST(GoldenTest, EveryRecordedSearchIsReproduced) { ExpectAllReproduced(GoldenPath(""), 12); }

TEST(GoldenTest, EveryOptionIsReproduced) { ExpectAllReproduced(GoldenPath("options"), 16); }

// A recorded search with something changed: what the replay says.
std::vector<std::string> DifferencesAfter(const std::string& name,
                                          const std::function<void(Json*)>& change) {
  const auto text = ReadFile(GoldenPath(name));
  EXPECT_TRUE(text.ok()) << text.status();
  Json json = Json::parse(*text);
  change(&json);
  const auto golden = ParseGoldenTree(json.dump());
  EXPECT_TRUE(golden.ok()) << golden.status();
  const auto report = ReplayGoldenTree(*golden);
  EXPECT_TRUE(report.ok()) << report.status();
  return report->differences;
}

TEST(GoldenTest, EveryKindOfDifferenceIsPrintedAsNodeExpectedGot) {
  const std::string name = "puct_a2_s8.json";
  EXPECT_THAT(
      DifferencesAfter(name, [](Json* json) { (*json)["expected"]["root_visit_counts"][1] = 3; }),
      ElementsAre("root root_visit_counts[1]: expected 3, got 1"));
  EXPECT_THAT(DifferencesAfter(name, [](Json* json) { (*json)["expected"]["root_value"] = 0.5; }),
              ElementsAre(HasSubstr("root root_value: expected 0.5, got 0.26292")));
  EXPECT_THAT(DifferencesAfter(name, [](Json* json) { (*json)["expected"]["action"] = 1; }),
              ElementsAre("root action: expected 1, got 0"));
  EXPECT_THAT(
      DifferencesAfter(name, [](Json* json) { (*json)["expected"]["action_weights"][1] = 0; }),
      ElementsAre("root action_weights[1]: expected 0, got 0.125"));
  EXPECT_THAT(
      DifferencesAfter(name, [](Json* json) { (*json)["expected"]["root_prior_probs"][0] = 1; }),
      ElementsAre(HasSubstr("root root_prior_probs[0]: expected 1, got 0.")));
  const auto change_node = [&name](const char* key, const Json& value) {
    return DifferencesAfter(name,
                            [&](Json* json) { (*json)["expected"]["per_node"][1][key] = value; });
  };
  EXPECT_THAT(change_node("node_visits", 77),
              ElementsAre(HasSubstr("] node_visits: expected 77, got ")));
  EXPECT_THAT(change_node("raw_value", 9), ElementsAre(HasSubstr("] raw_value: expected 9, got ")));
  EXPECT_THAT(change_node("search_value", 9),
              ElementsAre(HasSubstr("] search_value: expected 9, got ")));
  EXPECT_THAT(change_node("visit_counts", {50, 60}),
              ElementsAre(HasSubstr("visit_counts[0]: expected 50"),
                          HasSubstr("visit_counts[1]: expected 60")));
  EXPECT_THAT(change_node("qvalues", {nullptr, 5.0}),
              testing::Contains(HasSubstr("qvalues[0]: expected null, got a value")));
  EXPECT_THAT(change_node("path", {0, 0, 0, 0, 0, 0, 0, 0, 0}),
              ElementsAre("node [0, 0, 0, 0, 0, 0, 0, 0, 0]: expected a node, got none"));
}

TEST(GoldenTest, AValueJustBeyondTheToleranceDiffers) {
  const auto shifted = [](double by) {
    return DifferencesAfter("puct_a6_s32.json", [by](Json* json) {
      auto& value = (*json)["expected"]["per_node"][4]["search_value"];
      value = value.get<double>() + by;
    });
  };
  EXPECT_THAT(shifted(0.8e-5), IsEmpty());
  EXPECT_EQ(shifted(1.2e-5).size(), 1u);
}

TEST(GoldenTest, APathOutsideTheFileIsADifference) {
  EXPECT_THAT(
      DifferencesAfter("puct_a6_s32.json", [](Json* json) { (*json)["config"]["pb_c_init"] = 2; }),
      ElementsAre("simulation 17: expected [5, 1, 2, 0, 4, 2, 4, 2, 2], got [0, 3], a path that "
                  "is not in the file"));
}

TEST(GoldenTest, ANodeThatIsNotExpandedIsADifference) {
  const auto differences = DifferencesAfter("puct_a2_s8.json", [](Json* json) {
    (*json)["nodes"].push_back((*json)["nodes"][1]);
    (*json)["nodes"].back()["path"] = {1, 1, 1, 1, 1, 1};
    (*json)["config"]["num_simulations"] = 9;
  });
  EXPECT_THAT(differences, testing::Not(IsEmpty()));
}

TEST(GoldenTest, SequentialHalvingIsCompared) {
  EXPECT_THAT(
      DifferencesAfter("gumbel_a3_s16.json",
                       [](Json* json) { (*json)["expected"]["considered_visit_sequence"][2] = 7; }),
      ElementsAre("root considered_visit_sequence[2]: expected 7, got 0"));
}

TEST(GoldenTest, ADrawnActionMustHaveBeenVisited) {
  const auto drawn = [](int action) {
    return DifferencesAfter("puct_a6_s32.json", [action](Json* json) {
      (*json)["config"]["temperature"] = 1.0;
      (*json)["expected"]["action"] = action;
    });
  };
  EXPECT_THAT(drawn(0), IsEmpty());                                      // visited once
  EXPECT_THAT(drawn(1), ElementsAre("root action: expected 1, got 5"));  // never
}

TEST(GoldenTest, FilesThatCannotBeReadAreNamed) {
  EXPECT_THAT(ReplayGoldenFile("/no/such.json").status().message(), HasSubstr("/no/such.json"));
  EXPECT_THAT(ReplayGoldenFile(GoldenPath("README.md")).status().message(),
              HasSubstr("README.md: golden tree: broken JSON at byte 1, in '#"));
}

}  // namespace
}  // namespace lzero::golden_test
