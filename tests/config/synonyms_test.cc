#include "lzero/config/synonyms.h"

#include <set>
#include <string>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "lzero/config/schema.h"

namespace lzero::synonyms_test {
namespace {

// Every key exists, no name is ours, and no name is given twice.
TEST(SynonymsTest, TheTableFitsTheSchema) {
  ExperimentConfig config;
  const std::vector<ConfigField> fields = FieldsOf(config);
  std::set<std::string> names, own;
  for (const ConfigField& field : fields) own.emplace(field.name);
  for (const Synonyms& entry : AllSynonyms()) {
    const bool has_key = *entry.key != '\0';
    EXPECT_EQ(FindField(fields, entry.key) != nullptr, has_key) << entry.key;
    EXPECT_TRUE(has_key || *entry.remark != '\0') << entry.names;
    for (const auto part : absl::StrSplit(entry.names, ' ')) {
      const std::string name(part);
      EXPECT_TRUE(names.insert(name).second) << name << " twice";
      EXPECT_FALSE(own.contains(name)) << name << " is ours";
    }
  }
}

TEST(SynonymsTest, TheLastPartOfAPathCounts) {
  for (const char* name : {"lr", "optimizer.lr", "LR", "adam-lr"}) {
    ASSERT_NE(FindSynonym(name), nullptr) << name;
    EXPECT_EQ(std::string(FindSynonym(name)->key), "train.learning_rate");
  }
  for (const char* name : {"", "lr.", "learning_rate", "lrr"}) {
    EXPECT_EQ(FindSynonym(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace lzero::synonyms_test
