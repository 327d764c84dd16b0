#include "lzero/worker/count_bonus.h"

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::count_bonus_test {
namespace {

using testing::HasSubstr;

const std::vector<float> kHere = {0.0f, 1.0f}, kThere = {0.0f, 2.0f};

size_t NumObservations(const CountBonus& bonus) {
  std::vector<NamedArray> arrays;
  bonus.Export(&arrays);
  return arrays.empty() ? 0 : ReadArray<int64_t>(arrays, "bonus.keys")->size();
}

// Both environments count together.
TEST(CountBonus, FallsWithTheRootOfTheCount) {
  CountBonus bonus(0.5, false, 2);
  bonus.Begin(EnvId(0), kHere);
  EXPECT_DOUBLE_EQ(bonus.Add(EnvId(0), kHere), 0.5 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(bonus.Add(EnvId(1), kThere), 0.5);
  EXPECT_DOUBLE_EQ(bonus.Add(EnvId(0), kThere), 0.5 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(bonus.Add(EnvId(1), kHere), 0.5 / std::sqrt(3.0));
  EXPECT_EQ(NumObservations(bonus), 2u);
}

// A second sight pays nothing, but counts; the next episode pays again, and the other environment
// has an episode of its own.
TEST(CountBonus, OnceAnEpisode) {
  CountBonus bonus(1.0, true, 2);
  bonus.Begin(EnvId(0), kHere);
  EXPECT_EQ(bonus.Add(EnvId(0), kHere), 0.0);
  EXPECT_DOUBLE_EQ(bonus.Add(EnvId(0), kThere), 1.0);
  EXPECT_EQ(bonus.Add(EnvId(0), kThere), 0.0);
  bonus.Begin(EnvId(1), kHere);
  EXPECT_DOUBLE_EQ(bonus.Add(EnvId(1), kThere), 1.0 / std::sqrt(3.0));
  bonus.Begin(EnvId(0), kHere);
  EXPECT_DOUBLE_EQ(bonus.Add(EnvId(0), kThere), 0.5);
}

TEST(CountBonus, NothingWithoutAWeight) {
  CountBonus bonus(0.0, true, 1);
  bonus.Begin(EnvId(0), kHere);
  EXPECT_EQ(bonus.Add(EnvId(0), kThere), 0.0);
  EXPECT_EQ(NumObservations(bonus), 0u);
}

TEST(CountBonus, ACheckpointGoesOnExactly) {
  CountBonus bonus(1.0, true, 2);
  bonus.Begin(EnvId(0), kHere);
  bonus.Begin(EnvId(1), kHere);
  bonus.Add(EnvId(0), kThere);
  std::vector<NamedArray> arrays;
  bonus.Export(&arrays);
  CountBonus loaded(1.0, true, 2);
  ASSERT_TRUE(loaded.Import(arrays).ok());
  for (CountBonus* each : {&bonus, &loaded}) {
    EXPECT_EQ(each->Add(EnvId(0), kThere), 0.0);  // this episode has seen it
    EXPECT_DOUBLE_EQ(each->Add(EnvId(1), kThere), 1.0 / std::sqrt(3.0));
  }
  // What no run can have counted changes nothing.
  std::vector<NamedArray> wrong = arrays;
  wrong[1] = MakeNamedArray<int64_t>("bonus.counts", {2, 0});
  EXPECT_THAT(std::string(loaded.Import(wrong).message()), HasSubstr("bonus.counts"));
  EXPECT_EQ(NumObservations(loaded), 2u);
  wrong = arrays;
  wrong[2] = MakeNamedArray<int64_t>("bonus.seen0", {5});
  EXPECT_THAT(std::string(loaded.Import(wrong).message()), HasSubstr("bonus.seen0"));
  // A checkpoint from before there was a bonus.
  ASSERT_TRUE(loaded.Import({}).ok());
  EXPECT_EQ(NumObservations(loaded), 0u);
}

}  // namespace
}  // namespace lzero::count_bonus_test
