// What comes from files cannot become markup.
#include "lzero/report/html.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::html_test {
namespace {

TEST(HtmlTest, EscapesMarkupAndControlCharacters) {
  EXPECT_EQ(EscapeHtml("<script>\"a\" & 'b'</script>"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;");
  EXPECT_EQ(EscapeHtml("esc\x1b[31m\ttab"), "esc?[31m?tab");
  EXPECT_EQ(EscapeHtml("\xc3\xa4 \xff"), "\xc3\xa4 \xef\xbf\xbd");
}

TEST(HtmlTest, AScriptElementDoesNotEndEarly) {
  EXPECT_EQ(ScriptJson("{\"a\":\"</script><b>\"}"), "{\"a\":\"\\u003c/script>\\u003cb>\"}");
}

TEST(HtmlTest, NumbersStandOnTheRight) {
  EXPECT_EQ(HtmlTable("lr", {"name", "n"}, {{"a", "1"}}),
            "<div class=\"scroll\"><table><thead>\n<tr><th>name</th><th class=\"r\">n</th></tr>\n"
            "</thead><tbody>\n<tr><td>a</td><td class=\"r\">1</td></tr>\n</tbody></table></div>\n");
}

}  // namespace
}  // namespace lzero::html_test
