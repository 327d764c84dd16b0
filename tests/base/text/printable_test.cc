#include "lzero/base/text/printable.h"

#include <string>

#include "gtest/gtest.h"

namespace lzero::printable_test {
namespace {

TEST(PrintableMessageTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(PrintableMessage("no file a\x1b[31mb\x7f!"), "no file a\\x1b[31mb\\x7f!");
  EXPECT_EQ(PrintableMessage("\xc2\x9b 1m"), "\\xc2\\x9b 1m");  // the same in one character
  EXPECT_EQ(PrintableMessage(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(PrintableMessage("two\nlines,\ta tab"), "two\nlines,\ta tab");
  EXPECT_EQ(PrintableMessage("caf\xc3\xa9 \xff"), "caf\xc3\xa9 \xff");
  EXPECT_EQ(PrintableMessage(""), "");
}

TEST(PrintableMessageTest, LongWordsLoseTheirMiddle) {
  const std::string fits(300, 'x');
  EXPECT_EQ(PrintableMessage("a " + fits + "\nb"), "a " + fits + "\nb");
  EXPECT_EQ(PrintableMessage("no '" + std::string(100000, 'x') + "' here"),
            "no '" + std::string(59, 'x') + "..." + std::string(59, 'x') + "' here");
  std::string accents = "y";  // the cut at byte 60 would be inside one
  for (int i = 0; i < 200; ++i) accents += "\xc3\xa9";
  const std::string cut = PrintableMessage(accents);
  EXPECT_EQ(cut.size(), 59u + 3u + 60u);
}

}  // namespace
}  // namespace lzero::printable_test
