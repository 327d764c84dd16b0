#include "tools/verbs/support/usage_error.h"

#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::usage_error_test {
namespace {

using Words = std::vector<std::string>;

const VerbSyntax kProgram = {"", {"--help", "--version"}, {"train", "eval"}};
const VerbSyntax kTrain = {"train", {"--help", "--run-dir", "--dry-run"}, {}, true};
const VerbSyntax kCheck = {"envs check", {"--help", "--seed", "--steps"}, {}};
const VerbSyntax kEnvs = {"envs", {"--help"}, {"list", "check"}};

TEST(UsageErrorTest, AnUnknownVerbNamesTheNearest) {
  EXPECT_EQ(UnknownVerbText(kProgram, "trian"),
            "unknown verb 'trian'; did you mean 'train'?; the verbs are: train, eval");
  EXPECT_EQ(UnknownVerbText(kEnvs, "perft"),
            "unknown verb 'envs perft'; the verbs are: envs list, envs check");
}

TEST(UsageErrorTest, AnUnknownOptionNamesTheNearestOrAll) {
  EXPECT_EQ(UnexpectedWordText(kTrain, Words{"lzero", "train", "--run-dirr", "x"}, {"--run-dirr"}),
            "train: unknown option '--run-dirr'; did you mean '--run-dir'?");
  EXPECT_EQ(UnexpectedWordText(kTrain, Words{"lzero", "train", "--run_dir=x"}, {"--run_dir=x"}),
            "train: unknown option '--run_dir=x'; did you mean '--run-dir'?");
  EXPECT_EQ(UnexpectedWordText(kCheck, Words{"lzero", "envs", "check", "catch", "--fast", "3"},
                               {"3", "--fast"}),
            "envs check: unknown option '--fast'; allowed: --help, --seed, --steps");
}

TEST(UsageErrorTest, ASettingTypedAsAnOptionIsShownAsASetting) {
  const std::string begin = "; a setting of the config is given without dashes: ";
  EXPECT_EQ(UnexpectedWordText(kTrain, Words{"lzero", "train", "a.yaml", "--seed=3"}, {"--seed=3"}),
            "train: unknown option '--seed=3'" + begin + "seed=3");
  EXPECT_EQ(
      UnexpectedWordText(kTrain, Words{"lzero", "train", "a.yaml", "--seed", "3"}, {"--seed"}),
      "train: unknown option '--seed'" + begin + "seed=3");
  EXPECT_EQ(UnexpectedWordText(kTrain, Words{"lzero", "train", "a.yaml", "--seed"}, {"--seed"}),
            "train: unknown option '--seed'" + begin + "seed=VALUE");
}

TEST(UsageErrorTest, AnOptionOfAnotherProgramIsAnsweredInOurWords) {
  const auto hint = [](const char* option, const char* value) {
    const std::string text =
        UnexpectedWordText(kTrain, Words{"lzero", "train", option, value}, {option});
    return text.substr(text.find("; ") + 2);
  };
  const std::string begin = "a setting of the config is given without dashes: ";
  EXPECT_EQ(hint("--config", "x.yaml"), "the config follows the verb: train x.yaml");
  EXPECT_EQ(hint("--resume", "runs/x"), "that is a verb: resume runs/x");
  EXPECT_EQ(hint("--env", "catch"), begin + "env.id=catch");
  EXPECT_EQ(hint("--lr", "0.1"), begin + "train.learning_rate=0.1");
  EXPECT_EQ(hint("--batch-size", "8"), begin + "train.batch_size=8");
  EXPECT_EQ(hint("--inference.num_threads", "2"), begin + "inference.num_threads=2");
  EXPECT_EQ(hint("--wandb", ""),
            "every run writes metrics.jsonl and TensorBoard files into its folder, without a key");
}

TEST(UsageErrorTest, AVerbOfAnotherProgramIsAnsweredWithOurs) {
  EXPECT_EQ(UnknownVerbText(kProgram, "test"),
            "unknown verb 'test'; did you mean 'eval'?; the verbs are: train, eval");
  EXPECT_EQ(UnknownVerbText(kProgram, "run"),
            "unknown verb 'run'; did you mean 'train'?; the verbs are: train, eval");
  EXPECT_EQ(UnknownVerbText(kEnvs, "evaluate"),
            "unknown verb 'envs evaluate'; the verbs are: envs list, envs check");
}

TEST(UsageErrorTest, LongWordsAreCut) {
  const std::string word = "--" + std::string(100000, 'x');
  EXPECT_LT(UnknownVerbText(kProgram, word).size(), 200u);
  EXPECT_LT(UnexpectedWordText(kCheck, Words{"lzero", "envs", "check", word}, {word}).size(), 200u);
}

TEST(UsageErrorTest, AnOptionBeforeItsVerbIsTold) {
  EXPECT_EQ(UnexpectedWordText(kCheck, Words{"lzero", "envs", "--steps", "3", "check", "catch"},
                               {"3", "--steps"}),
            "envs check: option '--steps' stands before the verb that takes it");
}

TEST(UsageErrorTest, AWordTooManyIsNamed) {
  EXPECT_EQ(UnexpectedWordText(kCheck, Words{"lzero", "envs", "check", "catch", "foo", "bar"},
                               {"bar", "foo"}),
            "envs check: unexpected argument 'foo'");
}

TEST(UsageErrorTest, WhatIsMissingIsNamed) {
  EXPECT_EQ(ParseErrorText(kCheck, "RequiredError", "id is required", "lzero"),
            "envs check: id is needed; see: lzero envs check --help");
  EXPECT_EQ(ParseErrorText(kEnvs, "RequiredError", "A subcommand is required", "lzero"),
            "envs: a verb is needed; the verbs are: envs list, envs check");
  EXPECT_EQ(ParseErrorText(kProgram, "RequiredError", "A subcommand is required", "lzero"),
            "a verb is needed; the verbs are: train, eval");
  EXPECT_EQ(ParseErrorText(kTrain, "ArgumentMismatch", "--run-dir: 1 required TEXT missing", "run"),
            "train: --run-dir needs a value; see: run train --help");
}

TEST(UsageErrorTest, AValueThatCannotBeReadIsQuoted) {
  EXPECT_EQ(ParseErrorText(kCheck, "ConversionError", "Could not convert: --seed = a = b", "lzero"),
            "envs check: --seed: cannot read 'a = b'; see: lzero envs check --help");
  EXPECT_EQ(ParseErrorText(kCheck, "ValidationError", "--steps: got '0', allowed: 1", "lzero"),
            "envs check: --steps: got '0', allowed: 1");
}

TEST(UsageErrorTest, NumbersAreReadAsInConfigs) {
  for (const char* good : {"0", "7", "10", "-3"}) EXPECT_EQ(IntegerError(good, -3, 10), "");
  for (const char* bad : {"010", "0x8", "11", "-4", "", "8 ", "1e1", "99999999999999999999"}) {
    EXPECT_EQ(IntegerError(bad, -3, 10),
              "got '" + std::string(bad) + "', allowed: an integer from -3 to 10");
  }
  for (const char* good : {"0", "0.5", "1", "5e-1"}) EXPECT_EQ(NumberError(good, 0.0, 1.0), "");
  for (const char* bad : {"nan", "inf", "1.5", "-0.1", "0x1p-1", "half", "1e400"}) {
    EXPECT_EQ(NumberError(bad, 0.0, 1.0),
              "got '" + std::string(bad) + "', allowed: a number from 0 to 1");
  }
}

TEST(UsageErrorTest, ANumberWithoutBoundsIsFinite) {
  const double end = std::numeric_limits<double>::infinity();
  EXPECT_EQ(NumberError("-1e300", -end, end), "");
  EXPECT_EQ(NumberError("nan", -end, end), "got 'nan', allowed: a number");
  EXPECT_EQ(NumberError("inf", -end, end), "got 'inf', allowed: a number");
}

TEST(UsageErrorTest, SeedsHave64Bits) {
  for (const char* good : {"0", "42", "18446744073709551615"}) EXPECT_EQ(SeedError(good), "");
  for (const char* bad : {"18446744073709551616", "010", "-1", "00", "+1", "", "1.0"}) {
    EXPECT_EQ(SeedError(bad),
              "got '" + std::string(bad) + "', allowed: an integer from 0 to 18446744073709551615");
  }
}

}  // namespace
}  // namespace lzero::usage_error_test
