#include "lzero/env/env_setting.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::env_setting_test {
namespace {

std::vector<EnvSetting> Declared() {
  return {EnvSetting::Int("board_size", 9, 5, 19, "rows and columns"),
          EnvSetting::Float("komi", 7.5, -100, 100, "points for the second player"),
          EnvSetting::Choice("superko", {"draw", "positional"}, "what ends a cycle"),
          EnvSetting::Text("record", "(;SZ[9])", "moves before the first")};
}

std::string ErrorOf(const EnvSettingTexts& given) {
  const auto settings = EnvSettings::Create("go", Declared(), given);
  EXPECT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(settings.status().message());
}

TEST(EnvSettingTest, GivesDefaultsAndWhatIsGiven) {
  const auto defaults = EnvSettings::Create("go", Declared(), {});
  ASSERT_TRUE(defaults.ok());
  EXPECT_EQ(defaults->Int("board_size"), 9);
  EXPECT_EQ(defaults->Float("komi"), 7.5);
  EXPECT_EQ(defaults->Choice("superko"), "draw");
  EXPECT_EQ(defaults->Text("record"), "(;SZ[9])");
  const auto given = EnvSettings::Create(
      "go", Declared(),
      {{"board_size", "19"}, {"komi", "-0.5"}, {"superko", "positional"}, {"record", "a b"}});
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->Int("board_size"), 19);
  EXPECT_EQ(given->Float("komi"), -0.5);
  EXPECT_EQ(given->Choice("superko"), "positional");
  EXPECT_EQ(given->Text("record"), "a b");
}

TEST(EnvSettingTest, NamesWhatIsWrongAndWhatIsAllowed) {
  EXPECT_EQ(ErrorOf({{"board_size", "20"}}),
            "board_size of 'go': out of range; got '20'; allowed: an integer from 5 to 19");
  EXPECT_EQ(ErrorOf({{"board_size", "nine"}}),
            "board_size of 'go': not an integer; got 'nine'; allowed: an integer from 5 to 19");
  EXPECT_EQ(ErrorOf({{"komi", "1e3"}}),
            "komi of 'go': out of range; got '1e3'; allowed: a number from -100 to 100");
  EXPECT_EQ(ErrorOf({{"superko", "positonal"}}),
            "superko of 'go': unknown; got 'positonal'; allowed: one of draw, positional; did you "
            "mean 'positional'?");
  EXPECT_EQ(ErrorOf({{"kommi", "7"}}),
            "'go' has no setting 'kommi'; allowed: board_size, komi, superko, record; did you mean "
            "'komi'?");
}

TEST(EnvSettingTest, RefusesEverySettingWhereNoneIsDeclared) {
  EXPECT_EQ(EnvSettings::Create("catch", {}, {{"size", "3"}}).status().message(),
            "'catch' has no setting 'size'; allowed: none");
}

}  // namespace
}  // namespace lzero::env_setting_test
