#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "envs/register_all.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/env/env_rules.h"
#include "nlohmann/json.hpp"
#include "tools/verbs/plain/plain_verbs.h"

namespace lzero::config_verb_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Output {
  int code = 0;
  std::string out;
  std::string err;
};

template <typename Verb>
Output RunVerb(const Verb& verb) {
  Output output;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  output.code = verb();
  output.out = ::testing::internal::GetCapturedStdout();
  output.err = ::testing::internal::GetCapturedStderr();
  return output;
}

class ConfigVerbTest : public ::testing::Test {
 protected:
  ConfigVerbTest() {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::path(::testing::TempDir()) / (std::string("config_verb_") + test->name());
    std::filesystem::create_directories(folder_);
    RegisterAllEnvs(registry_);
    good_ = Write("good.yaml", "seed: 3\ntrain: {batch_size: 32}\n");
    bad_ = Write("bad.yaml", "seed: x\ntrain: {batch_sise: 32}\n");
  }
  ~ConfigVerbTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
    return (folder_ / name).string();
  }

  EnvRegistry registry_;
  std::filesystem::path folder_;
  std::string good_;
  std::string bad_;
};

TEST_F(ConfigVerbTest, ShowPrintsTheResolvedConfig) {
  const Output output = RunVerb(
      [&] { return ConfigShow(good_, std::vector<std::string>{"train.batch_size=16"}, false); });
  EXPECT_EQ(output.code, 0);
  EXPECT_THAT(output.out, HasSubstr("\ntrain:\n  batch_size: 16\n"));
  EXPECT_THAT(output.out, HasSubstr("\nseed: 3\n"));
  EXPECT_EQ(output.err, "");
}

TEST_F(ConfigVerbTest, ShowPrintsTheSameAsJson) {
  const Output output = RunVerb([&] {
    return ConfigShow(good_, std::vector<std::string>{"env.settings.rows=6", "plugins=[a, b]"},
                      true);
  });
  EXPECT_EQ(output.code, 0);
  const auto json = nlohmann::json::parse(output.out);
  EXPECT_EQ(json["seed"], 3);
  EXPECT_EQ(json["plugins"], nlohmann::json({"a", "b"}));
  EXPECT_EQ(json["env"]["settings"], nlohmann::json({{"rows", "6"}}));
  EXPECT_EQ(json["search"]["policy"], "puct");
  EXPECT_EQ(json["stop"]["target_return"], nullptr);
  EXPECT_EQ(json["deterministic"], false);
}

TEST_F(ConfigVerbTest, TasksAreAListOfWholeConfigs) {
  const std::string path =
      Write("tasks.yaml", "seed: 4\ntasks: [{name: a, train: {batch_size: 8}}, {name: b}]\n");
  const Output output = RunVerb([&] { return ConfigShow(path, {}, true); });
  const auto json = nlohmann::json::parse(output.out);
  ASSERT_EQ(json["tasks"].size(), 2u);
  EXPECT_EQ(json["tasks"][0]["name"], "a");
  EXPECT_EQ(json["tasks"][0]["train"]["batch_size"], 8);
  EXPECT_EQ(json["tasks"][1]["seed"], 4);
}

TEST_F(ConfigVerbTest, ShowPrintsAllProblemsToStderr) {
  const Output output = RunVerb([&] { return ConfigShow(bad_, {}, false); });
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr("bad.yaml:1:7: seed: not an integer; got 'x'"));
  EXPECT_THAT(output.err, HasSubstr("bad.yaml:2:9: train.batch_sise: unknown key"));
}

TEST_F(ConfigVerbTest, ExplainPrintsOrNamesTheNearest) {
  const Output known = RunVerb([&] { return ConfigExplain({"train.batch_size"}); });
  EXPECT_EQ(known.code, 0);
  EXPECT_THAT(known.out, StartsWith("train.batch_size\n"));
  const Output unknown = RunVerb([&] { return ConfigExplain({"train.batch_sise"}); });
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'train.batch_size'?"));
}

TEST_F(ConfigVerbTest, ExplainTakesSeveralWords) {
  const Output output = RunVerb([&] { return ConfigExplain({"seed", "nonsense word", "lr"}); });
  EXPECT_EQ(output.code, 2);
  EXPECT_THAT(output.out, StartsWith("seed\n"));
  EXPECT_THAT(output.out, HasSubstr("\n\nlr: here train.learning_rate\n"));
  EXPECT_THAT(output.err, HasSubstr("got 'nonsense word'"));
}

TEST_F(ConfigVerbTest, ExplainTellsWhatEveryRunnerDoes) {
  const Output output = RunVerb([&] { return ConfigExplain({"inference.runner"}); });
  const std::string help = output.out.substr(0, output.out.find("allowed:"));
  for (const char* runner : {"packed ", "eager ", "cuda_graph ", "cuda_search_graph ", "auto:"}) {
    EXPECT_THAT(help, HasSubstr(runner));
  }
}

TEST_F(ConfigVerbTest, ValidateLooksAtEveryFile) {
  const Output output = RunVerb([&] {
    return ConfigValidate(std::vector<std::string>{bad_, good_}, EnvRule(registry_));
  });
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.out, good_ + ": ok\n");
  EXPECT_THAT(output.err, HasSubstr("bad.yaml:1:7: seed"));
  const Output good =
      RunVerb([&] { return ConfigValidate(std::vector<std::string>{good_}, EnvRule(registry_)); });
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(good.err, "");
  const Output none = RunVerb([&] { return ConfigValidate({}, EnvRule(registry_)); });
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.err, "error: no config given; allowed: one or more files\n");
}

TEST_F(ConfigVerbTest, ValidateKnowsTheEnvironments) {
  const std::string path = Write("env.yaml", "env: {id: cartpol}\nmodel: {support_size: 8}\n");
  const Output output =
      RunVerb([&] { return ConfigValidate(std::vector<std::string>{path}, EnvRule(registry_)); });
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr("env.yaml:2:23: model.support_size: must be odd"));
  EXPECT_THAT(output.err, HasSubstr("env.yaml:1:11: env.id: no environment 'cartpol'; did you "
                                    "mean 'cartpole'?"));
}

TEST_F(ConfigVerbTest, DiffPrintsWhatDiffers) {
  const std::string other = Write("other.yaml", "seed: 4\ntrain: {batch_size: 32}\n");
  const Output output = RunVerb([&] { return ConfigDiff(good_, other); });
  EXPECT_EQ(output.code, 0);
  EXPECT_EQ(output.out, "seed: 3 -> 4\n");
  const Output same = RunVerb([&] { return ConfigDiff(good_, good_); });
  EXPECT_EQ(same.code, 0);
  EXPECT_EQ(same.out, "");
  const Output broken = RunVerb([&] { return ConfigDiff(bad_, other); });
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, HasSubstr("bad.yaml:1:7"));
}

}  // namespace
}  // namespace lzero::config_verb_test
