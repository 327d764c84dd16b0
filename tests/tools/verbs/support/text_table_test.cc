// Tables against text written out by hand.
#include "tools/verbs/support/text_table.h"

#include "gtest/gtest.h"

namespace lzero::text_table_test {
namespace {

TEST(TextTableTest, ColumnsAreAsWideAsTheirWidestCell) {
  TextTable table("lrl", {"name", "n", "path"});
  table.Add({"a", "1,000", "x"});
  table.Add({"\xc3\xa4\xc3\xb6", "2", "bell\a"});  // two characters of two bytes
  table.Add({"b", "too long a story"});
  EXPECT_EQ(table.Text(),
            "name      n  path\n"
            "a     1,000  x\n"
            "\xc3\xa4\xc3\xb6        2  bell?\n"
            "b     too long a story\n");
}

}  // namespace
}  // namespace lzero::text_table_test
