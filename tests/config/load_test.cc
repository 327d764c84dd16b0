#include "lzero/config/load.h"

#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/config/schema.h"
#include "lzero/config/yaml/yaml_tree.h"
#include "tests/config/config_test_tools.h"

namespace lzero::load_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;

// The message with the scratch folder's path taken out.
std::string MessageOf(const absl::Status& status, const ScratchFolder& folder) {
  return absl::StrReplaceAll(status.message(), {{folder.path(""), ""}});
}

TEST(LoadConfig, FollowsTheChainRelativeToEachFile) {
  const ScratchFolder folder;
  folder.Write("base/root.yaml", "seed: 1\ntrain: {batch_size: 16, grad_clip: 2}\n");
  folder.Write("base/middle.yaml", "extends: root.yaml\ntrain: {batch_size: 32}\n");
  const std::string top =
      folder.Write("deep/er/top.yaml", "extends: ../../base/middle.yaml\nseed: 7\n");
  const auto loaded = LoadConfig(top, std::vector<std::string>{"env.id=catch"});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.seed, 7);
  EXPECT_EQ(loaded->config.train.batch_size, 32);
  EXPECT_EQ(loaded->config.train.grad_clip, 2.0);
  EXPECT_EQ(loaded->config.env.id, "catch");
  EXPECT_THAT(loaded->files,
              ElementsAre(top, folder.path("base/middle.yaml"), folder.path("base/root.yaml")));
}

TEST(LoadConfig, AbsoluteExtends) {
  const ScratchFolder folder;
  const std::string base = folder.Write("a/base.yaml", "seed: 5\n");
  const std::string top = folder.Write("b/top.yaml", absl::StrCat("extends: ", base, "\n"));
  const auto loaded = LoadConfig(top, {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->config.seed, 5);
}

TEST(LoadConfig, PluginsStartAtTheFileThatNamesThem) {
  const ScratchFolder folder;
  folder.Write("base/root.yaml",
               "{plugins: [liba.so, ../x/libb.so, /y/libc.so], env: {python_path: [../m]}}\n");
  const std::string top = folder.Write("deep/top.yaml", "extends: ../base/root.yaml\n");
  const auto loaded = LoadConfig(top, {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(loaded->config.plugins,
              ElementsAre(folder.path("base/liba.so"), folder.path("x/libb.so"), "/y/libc.so"));
  EXPECT_THAT(loaded->config.env.python_path, ElementsAre(folder.path("m")));
  const auto typed = LoadConfig(top, std::vector<std::string>{"plugins=[z/libd.so]"});
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_THAT(typed->config.plugins, ElementsAre("z/libd.so"));
}

TEST(LoadConfig, ReportsTheProblemsOfAllFiles) {
  const ScratchFolder folder;
  folder.Write("base.yaml", "seed: x\ntrain: {batch_size: 0}\n");
  const std::string top = folder.Write("top.yaml", "extends: base.yaml\nsede: 1\n");
  const auto loaded = LoadConfig(top, std::vector<std::string>{"stop.patience=0"});
  EXPECT_THAT(MessageOf(loaded.status(), folder),
              Eq("top.yaml:2:1: sede: unknown key; did you mean 'seed'?\n"
                 "base.yaml:1:7: seed: not an integer; got 'x'; allowed: an integer from 0 to "
                 "9007199254740992\n"
                 "base.yaml:2:21: train.batch_size: out of range; got '0'; allowed: an integer "
                 "from 1 to 65536\n"
                 "command line: stop.patience=0: out of range; got '0'; allowed: an integer from 1 "
                 "to 1000000"));
}

TEST(LoadConfig, NamesACycle) {
  const ScratchFolder folder;
  folder.Write("a.yaml", "extends: b.yaml\n");
  folder.Write("b.yaml", "seed: 1\nextends: ./sub/../c.yaml\n");
  folder.Write("sub/x.yaml", "seed: 1\n");
  folder.Write("c.yaml", "extends: a.yaml\n");
  EXPECT_THAT(MessageOf(LoadConfig(folder.path("a.yaml"), {}).status(), folder),
              Eq("c.yaml:1:10: extends: the files extend each other in a cycle; chain: a.yaml -> "
                 "b.yaml -> c.yaml -> a.yaml"));
  const std::string self = folder.Write("self.yaml", "extends: self.yaml\n");
  EXPECT_THAT(
      MessageOf(LoadConfig(self, {}).status(), folder),
      Eq("self.yaml:1:10: extends: the files extend each other in a cycle; chain: self.yaml "
         "-> self.yaml"));
}

TEST(LoadConfig, NamesACycleThroughALink) {
  const ScratchFolder folder;
  folder.Write("a.yaml", "extends: link.yaml\n");
  std::filesystem::create_symlink("a.yaml", folder.path("link.yaml"));
  EXPECT_THAT(MessageOf(LoadConfig(folder.path("a.yaml"), {}).status(), folder),
              HasSubstr("cycle; chain: a.yaml -> link.yaml"));
}

TEST(LoadConfig, LimitsTheLengthOfTheChain) {
  const ScratchFolder folder;
  for (int i = 0; i < 40; ++i) {
    folder.Write(absl::StrCat(i, ".yaml"), absl::StrCat("extends: ", i + 1, ".yaml\n"));
  }
  EXPECT_THAT(MessageOf(LoadConfig(folder.path("0.yaml"), {}).status(), folder),
              HasSubstr("31.yaml:1:10: extends: too many files extend each other; allowed: 32; "
                        "chain: 0.yaml -> 1.yaml"));
}

TEST(LoadConfig, NamesFilesThatCannotBeRead) {
  const ScratchFolder folder;
  folder.Write("base.yaml", "seed: 1\n");
  const std::string top = folder.Write("top.yaml", "seed: x\nextends: bsae.yaml\n");
  EXPECT_THAT(MessageOf(LoadConfig(top, {}).status(), folder),
              Eq("top.yaml:1:7: seed: not an integer; got 'x'; allowed: an integer from 0 to "
                 "9007199254740992\n"
                 "top.yaml:2:10: extends: bsae.yaml: no such file; did you mean 'base.yaml'?; "
                 "chain: top.yaml -> bsae.yaml"));
  EXPECT_THAT(MessageOf(LoadConfig(folder.path("topp.yaml"), {}).status(), folder),
              Eq("topp.yaml: no such file; did you mean 'top.yaml'?"));
  EXPECT_THAT(MessageOf(LoadConfig(folder.path("no/such/folder.yaml"), {}).status(), folder),
              Eq("no/such/folder.yaml: no such file"));
  std::filesystem::create_directory(folder.path("folder"));
  EXPECT_THAT(MessageOf(LoadConfig(folder.path("folder"), {}).status(), folder),
              Eq("folder: a folder; allowed: a YAML file"));
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(MessageOf(LoadConfig(folder.path("pipe"), {}).status(), folder),
              Eq("pipe: not a regular file"));
  folder.Write("huge.yaml", std::string(kMaxConfigBytes + 1, ' '));
  EXPECT_THAT(MessageOf(LoadConfig(folder.path("huge.yaml"), {}).status(), folder),
              Eq("huge.yaml: too large for a config; got 1048577 bytes; allowed: 1048576"));
  EXPECT_FALSE(LoadConfig("", {}).ok());
}

TEST(LoadConfig, RefusesExtendsThatIsNoFileName) {
  const ScratchFolder folder;
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"extends: [a, b]\n", "c.yaml:1:10: extends: not a file name; got a list"},
      {"extends: {a: b}\n", "c.yaml:1:10: extends: not a file name; got a map"},
      {"extends:\n", "c.yaml:1:1: extends: not a file name; got nothing"},
      {"extends: ''\n", "c.yaml:1:10: extends: not a file name; got ''"},
      {"extends: \"a\\x00\"\n", "c.yaml:1:10: extends: not a file name; got 'a\\x00'"},
      {"extends: .\n", "c.yaml:1:10: extends: "},
      {"extends: a\nextends: b\n", "c.yaml:2:1: extends: duplicate key"},
  };
  for (const auto& test : cases) {
    const auto loaded = LoadConfig(folder.Write("c.yaml", test.text), {});
    ASSERT_FALSE(loaded.ok()) << test.text;
    EXPECT_THAT(MessageOf(loaded.status(), folder), HasSubstr(test.message)) << test.text;
  }
}

TEST(LoadConfigText, MayNotExtend) {
  const auto loaded = LoadConfigText("extends: a.yaml\n", "text", {});
  EXPECT_EQ(std::string(loaded.status().message()),
            "text:1:10: extends: this text may not extend a file; allowed: the keys themselves");
}

TEST(ParseResolvedConfig, KeepsDefaultsOfMissingKeys) {
  const auto config = ParseResolvedConfig("seed: 4\n", "resolved");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->seed, 4);
  EXPECT_EQ(config->train.batch_size, 64);
  EXPECT_EQ(std::string(ParseResolvedConfig("sed: 4\n", "resolved").status().message()),
            "resolved:1:1: sed: unknown key; did you mean 'seed'?");
}

std::string ConfigsFolder() { return std::string(LZ_TEST_DATA) + "/../configs"; }

TEST(Configs, EveryFileLoads) {
  int num_files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ConfigsFolder())) {
    if (!entry.is_regular_file() || entry.path().extension() == ".md") continue;
    EXPECT_EQ(entry.path().extension(), ".yaml");
    const auto loaded = LoadConfig(entry.path().string(), {});
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    ++num_files;
  }
  EXPECT_GE(num_files, 7);
}

TEST(Configs, TheBaseSaysEveryKeyAndItsDefault) {
  const auto loaded = LoadConfig(ConfigsFolder() + "/base/unizero.yaml", {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ExperimentConfig defaults;
  for (const ConfigField& field : FieldsOf(defaults)) {
    EXPECT_EQ(loaded->set_at.count(field.path), 1u) << field.path;
  }
  EXPECT_EQ(RawValues(loaded->config), RawValues(ExperimentConfig()));
}

TEST(Configs, SayWhatTheirNamesPromise) {
  const auto load = [](const char* name) {
    const auto loaded = LoadConfig(ConfigsFolder() + "/" + name, {});
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded.ok() ? loaded->config : ExperimentConfig();
  };
  const ExperimentConfig puct = load("classic/cartpole_unizero.yaml");
  EXPECT_EQ(puct.env.max_episode_steps, 200);
  EXPECT_EQ(puct.search.num_simulations, 25);
  EXPECT_EQ(puct.stop.target_return, 195.0);
  const ExperimentConfig gumbel = load("classic/cartpole_unizero_gumbel.yaml");
  EXPECT_EQ(gumbel.search.policy, SearchPolicy::kGumbel);
  EXPECT_EQ(gumbel.search.num_simulations, 16);
  EXPECT_EQ(gumbel.search.q_transform, QTransform::kTreeMinMax);
  EXPECT_EQ(load("classic/cartpole500_unizero.yaml").env.max_episode_steps, 500);
  EXPECT_EQ(load("teaching/counting_unizero.yaml").env.id, "counting");
  EXPECT_EQ(load("teaching/catch_unizero.yaml").model.encoder, EncoderKind::kBoard);
  const ExperimentConfig boards = load("boards/tictactoe_unizero.yaml");
  EXPECT_EQ(boards.replay.num_unroll_steps, 3);
  EXPECT_EQ(boards.replay.td_steps, 10);
  EXPECT_EQ(boards.replay.discount, 1.0);
  EXPECT_EQ(boards.env.random_opening_fraction, 1.0);
}

}  // namespace
}  // namespace lzero::load_test
