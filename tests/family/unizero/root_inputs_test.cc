// Roots of ragged pasts as rows of numbers, by hand.
#include "lzero/family/unizero/root_inputs.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::root_inputs_test {
namespace {

using testing::ElementsAre;

// Observations of two numbers; at most two past steps; three roots at once.
constexpr RootInputsShape kShape = {3, 2, 2};

std::unique_ptr<RootInputs> MakeInputs() { return std::make_unique<RootInputs>(kShape, at::kCPU); }

template <typename T>
std::vector<T> Numbers(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  return {flat.const_data_ptr<T>(), flat.const_data_ptr<T>() + flat.numel()};
}

struct Past {
  std::vector<float> observations;
  std::vector<int32_t> actions;
};

std::vector<Root> MakeRoots(const std::vector<Past>& pasts) {
  std::vector<Root> roots;
  for (const Past& past : pasts) {
    Root root;
    root.observations = past.observations;
    root.actions = past.actions;
    roots.push_back(root);
  }
  return roots;
}

// Pasts of 1, 0 and 3 steps.
const std::vector<Past> kPasts = {
    {{1, 2, 3, 4}, {7}}, {{5, 6}, {}}, {{10, 11, 12, 13, 14, 15, 16, 17}, {1, 2, 3}}};

TEST(RootInputsTest, PastsAreAlignedAtTheRoot) {
  const auto inputs = MakeInputs();
  const auto roots = MakeRoots(kPasts);
  const auto pasts = inputs->StagePasts(roots, {0, 1});
  ASSERT_TRUE(pasts.ok()) << pasts.status();
  EXPECT_THAT(Numbers<float>(pasts->observations), ElementsAre(1, 2, 3, 4, 0, 0, 5, 6));
  EXPECT_EQ(pasts->actions.sizes(), at::IntArrayRef({2, 2}));
  EXPECT_THAT(Numbers<int32_t>(pasts->actions), ElementsAre(7, 0, 0, 0));
  EXPECT_THAT(Numbers<int64_t>(pasts->num_padding), ElementsAre(0, 2));
  EXPECT_THAT(pasts->past_tokens, ElementsAre(3, 1));
}

TEST(RootInputsTest, OlderStepsThanTheMostAreLeftOut) {
  const auto inputs = MakeInputs();
  const auto roots = MakeRoots(kPasts);
  const auto pasts = inputs->StagePasts(roots, {2, 0});
  ASSERT_TRUE(pasts.ok()) << pasts.status();
  EXPECT_THAT(Numbers<float>(pasts->observations),
              ElementsAre(12, 13, 14, 15, 16, 17, 0, 0, 1, 2, 3, 4));
  EXPECT_THAT(Numbers<int32_t>(pasts->actions), ElementsAre(2, 3, 0, 0, 7, 0));
  EXPECT_THAT(Numbers<int64_t>(pasts->num_padding), ElementsAre(0, 2));
  EXPECT_THAT(pasts->past_tokens, ElementsAre(5, 3));
}

TEST(RootInputsTest, TheNewestStepIsTheRootAndWhatLedThere) {
  const auto inputs = MakeInputs();
  const auto roots = MakeRoots(kPasts);
  const auto steps = inputs->StageNewest(roots, {2, 0});
  ASSERT_TRUE(steps.ok()) << steps.status();
  EXPECT_THAT(Numbers<float>(steps->observations), ElementsAre(16, 17, 3, 4));
  EXPECT_THAT(Numbers<int64_t>(steps->actions), ElementsAre(3, 7));
}

TEST(RootInputsTest, AddressesStay) {
  const auto inputs = MakeInputs();
  const auto roots = MakeRoots(kPasts);
  const void* const address = inputs->StagePasts(roots, {0})->observations.const_data_ptr();
  EXPECT_EQ(inputs->StageNewest(roots, {2})->observations.const_data_ptr(), address);
  EXPECT_EQ(inputs->StagePasts(roots, {0, 1, 2})->observations.const_data_ptr(), address);
}

TEST(RootInputsTest, MoreRootsThanRowsAreRefused) {
  const auto inputs = MakeInputs();
  const auto roots = MakeRoots({kPasts[0], kPasts[0], kPasts[0], kPasts[0]});
  EXPECT_TRUE(absl::IsInvalidArgument(inputs->StageNewest(roots, {0, 1, 2, 3}).status()));
}

// Nine observations of two floats and nine int32; three rows of two int64 arrays.
TEST(RootInputsTest, BytesAreThoseOfTheBuffers) {
  EXPECT_EQ(RootInputs::Bytes(kShape), 9 * (2 * 4 + 4) + 3 * 2 * 8);
}

}  // namespace
}  // namespace lzero::root_inputs_test
