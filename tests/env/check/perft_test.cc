#include "lzero/env/check/perft.h"

#include <gtest/gtest.h>

#include "tests/env/walk_env.h"

namespace lzero::perft_test {
namespace {

// From 0 by hand. One action: 2 (0 0 -> 0, 1). Two: from 0 two, from 1 three = 5. Three: the ends
// of the five are 0, 1, 0, 1, 2 = 2 + 3 + 2 + 3 + 3 = 13.
TEST(PerftTest, CountsByHand) {
  WalkEnv env;
  EXPECT_EQ(*Perft(env, 3), (std::vector<int64_t>{2, 5, 13}));
  // From seed 1 the walk starts at 1: 3 actions, then 0, 1, 2 = 2 + 3 + 3.
  EXPECT_EQ(*Perft(env, 2, 1), (std::vector<int64_t>{3, 8}));
}

TEST(PerftTest, GoesNotPastTheEnd) {
  EnvSpec spec = WalkSpec();
  spec.max_episode_steps = 2;
  WalkEnv env(spec);
  EXPECT_EQ(*Perft(env, 4), (std::vector<int64_t>{2, 5, 0, 0}));
}

TEST(PerftTest, RefusesWhatItCannotCount) {
  WalkEnv env;
  EXPECT_EQ(Perft(env, 0).status().message(), "perft depth is 0; it is 1 or more");
  EnvSpec spec = WalkSpec();
  spec.can_save = false;
  WalkEnv unsaved(spec);
  EXPECT_EQ(Perft(unsaved, 1).status().message(),
            "perft needs discrete actions, no chance and a state that can be saved; 'walk' lacks "
            "one of them");
}

}  // namespace
}  // namespace lzero::perft_test
