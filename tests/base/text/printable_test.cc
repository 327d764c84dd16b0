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
  EXPECT_EQ(PrintableMessage("caf\xc3\xa9 \xff"), "caf\xc3\xa9 \\xff");
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

TEST(EscapedForMessage, KeepsLinesAndLettersAlone) {
  EXPECT_EQ(EscapedForMessage("one\n\ttwo caf\xc3\xa9"), "one\n\ttwo caf\xc3\xa9");
  EXPECT_EQ(EscapedForMessage("\x1b[31mred\r\x7f\xff"), "\\x1b[31mred\\x0d\\x7f\\xff");
  EXPECT_EQ(EscapedForMessage(absl::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(EscapedForMessage("a\nb", ""), "a\\x0ab");
}

TEST(Utf8, FollowsTheStandard) {
  EXPECT_EQ(Utf8Length("a"), 1);
  EXPECT_EQ(Utf8Length("\xc3\xa9"), 2);
  EXPECT_EQ(Utf8Length("\xe2\x82\xac"), 3);
  EXPECT_EQ(Utf8Length("\xf0\x9f\x98\x80"), 4);
  EXPECT_EQ(Utf8Length(""), 0);
  EXPECT_EQ(Utf8Length("\x80"), 0);              // continuation first
  EXPECT_EQ(Utf8Length("\xc0\xaf"), 0);          // overlong
  EXPECT_EQ(Utf8Length("\xe0\x80\xaf"), 0);      // overlong
  EXPECT_EQ(Utf8Length("\xf0\x80\x80\xaf"), 0);  // overlong
  EXPECT_EQ(Utf8Length("\xed\xa0\x80"), 0);      // surrogate
  EXPECT_EQ(Utf8Length("\xf4\x90\x80\x80"), 0);  // beyond U+10FFFF
  EXPECT_EQ(Utf8Length("\xe2\x82"), 0);          // cut
  EXPECT_TRUE(IsPrintableUtf8("cart pole"));
  EXPECT_FALSE(IsPrintableUtf8("a\tb"));
  EXPECT_FALSE(IsPrintableUtf8("\x7f"));
}

TEST(ShellQuotedTest, LeavesPlainWordsAloneAndQuotesOthers) {
  for (const char* plain : {"runs/a-b_c.d", "key.path=1,2", "a:b@c%d+e"}) {
    EXPECT_EQ(ShellQuoted(plain), plain);
  }
  EXPECT_EQ(ShellQuoted(""), "''");
  EXPECT_EQ(ShellQuoted("[a, b]"), "'[a, b]'");
  EXPECT_EQ(ShellQuoted("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(ShellQuoted("a\x1b[31m'\\b"), R"($'a\x1b[31m\'\\b')");
}

}  // namespace
}  // namespace lzero::printable_test
