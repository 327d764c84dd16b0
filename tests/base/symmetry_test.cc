#include "lzero/base/symmetry.h"

#include "gtest/gtest.h"

namespace lzero::symmetry_test {
namespace {

TEST(SymmetryTest, APermutationOfBothIsRight) {
  EXPECT_EQ(SymmetryProblem({{2, 0, 1}, {1, 0}}, 3, 2), "");
  EXPECT_EQ(SymmetryProblem({{}, {}}, 0, 0), "");
}

TEST(SymmetryTest, WhatIsNoPermutationIsNamed) {
  EXPECT_EQ(SymmetryProblem({{2, 0}, {1, 0}}, 3, 2),
            "observation_source has 2 entries instead of 3");
  EXPECT_EQ(SymmetryProblem({{2, 0, 1}, {1, 0, 2}}, 3, 2),
            "action_image has 3 entries instead of 2");
  EXPECT_EQ(SymmetryProblem({{2, 0, 2}, {1, 0}}, 3, 2),
            "observation_source is no permutation: entry 2 is 2");
  EXPECT_EQ(SymmetryProblem({{2, 0, 3}, {1, 0}}, 3, 2),
            "observation_source is no permutation: entry 2 is 3");
  EXPECT_EQ(SymmetryProblem({{2, 0, 1}, {-1, 0}}, 3, 2),
            "action_image is no permutation: entry 0 is -1");
}

// A rotation of three: one map says where an element comes from, the other where an action goes.
TEST(SymmetryTest, ObservationsComeFromAndActionsGoTo) {
  const Symmetry symmetry = {{1, 2, 0}, {1, 2, 0}};
  const std::vector<float> from = {10.0f, 20.0f, 30.0f};
  std::vector<float> observation(3), values(3);
  MapObservation(symmetry, from, absl::MakeSpan(observation));
  EXPECT_EQ(observation, (std::vector<float>{20.0f, 30.0f, 10.0f}));
  MapActionValues<float>(symmetry, from, absl::MakeSpan(values));
  EXPECT_EQ(values, (std::vector<float>{30.0f, 10.0f, 20.0f}));
}

TEST(SymmetryTest, BytesAreMappedAsNumbers) {
  const std::vector<uint8_t> from = {10, 20, 30};
  std::vector<uint8_t> observation(3);
  MapObservation({{1, 2, 0}, {0}}, from, absl::MakeSpan(observation));
  EXPECT_EQ(observation, (std::vector<uint8_t>{20, 30, 10}));
}

}  // namespace
}  // namespace lzero::symmetry_test
