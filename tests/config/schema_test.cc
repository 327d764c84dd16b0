#include "lzero/config/schema.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/config/config_test_tools.h"

namespace lzero::schema_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What is allowed in the field with this path.
std::string Allowed(const std::string& path) {
  ExperimentConfig config;
  const std::vector<ConfigField> fields = FieldsOf(config);
  const ConfigField* const field = FindField(fields, path);
  return field == nullptr ? "no field" : AllowedText(*field);
}

// What SetField says about a plain text, "" when it is taken.
std::string Set(ExperimentConfig& config, const std::string& path, const std::string& text,
                bool quoted = false) {
  return SetField(config, path, {text, quoted, false}).value_or("");
}

TEST(Schema, SectionsAreThoseOfTheDesign) {
  std::vector<std::string> names;
  ExperimentConfig config;
  for (const ConfigField& field : FieldsOf(config)) {
    if (names.empty() || field.section != names.back()) names.emplace_back(field.section);
  }
  EXPECT_THAT(names,
              ElementsAre("env", "model", "loss", "search", "replay", "train", "inference",
                          "evaluate", "checkpoint", "stop", "score", "multitask", "init", ""));
}

TEST(Schema, EveryFieldIsDescribed) {
  std::set<std::string> paths;
  ExperimentConfig config;
  for (const ConfigField& field : FieldsOf(config)) {
    EXPECT_TRUE(paths.insert(field.path).second) << "declared twice: " << field.path;
    EXPECT_FALSE(field.help.empty()) << field.path;
    EXPECT_NE(field.help.back(), '.') << field.path;
    EXPECT_LT(field.range.low, field.range.high) << field.path;
    EXPECT_EQ(field.Is<ChoiceIndex>(), !field.choices.empty()) << field.path;
  }
  EXPECT_EQ(paths.size(), 168u);  // grows with every new field
  EXPECT_EQ(paths.count("seed"), 1u);
}

TEST(Schema, DefaultsAreInTheirRanges) {
  ExperimentConfig config;
  for (const ConfigField& field : FieldsOf(config)) {
    const std::string text = ValueText(field);
    EXPECT_EQ(SetFromText(field, {text, false, text == "null"}), std::nullopt) << field.path;
  }
}

TEST(Schema, AllowedTextNamesTypeRangeAndNull) {
  EXPECT_EQ(Allowed("train.batch_size"), "an integer from 1 to 65536");
  EXPECT_EQ(Allowed("replay.discount"), "a number above 0 to 1");
  EXPECT_EQ(Allowed("train.beta1"), "a number from 0 to below 1");
  EXPECT_EQ(Allowed("stop.max_updates"), "an integer from 1 to 1000000000000, or null");
  EXPECT_EQ(Allowed("search.policy"), "one of puct, gumbel");
  EXPECT_EQ(Allowed("inference.device"), "one of cpu, cuda, cuda:N");
  EXPECT_EQ(Allowed("deterministic"), "true or false");
  EXPECT_EQ(Allowed("env.id"), "printable text");
}

TEST(Schema, SetsEveryTypeOfField) {
  ExperimentConfig config;
  EXPECT_EQ(Set(config, "train.batch_size", "256"), "");
  EXPECT_EQ(Set(config, "replay.discount", "1"), "");
  EXPECT_EQ(Set(config, "deterministic", "true"), "");
  EXPECT_EQ(Set(config, "env.id", "off"), "");
  EXPECT_EQ(Set(config, "search.q_transform", "completed_by_mix_value"), "");
  EXPECT_EQ(Set(config, "model.head_dim", "99"), "");
  EXPECT_EQ(Set(config, "stop.target_return", "-2.5"), "");
  EXPECT_EQ(SetField(config, "stop.max_env_steps", {"", false, true}), std::nullopt);
  EXPECT_EQ(config.train.batch_size, 256);
  EXPECT_EQ(config.replay.discount, 1.0);
  EXPECT_TRUE(config.deterministic);
  EXPECT_EQ(config.env.id, "off");
  EXPECT_EQ(config.search.q_transform, QTransform::kCompletedByMixValue);
  EXPECT_EQ(config.model.head_dim, 99);
  EXPECT_EQ(config.stop.target_return, -2.5);
  EXPECT_EQ(config.stop.max_env_steps, std::nullopt);
}

TEST(Schema, ARefusedValueChangesNothing) {
  ExperimentConfig config;
  EXPECT_EQ(Set(config, "train.batch_size", "0"),
            "out of range; got '0'; allowed: an integer from 1 to 65536");
  EXPECT_EQ(Set(config, "train.batch_size", "64", true),
            "not an integer; got '64' in quotes; allowed: an integer from 1 to 65536");
  EXPECT_EQ(Set(config, "search.policy", "gumble"),
            "unknown choice; got 'gumble'; allowed: one of puct, gumbel; did you mean 'gumbel'?");
  EXPECT_EQ(Set(config, "env.id", ""), "empty; got ''; allowed: printable text");
  EXPECT_THAT(Set(config, "env.id", "a\x01"), HasSubstr("control characters"));
  EXPECT_EQ(SetField(config, "train.batch_size", {"null", false, true}),
            "a value is needed; got null; allowed: an integer from 1 to 65536");
  EXPECT_EQ(config.train.batch_size, 64);
  EXPECT_EQ(config.search.policy, SearchPolicy::kPuct);
  EXPECT_EQ(config.env.id, "cartpole");
}

TEST(Schema, OpenBoundsExcludeTheirValue) {
  ExperimentConfig config;
  EXPECT_THAT(Set(config, "replay.discount", "0"), HasSubstr("out of range"));
  EXPECT_THAT(Set(config, "train.beta1", "1"), HasSubstr("out of range"));
  EXPECT_EQ(Set(config, "train.beta1", "0"), "");
}

TEST(NearestKey, LooksBesideThenElsewhere) {
  std::string suggestion;
  EXPECT_EQ(NearestKeyHint("train.batch_sise", &suggestion), "; did you mean 'train.batch_size'?");
  EXPECT_EQ(suggestion, "train.batch_size");
  EXPECT_EQ(NearestKeyHint("trian.batch_size", nullptr), "; did you mean 'train.batch_size'?");
  EXPECT_EQ(NearestKeyHint("train.embed_dim", nullptr), "; did you mean 'model.embed_dim'?");
  EXPECT_EQ(NearestKeyHint("train.embd_dim", nullptr), "; did you mean 'model.embed_dim'?");
  EXPECT_EQ(NearestKeyHint("sead", nullptr), "; did you mean 'seed'?");
  EXPECT_EQ(NearestKeyHint("modle", nullptr), "; did you mean 'model'?");
  EXPECT_EQ(NearestKeyHint("train.lr", &suggestion), "; did you mean 'train.learning_rate'?");
  EXPECT_EQ(suggestion, "train.learning_rate");
  EXPECT_EQ(NearestKeyHint("gae_lambda", &suggestion),
            "; there is no such loss: targets come from the search");
  EXPECT_EQ(suggestion, "");
  EXPECT_EQ(NearestKeyHint("checkpoint.zzzzzzzzzzzzzzz", &suggestion),
            "; allowed: every_updates, keep");
  EXPECT_EQ(suggestion, "");
  EXPECT_EQ(NearestKeyHint(std::string(5000, 'x') + ".y", nullptr), "");
}

}  // namespace
}  // namespace lzero::schema_test
