#include "lzero/replay/observation_store.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::observation_store_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> Rows(const ObservationStore& store, int row, int num_rows, int size) {
  std::vector<float> rows(static_cast<size_t>(num_rows * size));
  store.CopyRows(row, num_rows, rows.data());
  return rows;
}

TEST(ObservationStore, NumbersComeBackWhateverTheyAre) {
  const ObservationFormat format = {2};
  ObservationStore store(format, 3);
  const float infinity = std::numeric_limits<float>::infinity();
  const float first[] = {1e-30f, -7.5f}, second[] = {infinity, -0.0f}, third[] = {3.0f, 4.0f};
  EXPECT_TRUE(store.SetFirst(1, second).ok());
  EXPECT_TRUE(store.SetNext(2, third).ok());
  EXPECT_TRUE(store.SetFirst(0, first).ok());
  EXPECT_THAT(Rows(store, 0, 3, 2), ElementsAre(1e-30f, -7.5f, infinity, -0.0f, 3.0f, 4.0f));
  EXPECT_EQ(ObservationStore::BytesFor(format, 3), 24);
  ObservationStore other(format, 1);
  EXPECT_TRUE(other.SetFirst(0, second).ok());
  EXPECT_EQ(store.Row(1), other.Row(0));
  EXPECT_NE(store.Row(0), other.Row(0));
  store.ShrinkTo(2);
  EXPECT_THAT(Rows(store, 0, 2, 2), ElementsAre(1e-30f, -7.5f, infinity, -0.0f));
}

TEST(ObservationStore, EveryByteComesBackToTheLastBit) {
  const ObservationFormat format = {256, ObservationType::kUint8};
  ObservationStore store(format, 1);
  std::vector<float> fractions;
  for (int k = 0; k < 256; ++k) fractions.push_back(static_cast<float>(k) / 255.0f);
  ASSERT_TRUE(store.SetFirst(0, fractions.data()).ok());
  EXPECT_EQ(Rows(store, 0, 1, 256), fractions);
  std::vector<uint8_t> bytes(256);
  store.CopyRows(0, 1, bytes.data());
  for (int k = 0; k < 256; ++k) EXPECT_EQ(bytes[k], k);
  EXPECT_EQ(ObservationStore::BytesFor(format, 10), 2560);
}

TEST(ObservationStore, WhatIsNoByteIsRefused) {
  ObservationStore store({3, ObservationType::kUint8}, 2);
  const float right[] = {0.0f, 1.0f, 17.0f / 255.0f}, wrong[] = {0.0f, 0.5f, 1.0f};
  ASSERT_TRUE(store.SetFirst(0, right).ok());
  for (const absl::Status& status : {store.SetFirst(1, wrong), store.SetNext(1, wrong)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              "observation[1] is 0.5, but the environment declares uint8 observations "
              "(ObservationSpec): every element is k / 255, k of 0 to 255");
  }
  EXPECT_THAT(Rows(store, 0, 1, 3), ElementsAre(0.0f, 1.0f, 17.0f / 255.0f));
}

// Three frames of two elements; frame k holds k and 10 k.
class StackedStore : public testing::TestWithParam<ObservationType> {
 protected:
  static std::vector<float> Stack(std::vector<int> frames) {
    std::vector<float> stack;
    for (const int frame : frames) {
      stack.push_back(static_cast<float>(frame) / 255.0f);
      stack.push_back(static_cast<float>(10 * frame) / 255.0f);
    }
    return stack;
  }
  absl::Status SetNext(int row, std::vector<int> frames) {
    return store_.SetNext(row, Stack(frames).data());
  }

  const ObservationFormat format_ = {6, GetParam(), 3};
  ObservationStore store_{format_, 5};
};

TEST_P(StackedStore, KeepsEveryFrameOnce) {
  ASSERT_TRUE(store_.SetFirst(0, Stack({1, 1, 2}).data()).ok());
  EXPECT_TRUE(SetNext(1, {1, 2, 3}).ok());
  EXPECT_TRUE(SetNext(2, {2, 3, 4}).ok());
  EXPECT_EQ(Rows(store_, 0, 3, 6), (std::vector<float>(Stack({1, 1, 2, 1, 2, 3, 2, 3, 4}))));
  // Five rows of one frame, and two frames more before the first.
  const int element = GetParam() == ObservationType::kUint8 ? 1 : 4;
  EXPECT_EQ(ObservationStore::BytesFor(format_, 5), 7 * 2 * element);
  EXPECT_EQ(format_.block_bytes(), 2 * element);
  EXPECT_EQ(static_cast<int>(store_.Row(0).size()), 6 * element);

  store_.ShrinkTo(2);
  EXPECT_EQ(Rows(store_, 0, 2, 6), Stack({1, 1, 2, 1, 2, 3}));
}

TEST_P(StackedStore, RefusesAStackThatIsNotThePreviousOneMovedOn) {
  ASSERT_TRUE(store_.SetFirst(0, Stack({1, 2, 3}).data()).ok());
  for (const std::vector<int>& frames :
       {std::vector<int>{3, 3, 4}, {2, 4, 3}, {1, 2, 3}, {4, 5, 6}}) {
    const absl::Status status = SetNext(1, frames);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              "the first 2 of the observation's 3 frames are not the last ones of the observation "
              "before, but the environment declares frame_stack 3 (ObservationSpec): each step "
              "adds one frame and drops the oldest");
  }
  EXPECT_EQ(Rows(store_, 0, 1, 6), Stack({1, 2, 3}));
  EXPECT_TRUE(SetNext(1, {2, 3, 3}).ok());
}

TEST_P(StackedStore, BytesAreCheckedInEveryFrame) {
  if (GetParam() == ObservationType::kFloat32) return;
  ASSERT_TRUE(store_.SetFirst(0, Stack({1, 2, 3}).data()).ok());
  for (const int index : {0, 5}) {
    std::vector<float> stack = Stack({2, 3, 4});
    stack[index] = 0.25f;
    EXPECT_THAT(std::string(store_.SetNext(1, stack.data()).message()),
                HasSubstr("observation[" + std::to_string(index) + "] is 0.25"));
  }
}

TEST_P(StackedStore, CopiesRowsOfAnother) {
  ASSERT_TRUE(store_.SetFirst(0, Stack({1, 2, 3}).data()).ok());
  for (int row = 1; row < 5; ++row) ASSERT_TRUE(SetNext(row, {1 + row, 2 + row, 3 + row}).ok());
  ObservationStore other(format_, 4);
  other.SetBlocks(2, store_.Row(3));
  EXPECT_EQ(other.Row(2), store_.Row(3));
  EXPECT_NE(other.Row(2), store_.Row(4));
  other.SetBlocks(0, store_.Blocks(1, 2));
  ASSERT_TRUE(other.SetNext(3, Stack({5, 6, 9}).data()).ok());
  EXPECT_EQ(Rows(other, 0, 4, 6), Stack({2, 3, 4, 3, 4, 5, 4, 5, 6, 5, 6, 9}));
}

TEST_P(StackedStore, BlocksAreTheFramesAsStored) {
  ASSERT_TRUE(store_.SetFirst(0, Stack({1, 2, 3}).data()).ok());
  ASSERT_TRUE(SetNext(1, {2, 3, 4}).ok());
  const absl::string_view blocks = store_.Blocks(0, 4);
  EXPECT_EQ(static_cast<int64_t>(blocks.size()), 4 * format_.block_bytes());
  if (GetParam() == ObservationType::kUint8) {
    EXPECT_THAT(blocks, ElementsAre(1, 10, 2, 20, 3, 30, 4, 40));
  }
  ObservationStore other(format_, 5);
  other.SetBlocks(1, blocks);
  EXPECT_EQ(other.Row(1), store_.Row(0));
  EXPECT_EQ(other.Row(2), store_.Row(1));
  EXPECT_EQ(Rows(other, 2, 1, 6), Stack({2, 3, 4}));
}

INSTANTIATE_TEST_SUITE_P(Types, StackedStore,
                         testing::Values(ObservationType::kFloat32, ObservationType::kUint8),
                         [](const auto& type) { return ObservationTypeName(type.param); });

}  // namespace
}  // namespace lzero::observation_store_test
