#include "lzero/tensor/staging.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::staging_test {
namespace {

using ::testing::ElementsAre;

Staging MakeFloats() { return Staging::Wrap("rewards", at::zeros({3, 2})); }

TEST(StagingTest, FillsTheFirstRowsAtAFixedAddress) {
  Staging staging = MakeFloats();
  const void* address = staging.tensor().const_data_ptr();
  ASSERT_TRUE(staging.CopyIn<float>({1, 2, 3, 4, 5, 6}).ok());
  ASSERT_TRUE(staging.CopyIn<float>({7, 8}).ok());
  EXPECT_TRUE(staging.CopyIn<float>({}).ok());
  EXPECT_EQ(staging.tensor().const_data_ptr(), address);
  const at::Tensor expected = at::tensor(std::vector<float>{7, 8, 3, 4, 5, 6}).view({3, 2});
  EXPECT_TRUE(at::equal(staging.tensor(), expected));
}

TEST(StagingTest, OnTheCpuACopyThatWaitsForNothingIsTheSame) {
  Staging staging = MakeFloats();
  ASSERT_TRUE(staging.CopyInAsync<float>({1, 2, 3, 4}).ok());
  EXPECT_TRUE(
      at::equal(staging.tensor(), at::tensor({1.0f, 2.0f, 3.0f, 4.0f, 0.0f, 0.0f}).view({3, 2})));
  EXPECT_TRUE(staging.CopyInAsync<float>({}).ok());
  EXPECT_FALSE(staging.CopyInAsync<float>({1}).ok());
  EXPECT_FALSE(staging.CopyInAsync<int64_t>({1, 2}).ok());
}

TEST(StagingTest, ReadsTheFirstRows) {
  Staging staging = MakeFloats();
  ASSERT_TRUE(staging.CopyIn<float>({1, 2, 3, 4, 5, 6}).ok());
  std::vector<float> values(4);
  ASSERT_TRUE(staging.CopyOut<float>(absl::MakeSpan(values)).ok());
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4));
}

TEST(StagingDeathTest, WrapsOnlyWhatItCanStage) {
  EXPECT_DEATH(Staging::Wrap("values", at::zeros({2, 3}).t()),
               "values: Float of shape \\[3, 2\\], not contiguous");
  EXPECT_DEATH(Staging::Wrap("values", at::zeros({2}, at::kDouble)), "values: Double of shape");
}

TEST(StagingTest, CarriesIntegers) {
  Staging actions = Staging::Wrap("actions", at::zeros({2}, at::kLong));
  ASSERT_TRUE(actions.CopyIn<int64_t>({5, -1}).ok());
  EXPECT_EQ(actions.tensor()[1].item<int64_t>(), -1);
  Staging lengths = Staging::Wrap("lengths", at::zeros({1}, at::kInt));
  EXPECT_TRUE(lengths.CopyIn<int32_t>({5}).ok());
}

TEST(StagingTest, RefusesWhatDoesNotFit) {
  Staging staging = MakeFloats();
  EXPECT_EQ(std::string(staging.CopyIn<float>({1, 2, 3}).message()),
            "rewards has shape [3, 2]: 3 values are not between 0 and 6 in rows of 2");
  EXPECT_EQ(std::string(staging.CopyIn<float>({1, 2, 3, 4, 5, 6, 7, 8}).message()),
            "rewards has shape [3, 2]: 8 values are not between 0 and 6 in rows of 2");
  EXPECT_EQ(std::string(staging.CopyIn<int32_t>({1, 2}).message()),
            "rewards holds Float, the host gave Int");
  std::vector<int64_t> integers(2);
  EXPECT_TRUE(absl::IsInvalidArgument(staging.CopyOut<int64_t>(absl::MakeSpan(integers))));
}

}  // namespace
}  // namespace lzero::staging_test
