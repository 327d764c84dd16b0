#include "lzero/replay/saved/context_arrays.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::context_arrays_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr SegmentShape kShape{1, 4, 3};

// A segment of two steps at step `first_step` of its episode; observation and action of context
// step i are number + i and i.
std::unique_ptr<GameSegment> MakeSegment(int64_t first_step, float number) {
  auto segment = std::make_unique<GameSegment>(kShape, 2, EnvId(0), 0, first_step);
  std::vector<float> observations;
  std::vector<int32_t> actions;
  for (int i = 0; i < segment->num_context_steps(); ++i) {
    observations.push_back(number + static_cast<float>(i));
    actions.push_back(i);
  }
  EXPECT_TRUE(segment->SetFirstObservation({0.0f}, {1, 1, 1, 1}, 0).ok());
  segment->SetContext(std::string(reinterpret_cast<const char*>(observations.data()),
                                  observations.size() * sizeof(float)),
                      actions, {});
  return segment;
}

std::vector<float> ContextOf(const GameSegment& segment) {
  std::vector<float> context(segment.num_context_steps());
  segment.CopyObservations(-segment.num_context_steps(), segment.num_context_steps(),
                           context.data());
  return context;
}

// Segments at steps 0, 2 and 8 whose predecessors are gone, and one that follows the second.
class ContextArraysTest : public testing::Test {
 protected:
  ContextArraysTest() {
    GameSegment::Link(later_.get(), following_.get());
    ExportContexts(kShape, {first_.get(), later_.get(), following_.get(), last_.get()}, &arrays_);
    arrays_ = Materialize(std::move(arrays_));
  }

  template <typename T>
  std::vector<T> Values(const char* name) const {
    auto values = ReadArray<T>(arrays_, name);
    EXPECT_TRUE(values.ok()) << values.status().message();
    return std::move(values).value();
  }

  // The first error of reading the contexts of the three segments back with room for `num_steps`.
  std::string ErrorOf(int num_steps) const {
    const SegmentShape shape{1, 4, num_steps};
    ContextReader reader(shape);
    absl::Status status = reader.Open(arrays_);
    for (const int64_t first_step : {0, 2, 8}) {
      GameSegment segment(shape, 2, EnvId(0), 5, first_step);
      if (status.ok()) status = reader.Restore(&segment);
    }
    if (status.ok()) status = reader.Close();
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  std::unique_ptr<GameSegment> first_ = MakeSegment(0, 0), later_ = MakeSegment(2, 20),
                               following_ = MakeSegment(4, 40), last_ = MakeSegment(8, 80);
  std::vector<NamedArray> arrays_;
};

TEST_F(ContextArraysTest, HoldTheContextOfSegmentsWithoutPredecessor) {
  EXPECT_THAT(Values<int64_t>("replay.context_steps"), ElementsAre(3));
  EXPECT_THAT(Values<float>("replay.context_observations"), ElementsAre(20, 21, 80, 81, 82));
  EXPECT_THAT(Values<int32_t>("replay.context_actions"), ElementsAre(0, 1, 0, 1, 2));
  EXPECT_EQ(arrays_.size(), 3u);
}

TEST_F(ContextArraysTest, AreReadBackInOrder) {
  for (const int num_steps : {3, 1}) {
    const SegmentShape shape{1, 4, num_steps};
    GameSegment first(shape, 2, EnvId(0), 0, 0), later(shape, 2, EnvId(0), 0, 2),
        last(shape, 2, EnvId(0), 0, 8);
    ContextReader reader(shape);
    ASSERT_TRUE(reader.Open(arrays_).ok());
    for (GameSegment* segment : {&first, &later, &last}) {
      ASSERT_TRUE(reader.Restore(segment).ok());
    }
    EXPECT_TRUE(reader.Close().ok());
    EXPECT_THAT(ContextOf(first), IsEmpty());
    // With room for fewer, the newest ones.
    if (num_steps == 3) {
      EXPECT_THAT(ContextOf(later), ElementsAre(20, 21));
      EXPECT_THAT(ContextOf(last), ElementsAre(80, 81, 82));
    } else {
      EXPECT_THAT(ContextOf(later), ElementsAre(21));
      EXPECT_THAT(ContextOf(last), ElementsAre(82));
      EXPECT_THAT(last.Rows<int32_t>(Stored::kAction, -1, 1), ElementsAre(2));
    }
  }
}

TEST_F(ContextArraysTest, NothingIsWrittenWhereNoContextIsKept) {
  arrays_.clear();
  ExportContexts({1, 4, 0}, {first_.get()}, &arrays_);
  EXPECT_THAT(arrays_, IsEmpty());
  EXPECT_EQ(ErrorOf(0), "");
  EXPECT_EQ(
      ErrorOf(1),
      "replay state: segments need 1 context steps here (replay.num_context_steps, or half of "
      "model.num_layers * (model.context_length - 1)), but the state was saved with 0: episode 5 "
      "is stored from step 2 on, the steps before are gone");
}

TEST_F(ContextArraysTest, WhatDoesNotFitIsRefused) {
  const std::vector<NamedArray> whole = arrays_;
  EXPECT_EQ(ErrorOf(3), "");
  EXPECT_THAT(ErrorOf(4), HasSubstr("was saved with 3: episode 5 is stored from "));
  for (size_t i = 0; i < whole.size(); ++i) {
    arrays_ = whole;
    arrays_.erase(arrays_.begin() + static_cast<int64_t>(i));
    EXPECT_THAT(ErrorOf(3), HasSubstr("no array '" + whole[i].name + "'"));
  }
  arrays_ = whole;
  arrays_[0] = MakeNamedArray<int64_t>("replay.context_steps", {0});
  EXPECT_THAT(ErrorOf(3), HasSubstr("'replay.context_steps' holds 0, allowed are > 0"));
  arrays_ = whole;
  arrays_[1].shape = {4, 1};
  EXPECT_THAT(ErrorOf(3), HasSubstr("'replay.context_observations' has shape [4, 1]"));
  arrays_ = whole;
  arrays_[2] = MakeNamedArray<int32_t>("replay.context_actions", {0, 1, 4, 1, 2});
  EXPECT_THAT(ErrorOf(3), HasSubstr("'replay.context_actions' holds 4, allowed are 0 to 3"));
  arrays_ = whole;
  arrays_[0] = MakeNamedArray<int64_t>("replay.context_steps", {4});
  EXPECT_THAT(ErrorOf(3), HasSubstr("holds 5 steps, fewer than its segments need"));
  arrays_[0] = MakeNamedArray<int64_t>("replay.context_steps", {2});
  EXPECT_THAT(ErrorOf(2), HasSubstr("holds 5 steps, its segments need 4"));
}

// Two stacked frames of one byte: context is the frame that leaves the stack at each step.
TEST(ContextArrays, HoldOneFrameForEachStep) {
  const SegmentShape shape{2, 4, 3, ObservationType::kUint8, 2};
  GameSegment saved(shape, 2, EnvId(0), 0, 8), loaded(shape, 2, EnvId(0), 0, 8);
  const std::vector<float> first = {30.0f / 255.0f, 40.0f / 255.0f};
  ASSERT_TRUE(saved.SetFirstObservation(first, {1, 1, 1, 1}, 0).ok());
  saved.SetContext(std::string("\x07\x08\x09"), {1, 2, 3}, {});
  std::vector<NamedArray> arrays;
  ExportContexts(shape, {&saved}, &arrays);
  arrays = Materialize(std::move(arrays));
  const auto blocks = ReadArray<uint8_t>(arrays, "replay.context_observations");
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  EXPECT_THAT(*blocks, ElementsAre(7, 8, 9));
  EXPECT_THAT(arrays[1].shape, ElementsAre(3, 1));

  ContextReader reader(shape);
  ASSERT_TRUE(reader.Open(arrays).ok());
  ASSERT_TRUE(loaded.SetFirstObservation(first, {1, 1, 1, 1}, 0).ok());
  ASSERT_TRUE(reader.Restore(&loaded).ok());
  std::vector<uint8_t> bytes(4 * 2);
  loaded.CopyObservations(-3, 4, bytes.data());
  EXPECT_THAT(bytes, ElementsAre(7, 8, 8, 9, 9, 30, 30, 40));

  ContextReader of_numbers({2, 4, 3, ObservationType::kFloat32, 2});
  EXPECT_THAT(std::string(of_numbers.Open(arrays).message()),
              HasSubstr("'replay.context_observations' holds U8"));
}

}  // namespace
}  // namespace lzero::context_arrays_test
