#include "lzero/config/yaml/yaml_tree.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::yaml_tree_test {
namespace {

using ::testing::HasSubstr;

TEST(YamlTree, KeepsTextsAndPositions) {
  const YamlTree tree = ReadYamlTree("a: 010\nb: {c: off, d: '5'}\ne: ~\nf: [1, {g: 2}]\nh:\n");
  EXPECT_TRUE(tree.readable);
  EXPECT_TRUE(tree.problems.empty());
  ASSERT_EQ(tree.root.entries.size(), 5u);
  const YamlEntry& a = tree.root.entries[0];
  EXPECT_EQ(a.key, "a");
  EXPECT_EQ(a.value.scalar.text, "010");
  EXPECT_EQ(a.value.position.line, 1);
  EXPECT_EQ(a.value.position.column, 4);
  const YamlNode& b = tree.root.entries[1].value;
  ASSERT_EQ(b.kind, YamlNode::Kind::kMap);
  EXPECT_EQ(b.entries[0].value.scalar.text, "off");
  EXPECT_FALSE(b.entries[0].value.scalar.quoted);
  EXPECT_EQ(b.entries[1].position.line, 2);
  EXPECT_EQ(b.entries[1].position.column, 13);
  EXPECT_TRUE(b.entries[1].value.scalar.quoted);
  EXPECT_TRUE(tree.root.entries[2].value.scalar.is_null);
  EXPECT_EQ(tree.root.entries[3].value.kind, YamlNode::Kind::kSequence);
  EXPECT_TRUE(tree.root.entries[4].value.scalar.is_null);
}

TEST(YamlTree, AcceptsByteOrderMarkAndWindowsLineEnds) {
  const YamlTree tree = ReadYamlTree(
      "\xef\xbb\xbf"
      "a: 1\r\nb: 2\r\n");
  EXPECT_TRUE(tree.problems.empty());
  ASSERT_EQ(tree.root.entries.size(), 2u);
  EXPECT_EQ(tree.root.entries[1].value.scalar.text, "2");
  EXPECT_EQ(tree.root.entries[1].position.line, 2);
}

TEST(YamlTree, NamesWhatItRefuses) {
  const struct {
    std::string text;
    int line;
    int column;
    const char* message;
    bool readable;
  } cases[] = {
      {"", 1, 1, "empty; allowed: sections and keys", false},
      {"# nothing\n\n", 1, 1, "empty", false},
      {"---\n", 1, 1, "empty", false},
      {"just words\n", 1, 1, "not a map of sections and keys; got a single value", false},
      {"- a\n- b\n", 1, 1, "not a map of sections and keys; got a list", false},
      {"a: 1\na: 2\n", 2, 1, "a: duplicate key; first set at line 1, column 1", true},
      {"s: {x: 1, x: 2}\n", 1, 11, "s.x: duplicate key; first set at line 1, column 5", true},
      {"s:\n  x: 1\ns:\n  y: 2\n", 3, 1, "s: duplicate key; first set at line 1", true},
      {"<<: {a: 1}\n", 1, 1, "<<: merge keys are not supported; use extends", true},
      {"a: &x 1\n", 1, 4, "anchors (&'x') are not supported", true},
      {"a: !!int 5\n", 1, 4, "tags are not supported; got 'tag:yaml.org,2002:int'", true},
      {"a: !mine {b: 1}\n", 1, 4, "tags are not supported; got '!mine'", true},
      {"{a: b}: 1\n", 1, 1, "a key must be a name; got a map", true},
      {"? [a]\n: 1\n", 1, 3, "a key must be a name; got a list", true},
      {"~: 1\n", 1, 1, "a key must be a name; got null", true},
      {"'': 1\n", 1, 1, "a key must be a name; got ''", true},
      {"\"a\\x01\": 1\n", 1, 1, "unknown key; got 'a\\x01'", true},
      {"a: 1\n---\nb: 2\n", 2, 1, "a second document begins here", true},
      {"a: 1\n\tb: 2\n", 2, 1, "a tab in the indentation; allowed: spaces", false},
      {"s:\n  \tb: 2\n", 2, 3, "a tab in the indentation; allowed: spaces", false},
      {std::string("a: 1\nb: \0\n", 10), 2, 4, "not a text file; got byte 0x00", false},
      {"a: \x04\n", 1, 4, "not a text file; got byte 0x04", false},
      {"a: \xff\n", 1, 4, "not a text file; got byte 0xff", false},
      {"a: 1\rb: 2\n", 1, 5, "not a text file; got byte 0x0d", false},
      {"a: [1, 2\nb: 3\n", 2, 2, "not valid YAML: ", false},
      {"a: b: c\n", 1, 5, "not valid YAML: illegal map value", false},
      {"a: 'open\n", 1, 4, "a quoted text must end on its line", true},
      {"a: 'it''s\n", 1, 4, "a quoted text must end on its line", true},
      {"a: \"open\\\"\n", 1, 4, "a quoted text must end on its line", true},
      {"a: 'open", 1, 9, "not valid YAML: illegal EOF in scalar", false},
      {"a: |\n  text\n", 1, 4, "block texts (| and >) are not supported", true},
      {"a: ! 5\n", 1, 4, "tags are not supported", true},
      {"a: @x\n", 1, 4, "not valid YAML: ", false},
      {"%YAML 9.9\n---\na: 1\n", 1, 1, "not valid YAML: ", false},
      {std::string(kMaxConfigBytes + 1, '#'), 1, 1, "too large for a config; got 1048577", false},
  };
  for (const auto& test : cases) {
    const std::string shown = test.text.substr(0, 40);
    const YamlTree tree = ReadYamlTree(test.text);
    ASSERT_EQ(tree.problems.size(), 1u) << shown;
    EXPECT_THAT(tree.problems[0].message, HasSubstr(test.message)) << shown;
    EXPECT_EQ(tree.problems[0].position.line, test.line) << shown;
    EXPECT_EQ(tree.problems[0].position.column, test.column) << shown;
    EXPECT_EQ(tree.readable, test.readable) << shown;
  }
}

TEST(YamlTree, AliasesAreRefusedWhereTheyStand) {
  const YamlTree tree = ReadYamlTree("a: &x 1\nb: *x\n");
  ASSERT_EQ(tree.problems.size(), 2u);
  EXPECT_THAT(tree.problems[1].message, HasSubstr("aliases (*name) are not supported"));
  EXPECT_EQ(tree.problems[1].position.line, 2);
  EXPECT_TRUE(tree.root.entries[1].value.refused);
}

TEST(YamlTree, KeepsTheFirstOfDuplicates) {
  const YamlTree tree = ReadYamlTree("a: 1\na: {b: 2}\nc: 3\n");
  ASSERT_EQ(tree.root.entries.size(), 2u);
  EXPECT_EQ(tree.root.entries[0].value.scalar.text, "1");
  EXPECT_EQ(tree.root.entries[1].key, "c");
}

TEST(YamlTree, SurvivesDeepNesting) {
  for (const std::string opening : {"[", "{a: ", "- ", "? "}) {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += opening;
    const YamlTree tree = ReadYamlTree(text);
    EXPECT_FALSE(tree.readable) << opening;
    EXPECT_FALSE(tree.problems.empty()) << opening;
  }
}

}  // namespace
}  // namespace lzero::yaml_tree_test
