#include "lzero/base/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lzero::nearest_test {
namespace {

TEST(NearestTest, EditDistanceByHand) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("batch_size", "batch_siez"), 1);  // a swap of neighbours is one edit
  EXPECT_EQ(EditDistance("ca", "abc"), 3);                 // optimal string alignment: not 2
  EXPECT_EQ(EditDistance("flaw", "lawn"), 2);
}

TEST(NearestTest, FindsTheNearestName) {
  const std::vector<std::string> names = {"embed_dim", "num_heads", "num_layers", "context_length"};
  EXPECT_EQ(NearestName("num_head", names), "num_heads");
  EXPECT_EQ(NearestName("embed_dmi", names), "embed_dim");
  EXPECT_EQ(NearestName("num_layer", names), "num_layers");
}

TEST(NearestTest, FirstOfEqualsWins) {
  const std::vector<std::string> names = {"cat", "car"};
  EXPECT_EQ(NearestName("cas", names), "cat");
}

TEST(NearestTest, SaysNothingWhenNothingIsNear) {
  const std::vector<std::string> names = {"embed_dim", "x"};
  EXPECT_EQ(NearestName("learning_rate", names), "");
  EXPECT_EQ(NearestName("q", names), "");  // every letter would differ
  EXPECT_EQ(NearestName("anything", {}), "");
  const std::string long_name(101, 'a');  // longer than any name, and not compared
  EXPECT_EQ(NearestName(long_name + "b", {long_name}), "");
}

TEST(NearestTest, DidYouMeanIsReadyToAppend) {
  const std::vector<std::string> names = {"cartpole", "catch"};
  EXPECT_EQ(DidYouMean("cartpol", names), "; did you mean 'cartpole'?");
  EXPECT_EQ(DidYouMean("tictactoe", names), "");
}

}  // namespace
}  // namespace lzero::nearest_test
