#include <algorithm>

#include "tests/envs/minatar/minatar_testing.h"

namespace lzero::asterix_test {
namespace {

TEST(AsterixTest, RecordedEpisodesReplay) { ExpectTheReference("asterix", 6060); }

TEST(AsterixTest, ThePlayerStaysBetweenTheOuterRows) {
  const auto env = MakeObedient("minatar/asterix");
  env->Reset(0);
  PlayLetters(*env, "uuuuu");
  EXPECT_EQ(RowText(*env, 1), ".....@....");
  env->Reset(0);
  PlayLetters(*env, "dddddllllll");
  EXPECT_EQ(RowText(*env, 8)[0], '@');
}

// The first thing comes at step 11 and moves at once, then at step 16.
TEST(AsterixTest, ThingsComeFromTheSides) {
  const auto env = MakeObedient("minatar/asterix");
  env->Reset(0);
  const auto num_empty = [&] {
    const std::string text = *env->RenderText();
    return std::count(text.begin(), text.end(), '.');
  };
  PlayLetters(*env, "..........");
  EXPECT_EQ(num_empty(), 99);
  PlayLetters(*env, ".");
  EXPECT_EQ(num_empty(), 97);
  const size_t place = env->RenderText()->find_first_of("x$");
  ASSERT_NE(place, std::string::npos);
  const char thing = (*env->RenderText())[place];
  ASSERT_TRUE(place % 11 == 1 || place % 11 == 8);
  const size_t ahead = place % 11 == 1 ? place + 1 : place - 1;
  EXPECT_EQ((*env->RenderText())[2 * place - ahead], '-');
  PlayLetters(*env, "....");
  EXPECT_EQ((*env->RenderText())[place], thing);
  PlayLetters(*env, ".");
  EXPECT_EQ((*env->RenderText())[ahead], thing);
  EXPECT_EQ((*env->RenderText())[place], '-');
}

}  // namespace
}  // namespace lzero::asterix_test
