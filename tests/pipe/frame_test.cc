#include "lzero/pipe/frame.h"

#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::frame_test {
namespace {

using ::testing::ElementsAre;

TEST(FrameTest, AFrameIsTypeFlagsTwoZerosAndItsBody) {
  const std::string bytes("\x02\x05\0\0ab", 6);
  const auto frame = ReadFrame(bytes);
  ASSERT_TRUE(frame.ok()) << frame.status();
  EXPECT_EQ(frame->type, FrameType::kAct);
  EXPECT_EQ(frame->flags, 5);
  EXPECT_EQ(frame->body, "ab");
}

TEST(FrameTest, BytesThatAreNoFrameAreRefused) {
  for (const std::string& bytes :
       {std::string(), std::string("\x02\0\0", 3), std::string("\x02\0\1\0", 4)}) {
    EXPECT_TRUE(absl::IsDataLoss(ReadFrame(bytes).status())) << bytes.size();
  }
}

TEST(FrameTest, WrittenNumbersAreLittleEndian) {
  EXPECT_EQ(FrameWriter(FrameType::kBytes).Add(uint32_t{0x01020304}).AddText("x").Take(),
            std::string("\x86\0\0\0\x04\x03\x02\x01x", 9));
}

TEST(BodyReaderTest, ReadsWhatIsThereAndNothingMore) {
  BodyReader body(absl::string_view("\x01\0\x02\0z", 5));
  std::vector<uint16_t> numbers;
  ASSERT_TRUE(body.Read(2, &numbers));
  EXPECT_THAT(numbers, ElementsAre(1, 2));
  uint32_t number = 0;
  EXPECT_FALSE(body.Read(&number));
  std::string text;
  EXPECT_FALSE(body.ReadText(2, &text));
  // A count whose bytes overflow 64 bits.
  EXPECT_FALSE(body.Read(SIZE_MAX, &numbers));
  EXPECT_THAT(numbers, ElementsAre(1, 2));
  ASSERT_TRUE(body.ReadText(1, &text));
  EXPECT_EQ(text, "z");
  EXPECT_TRUE(body.at_end());
}

}  // namespace
}  // namespace lzero::frame_test
