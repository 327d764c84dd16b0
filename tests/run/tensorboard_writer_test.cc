// The event file, taken apart by a decoder of its own: frames, checksums, field numbers. The
// packages of TensorBoard read one in tensorboard_oracle.py.
#include "lzero/run/tensorboard_writer.h"

#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "tests/run/test_folder.h"

namespace lzero::tensorboard_writer_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Bit by bit, unlike the tables of base/files.cc. [RFC 3720 appendix B.4]
uint32_t BitwiseCrc32c(const std::string& bytes) {
  uint32_t crc = 0xffffffffu;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
  }
  return crc ^ 0xffffffffu;
}

uint32_t Masked(const std::string& bytes) {
  const uint32_t crc = BitwiseCrc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

template <typename T>
T Load(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

// The events of a file whose every frame has good checksums.
std::vector<std::string> EventsOf(const std::string& file) {
  std::vector<std::string> events;
  size_t at = 0;
  while (at < file.size()) {
    const auto length = Load<uint64_t>(file, at);
    EXPECT_EQ(Load<uint32_t>(file, at + 8), Masked(file.substr(at, 8)));
    events.push_back(file.substr(at + 12, length));
    EXPECT_EQ(Load<uint32_t>(file, at + 12 + length), Masked(events.back()));
    at += 16 + length;
  }
  EXPECT_EQ(at, file.size());
  return events;
}

// wall_time 2.0 and a step of one byte.
std::string EventStart(char step) {
  return std::string("\x09\x00\x00\x00\x00\x00\x00\x00\x40\x10", 10) + step;
}

class TensorBoardWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test_folder_.path() + "/tb";
    writer_ = *TensorBoardWriter::Create(folder_, [] { return 2.0; });
  }
  std::vector<std::string> Events() {
    EXPECT_TRUE(writer_->Flush().ok());
    return EventsOf(*ReadFile(writer_->path()));
  }
  TestFolder test_folder_;
  std::string folder_;
  std::unique_ptr<TensorBoardWriter> writer_;
};

TEST_F(TensorBoardWriterTest, CrcOfThisTestIsRight) {
  EXPECT_EQ(BitwiseCrc32c("123456789"), 0xe3069283u);  // [RFC 3720]
}

TEST_F(TensorBoardWriterTest, BeginsWithTheFileVersion) {
  const auto events = Events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0], EventStart('\0') + "\x1a\x0d" + "brain.Event:2");
}

TEST_F(TensorBoardWriterTest, ScalarIsASummaryWithASimpleValue) {
  writer_->AddScalar("ab", 1.5, 7);
  const auto events = Events();
  ASSERT_EQ(events.size(), 2u);
  // summary (5) of 11 bytes {value (1) of 9 bytes {tag (1) "ab", simple_value (2) 1.5f}}
  EXPECT_EQ(events[1], EventStart('\x07') + std::string("\x2a\x0b\x0a\x09\x0a\x02"
                                                        "ab\x15\x00\x00\xc0\x3f",
                                                        13));
}

TEST_F(TensorBoardWriterTest, LargeStepsTakeSeveralBytes) {
  writer_->AddScalar("ab", 1.5, 300);  // 300 = 0b10'0101100
  const auto events = Events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].substr(9, 3), "\x10\xac\x02");
}

TEST_F(TensorBoardWriterTest, RestartIsASessionLog) {
  writer_->AddRestart(9);
  const auto events = Events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1], EventStart('\x09') + "\x3a\x02\x08\x01");
}

TEST_F(TensorBoardWriterTest, NamesCarryTimeAndAFreeNumber) {
  EXPECT_EQ(writer_->path(), folder_ + "/events.out.tfevents.0000000002.0.lzero");
  EXPECT_THAT(*ListDirectory(folder_), IsEmpty()) << "nothing was written yet";
  ASSERT_TRUE(writer_->Flush().ok());
  const auto second = TensorBoardWriter::Create(folder_, [] { return 2.9; });
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second)->path(), folder_ + "/events.out.tfevents.0000000002.1.lzero");
}

TEST_F(TensorBoardWriterTest, ReportsAFolderThatCannotBeMade) {
  const std::string file = test_folder_.path() + "/file";
  ASSERT_TRUE(AppendFile(file, "x").ok());
  const absl::Status status = TensorBoardWriter::Create(file + "/tb").status();
  EXPECT_THAT(std::string(status.message()), HasSubstr(file + "/tb"));
}

}  // namespace
}  // namespace lzero::tensorboard_writer_test
