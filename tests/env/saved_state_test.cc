#include "lzero/env/saved_state.h"

#include <gtest/gtest.h>

namespace lzero::saved_state_test {
namespace {

std::string Example() {
  StateWriter writer("toy");
  writer.Write(int32_t{-7});
  writer.Write(0.1);
  writer.Write(true);
  writer.WriteVector(std::vector<float>{1.5f, -2.0f});
  writer.WriteString("x\0y");
  return writer.Take();
}

TEST(SavedStateTest, ReadsBackWhatWasWritten) {
  const std::string bytes = Example();
  StateReader reader("toy", bytes);
  EXPECT_EQ(reader.Read<int32_t>(), -7);
  EXPECT_EQ(reader.Read<double>(), 0.1);
  EXPECT_TRUE(reader.Read<bool>());
  EXPECT_EQ(reader.ReadVector<float>(), (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(reader.ReadString(), "x");
  EXPECT_TRUE(reader.Finish().ok());
  EXPECT_EQ(reader.Impossible("count 12").message(),
            "saved state of 'toy' is impossible: count 12");
}

TEST(SavedStateTest, AnotherOwnerIsRefused) {
  const std::string bytes = Example();
  const StateReader reader("game", bytes);
  EXPECT_EQ(reader.Finish().message(), "these 49 bytes are not a saved state of 'game'");
}

TEST(SavedStateTest, EveryShorterStringIsRefused) {
  const std::string bytes = Example();
  for (size_t size = 0; size < bytes.size(); ++size) {
    StateReader reader("toy", absl::string_view(bytes).substr(0, size));
    reader.Read<int32_t>();
    reader.Read<double>();
    reader.Read<bool>();
    reader.ReadVector<float>();
    reader.ReadString();
    EXPECT_EQ(reader.Finish().code(), absl::StatusCode::kInvalidArgument) << size;
  }
}

TEST(SavedStateTest, WhatIsLeftOverIsRefused) {
  const std::string bytes = Example();
  StateReader reader("toy", bytes);
  reader.Read<int32_t>();
  EXPECT_EQ(reader.Finish().message(), "saved state of 'toy' is damaged (49 bytes, 34 unread)");
}

TEST(SavedStateTest, ABoolIsZeroOrOne) {
  StateWriter writer("toy");
  writer.Write(uint8_t{2});
  const std::string bytes = writer.Take();
  StateReader reader("toy", bytes);
  reader.Read<bool>();
  EXPECT_EQ(reader.Finish().message(), "saved state of 'toy' is damaged (12 bytes, 0 unread)");
}

TEST(SavedStateTest, AHugeLengthDoesNotAllocate) {
  StateWriter writer("toy");
  writer.Write(~uint64_t{0});
  const std::string bytes = writer.Take();
  StateReader as_vector("toy", bytes);
  EXPECT_TRUE(as_vector.ReadVector<double>().empty());
  EXPECT_FALSE(as_vector.Finish().ok());
  StateReader as_text("toy", bytes);
  EXPECT_EQ(as_text.ReadString(), "");
  EXPECT_FALSE(as_text.Finish().ok());
}

}  // namespace
}  // namespace lzero::saved_state_test
