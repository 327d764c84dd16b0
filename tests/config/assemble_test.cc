#include "lzero/config/assemble.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/consistency.h"
#include "lzero/config/dump.h"

namespace lzero::assemble_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;

struct WrongInput {
  std::string text;                    // of the file f.yaml
  std::vector<std::string> overrides;  // of the command line
  std::string line;                    // the one line that is reported
};

absl::StatusOr<LoadedConfig> Assemble(const std::string& text,
                                      const std::vector<std::string>& overrides) {
  ConfigAssembler assembler;
  assembler.AddLayer("f.yaml", text);
  assembler.ApplyLayers();
  for (const std::string& assignment : overrides) assembler.ApplyOverride(assignment);
  // As the trainer does: a rule of the family on top.
  return assembler.Finish([](const ExperimentConfig& config) {
    const ModelConfig& model = config.model;
    std::vector<ConsistencyError> errors;
    Require(model.embed_dim % model.num_heads == 0, &errors, {"model.num_heads", "model.embed_dim"},
            absl::StrCat("must divide embed_dim; got num_heads ", model.num_heads, ", embed_dim ",
                         model.embed_dim));
    return errors;
  });
}

const std::vector<WrongInput> kWrongValues = {
    {"train: {batch_size: sixty}",
     {},
     "f.yaml:1:21: train.batch_size: not an integer; got 'sixty'; allowed: an integer from 1 to "
     "65536"},
    {"train:\n  batch_size: 0\n",
     {},
     "f.yaml:2:15: train.batch_size: out of range; got '0'; allowed: an integer from 1 to 65536"},
    {"train: {batch_size: -64}",
     {},
     "f.yaml:1:21: train.batch_size: out of range; got '-64'; allowed: an integer from 1 to "
     "65536"},
    {"train: {batch_size: 64.5}",
     {},
     "f.yaml:1:21: train.batch_size: not an integer; got '64.5'; allowed: an integer from 1 to "
     "65536"},
    {"train: {batch_size: 1e2}",
     {},
     "f.yaml:1:21: train.batch_size: not an integer; got '1e2'; allowed: an integer from 1 to "
     "65536; did you mean '100'?"},
    {"train: {batch_size: 010}",
     {},
     "f.yaml:1:21: train.batch_size: an integer with leading zeros; got '010'; allowed: an "
     "integer from 1 to 65536; did you mean '10'?"},
    {"train: {batch_size: '64'}",
     {},
     "f.yaml:1:21: train.batch_size: not an integer; got '64' in quotes; allowed: an integer "
     "from 1 to 65536"},
    {"train: {batch_size: 99999999999999999999}",
     {},
     "f.yaml:1:21: train.batch_size: too large for a 64-bit integer; got "
     "'99999999999999999999'; allowed: an integer from 1 to 65536"},
    {"train: {batch_size: }",
     {},
     "f.yaml:1:21: train.batch_size: a value is needed; got null; allowed: an integer from 1 to "
     "65536"},
    {"train: {batch_size: [64]}",
     {},
     "f.yaml:1:21: train.batch_size: a single value is needed; got a list"},
    {"train: {batch_size: {a: 64}}",
     {},
     "f.yaml:1:21: train.batch_size: a single value is needed; got a map"},
    {"train: {learning_rate: fast}",
     {},
     "f.yaml:1:24: train.learning_rate: not a number; got 'fast'; allowed: a number above 0 to "
     "10"},
    {"train: {learning_rate: 0}",
     {},
     "f.yaml:1:24: train.learning_rate: out of range; got '0'; allowed: a number above 0 to 10"},
    {"train: {learning_rate: .nan}",
     {},
     "f.yaml:1:24: train.learning_rate: not a number; got '.nan'; allowed: a number above 0 to "
     "10"},
    {"train: {learning_rate: 1e999}",
     {},
     "f.yaml:1:24: train.learning_rate: too large or too small for a 64-bit float; got '1e999'; "
     "allowed: a number above 0 to 10"},
    {"train: {beta1: 1}",
     {},
     "f.yaml:1:16: train.beta1: out of range; got '1'; allowed: a number from 0 to below 1"},
    {"replay: {discount: 1.01}",
     {},
     "f.yaml:1:20: replay.discount: out of range; got '1.01'; allowed: a number above 0 to 1"},
    {"search: {num_sampled_actions: 1}",
     {},
     "f.yaml:1:31: search.num_sampled_actions: out of range; got '1'; allowed: an integer from 2 "
     "to 100000, or null"},
    {"search: {root_noise_fraction: 25%}",
     {},
     "f.yaml:1:31: search.root_noise_fraction: not a number; got '25%'; allowed: a number from 0 "
     "to 1"},
    {"deterministic: off",
     {},
     "f.yaml:1:16: deterministic: not a truth value; got 'off'; allowed: true or false; did you "
     "mean 'false'?"},
    {"deterministic: 'true'",
     {},
     "f.yaml:1:16: deterministic: not a truth value; got 'true' in quotes; allowed: true or "
     "false"},
    {"replay: {prioritized: null}",
     {},
     "f.yaml:1:23: replay.prioritized: a value is needed; got null; allowed: true or false"},
    {"model: {value_support: {min:1}}",
     {},
     "f.yaml:1:30: model.value_support.min:1: an entry without a value; one is written NAME: "
     "VALUE, with a space"},
    {"search: {policy: gumble}",
     {},
     "f.yaml:1:18: search.policy: unknown choice; got 'gumble'; allowed: one of puct, gumbel; "
     "did "
     "you mean 'gumbel'?"},
    {"inference: {device: tpu}",
     {},
     "f.yaml:1:21: inference.device: unknown choice; got 'tpu'; allowed: one of cpu, cuda, "
     "cuda:N; did you mean 'cpu'?"},
    {"inference: {graphs: false}",
     {},
     "f.yaml:1:21: inference.graphs: unknown choice; got 'false'; allowed: one of required, "
     "preferred, off"},
    {"env: {id: ''}", {}, "f.yaml:1:11: env.id: empty; got ''; allowed: printable text"},
    {"env: {id: \"a\\x07\"}",
     {},
     "f.yaml:1:11: env.id: control characters or bytes that are not UTF-8; got 'a\\x07'; "
     "allowed: printable text"},
    {"stop: {target_return: high}",
     {},
     "f.yaml:1:23: stop.target_return: not a number; got 'high'; allowed: a number from "
     "-1000000000000 to 1000000000000, or null"},
    {"model: {head_dim: none}",
     {},
     "f.yaml:1:19: model.head_dim: not an integer; got 'none'; allowed: an integer from 1 to "
     "1048576, or null"},
    {"seed: -1",
     {},
     "f.yaml:1:7: seed: out of range; got '-1'; allowed: an integer from 0 to 9007199254740992"},
};

const std::vector<WrongInput> kWrongStructure = {
    {"train: {batch_sise: 64}",
     {},
     "f.yaml:1:9: train.batch_sise: unknown key; did you mean 'train.batch_size'?"},
    {"train: {embed_dim: 64}",
     {},
     "f.yaml:1:9: train.embed_dim: unknown key; did you mean 'model.embed_dim'?"},
    {"modle: {embed_dim: 64}", {}, "f.yaml:1:1: modle: unknown key; did you mean 'model'?"},
    {"batch_size: 64", {}, "f.yaml:1:1: batch_size: unknown key; did you mean 'train.batch_size'?"},
    {"checkpoint: {zzzzzzzzzzzz: 1}",
     {},
     "f.yaml:1:14: checkpoint.zzzzzzzzzzzz: unknown key; allowed: every_updates, keep"},
    {"train.batch_size: 64",
     {},
     "f.yaml:1:1: train.batch_size: unknown key; dotted keys are for the command line; allowed: "
     "train: {batch_size: value}"},
    {"seed: 1\nseed: 2\n", {}, "f.yaml:2:1: seed: duplicate key; first set at line 1, column 1"},
    {"train: {keep: 1}",
     {},
     "f.yaml:1:9: train.keep: unknown key; did you mean 'checkpoint.keep'?"},
    {"train: 64",
     {},
     "f.yaml:1:8: train: a section is a map of its keys; got '64'; allowed: train: {key: value}"},
    {"train: [1]",
     {},
     "f.yaml:1:8: train: a section is a map of its keys; got a list; allowed: train: {key: "
     "value}"},
    {"train:\nseed: 1\n",
     {},
     "f.yaml:1:1: train: a section is a map of its keys; got nothing; allowed: train: {key: "
     "value}"},
    {"train: {<<: {batch_size: 3}}",
     {},
     "f.yaml:1:9: train.<<: merge keys are not supported; use extends"},
    {"seed: !!int 3",
     {},
     "f.yaml:1:7: tags are not supported; got 'tag:yaml.org,2002:int'; allowed: the plain value"},
    {"", {}, "f.yaml:1:1: empty; allowed: sections and keys"},
    {"seed", {}, "f.yaml:1:1: not a map of sections and keys; got a single value"},
    {"seed: [", {}, "f.yaml:1:1: not valid YAML: end of sequence flow not found"},
    {"seed:\n\t- 1", {}, "f.yaml:2:1: a tab in the indentation; allowed: spaces"},
    {"seed: 1\n---\nseed: 2\n",
     {},
     "f.yaml:2:1: a second document begins here; allowed: one document a file"},
};

const std::vector<WrongInput> kWrongOverrides = {
    {"{}",
     {"train.batch_size=0"},
     "command line: train.batch_size=0: out of range; got '0'; allowed: an integer from 1 to "
     "65536"},
    {"{}",
     {"train.batch_size"},
     "command line: train.batch_size: not a setting; allowed: key.path=value"},
    {"{}", {"=5"}, "command line: =5: not a setting; allowed: key.path=value"},
    {"{}", {""}, "command line: : not a setting; allowed: key.path=value"},
    {"{}",
     {"train.batch_size="},
     "command line: train.batch_size=: not an integer; got ''; allowed: an integer from 1 to "
     "65536"},
    {"{}",
     {"trian.batch_size=3"},
     "command line: trian.batch_size=3: unknown key; did you mean 'train.batch_size'?"},
    {"{}",
     {"batch_size=3"},
     "command line: batch_size=3: unknown key; did you mean 'train.batch_size'?"},
    {"{}", {"train=3"}, "command line: train=3: a section has no value; allowed: train.key=value"},
    {"{}",
     {"extends=a.yaml"},
     "command line: extends=a.yaml: extends belongs in a file; allowed: key.path=value"},
    {"{}",
     {"seed=1", "seed=2"},
     "command line: seed=2: duplicate key; set twice on the command line"},
    {"{}",
     {"train.batch_size=null"},
     "command line: train.batch_size=null: a value is needed; got null; allowed: an integer from "
     "1 to 65536"},
    {"{}",
     {"deterministic=yes"},
     "command line: deterministic=yes: not a truth value; got 'yes'; allowed: true or false; did "
     "you mean 'true'?"},
    {"{}",
     {"env.id=\xff"},
     "command line: 'env.id=\\xff': control characters or bytes that are not UTF-8; got '\\xff'; "
     "allowed: printable text"},
    {"{}",
     {"seed=1 2"},
     "command line: seed=1 2: not an integer; got '1 2'; allowed: an integer from 0 to "
     "9007199254740992"},
};

void ExpectLines(const std::vector<WrongInput>& table) {
  for (const WrongInput& test : table) {
    const auto loaded = Assemble(test.text, test.overrides);
    ASSERT_FALSE(loaded.ok()) << test.line;
    EXPECT_TRUE(absl::IsInvalidArgument(loaded.status()));
    EXPECT_THAT(std::string(loaded.status().message()), Eq(test.line)) << test.text;
  }
}

TEST(Assemble, ReportsWrongValues) { ExpectLines(kWrongValues); }
TEST(Assemble, ReportsWrongStructure) { ExpectLines(kWrongStructure); }
TEST(Assemble, ReportsWrongOverrides) { ExpectLines(kWrongOverrides); }

TEST(Assemble, ReportsEverythingAtOnceInOrder) {
  const auto loaded = Assemble(
      "model: {embed_dim: 64, num_heads: 3}\n"
      "train:\n"
      "  batch_size: 0\n"
      "  batch_size: 64\n"
      "  learning_rate: off\n"
      "serch: {policy: puct}\n",
      {"seed=x", "replay.td_stesp=5"});
  ASSERT_FALSE(loaded.ok());
  const std::vector<std::string> lines = absl::StrSplit(loaded.status().message(), '\n');
  EXPECT_THAT(lines, ElementsAre(HasSubstr("f.yaml:3:15: train.batch_size: out of range"),
                                 HasSubstr("f.yaml:4:3: train.batch_size: duplicate key"),
                                 HasSubstr("f.yaml:5:18: train.learning_rate: not a number"),
                                 HasSubstr("f.yaml:6:1: serch: unknown key; did you mean 'search'"),
                                 HasSubstr("command line: seed=x: not an integer"),
                                 HasSubstr("command line: replay.td_stesp=5: unknown key"),
                                 HasSubstr("f.yaml:1:35: model.num_heads: must divide embed_dim")));
}

TEST(Assemble, BrokenRulesPointToTheKeyThatWasSetLast) {
  const auto by_file = Assemble("model: {embed_dim: 65}\n", {});
  EXPECT_THAT(std::string(by_file.status().message()),
              Eq("f.yaml:1:20: model.num_heads: must divide embed_dim; got num_heads 2, embed_dim "
                 "65"));
  const auto by_override = Assemble("model: {num_heads: 2}\n", {"model.embed_dim=65"});
  EXPECT_THAT(std::string(by_override.status().message()),
              Eq("command line: model.embed_dim=65: model.num_heads: must divide embed_dim; got "
                 "num_heads 2, embed_dim 65"));
}

TEST(Assemble, SilentAboutRulesWhoseKeysAreInDoubt) {
  // num_heads 3 does not divide the default 64, but another embed_dim was meant each time.
  for (const char* text :
       {"model: {num_heads: 3, embed_dim: x}", "model: {num_heads: 3, embd_dim: 6}",
        "model: {num_heads: 3, embed_dim: !!int 6}",
        "model: {num_heads: 3, embed_dim: &a 6, dropout: *b}"}) {
    const auto loaded = Assemble(text, {});
    ASSERT_FALSE(loaded.ok());
    EXPECT_THAT(std::string(loaded.status().message()), Not(HasSubstr("must divide"))) << text;
  }
}

// A setting that nothing reads is an error only when it was set after, or with, the choice that
// made it so.
TEST(Assemble, ReportsUnreadSettingsOnlyWhereTheyWereSetOnPurpose) {
  const auto problem = [](const std::string& top, const std::string& base,
                          const std::vector<std::string>& overrides) -> std::string {
    ConfigAssembler assembler;
    assembler.AddLayer("top.yaml", top);
    if (!base.empty()) assembler.AddLayer("base.yaml", base);
    assembler.ApplyLayers();
    for (const std::string& assignment : overrides) assembler.ApplyOverride(assignment);
    return std::string(assembler.Finish(UnreadSettings).status().message());
  };
  const std::string gumbel = "search: {policy: gumbel}", noise = "search: {root_noise_alpha: 1}";
  const std::string end =
      "search.root_noise_alpha: it has no effect with search.policy gumbel; "
      "got 1; allowed: 0.3, its default, or another search.policy";
  EXPECT_EQ(problem(noise, gumbel, {}), "top.yaml:1:28: " + end);
  EXPECT_EQ(problem(gumbel, noise, {}), "");
  EXPECT_EQ(problem("search: {policy: gumbel, root_noise_alpha: 1}", "", {}),
            "top.yaml:1:44: " + end);
  EXPECT_EQ(problem(gumbel, "", {"search.root_noise_alpha=1"}),
            "command line: search.root_noise_alpha=1" + end.substr(end.find(": ")));
  EXPECT_EQ(problem(noise, "", {"search.policy=gumbel"}), "");
  EXPECT_THAT(problem("seed: 1", "", {"search.policy=gumbel", "search.root_noise_alpha=1"}),
              HasSubstr(end.substr(end.find(": "))));
  EXPECT_EQ(problem(gumbel, "", {"search.root_noise_alpha=0.3"}), "") << "its default";
  // The choice is a default that nobody set.
  EXPECT_THAT(problem("search: {gumbel_scale: 2}", "", {}),
              HasSubstr("search.gumbel_scale: it has no effect with search.policy puct; got 2"));
  // What a run wrote names every field.
  ExperimentConfig run;
  run.search.policy = SearchPolicy::kGumbel;
  run.search.root_noise_alpha = 1;
  EXPECT_EQ(problem(ResolvedYaml(run), "", {}), "");
}

TEST(Assemble, LowerLayersComeFirstAndOverridesLast) {
  ConfigAssembler assembler;
  assembler.AddLayer("top.yaml",
                     "extends: x\nseed: 3\ntrain: {batch_size: 32}\nenv: {settings: {}}\n");
  EXPECT_EQ(assembler.LowestExtends(), "x");
  assembler.AddLayer("base.yaml",
                     "seed: 1\ntrain: {batch_size: 16, grad_clip: 2}\nenv: {settings: {a: 1}}\n");
  EXPECT_EQ(assembler.LowestExtends(), "");
  EXPECT_EQ(assembler.ChainText(), "top.yaml -> base.yaml");
  assembler.ApplyLayers();
  assembler.ApplyOverride("stop.max_updates=7");
  assembler.ApplyOverride("train.batch_size=8");
  const auto loaded = assembler.Finish();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(loaded->config.env.settings.empty());
  EXPECT_EQ(loaded->config.seed, 3);
  EXPECT_EQ(loaded->config.train.batch_size, 8);
  EXPECT_EQ(loaded->config.train.grad_clip, 2.0);
  EXPECT_EQ(loaded->config.stop.max_updates, 7);
  EXPECT_THAT(loaded->files, ElementsAre("top.yaml", "base.yaml"));
  EXPECT_EQ(loaded->set_at.at("seed"), "top.yaml:2:7");
  EXPECT_EQ(loaded->set_at.at("train.grad_clip"), "base.yaml:2:36");
  EXPECT_EQ(loaded->set_at.at("train.batch_size"), "command line");
  EXPECT_EQ(loaded->set_at.count("train.beta1"), 0u);
}

TEST(Assemble, AWrongValueIsReportedEvenWhenOverridden) {
  const auto loaded = Assemble("train: {batch_size: x}", {"train.batch_size=8"});
  EXPECT_THAT(std::string(loaded.status().message()), HasSubstr("f.yaml:1:21: train.batch_size"));
}

TEST(Assemble, CountsProblemsBeyondAHundred) {
  std::string text;
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&text, "key", i, ": 1\n");
  const auto loaded = Assemble(text, {});
  const std::vector<std::string> lines = absl::StrSplit(loaded.status().message(), '\n');
  EXPECT_EQ(lines.size(), 101u);
  EXPECT_EQ(lines.back(), "and 4900 more problems");
}

}  // namespace
}  // namespace lzero::assemble_test
