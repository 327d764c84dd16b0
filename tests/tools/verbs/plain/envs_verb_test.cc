#include "tools/verbs/plain/envs_verb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/register_all.h"
#include "lzero/base/files.h"
#include "lzero/env/check/trace.h"
#include "lzero/env/episode_env.h"

namespace lzero::envs_verb_test {
namespace {

class EnvsVerbTest : public testing::Test {
 protected:
  EnvsVerbTest() {
    RegisterAllEnvs(registry_);
    folder_ = absl::StrCat(testing::TempDir(), "/lzero_envs_verb_", getpid());
    EXPECT_TRUE(MakeDirectories(folder_).ok());
  }
  ~EnvsVerbTest() override { (void)RemoveTree(folder_); }

  std::string File(const std::string& name, const std::string& content) {
    const std::string path = JoinPath(folder_, name);
    EXPECT_TRUE(WriteFileAtomic(path, content).ok());
    return path;
  }
  // Both streams since the last call.
  std::string Out() { return std::exchange(out_, std::ostringstream()).str(); }
  std::string Err() { return std::exchange(err_, std::ostringstream()).str(); }

  int Rollout(const std::string& id, const std::string& actions, std::optional<int64_t> num_steps,
              const std::string& out_path = "", int64_t cap = 0, double openings = 0.0) {
    EnvsRolloutOptions options;
    options.target.id = id;
    options.target.options.max_episode_steps = cap;
    options.target.options.random_opening_fraction = openings;
    options.actions = actions;
    options.num_steps = num_steps;
    options.out_path = out_path;
    return EnvsRollout(registry_, options, console_);
  }

  int Replay(const std::string& id, const std::string& path, bool whole = false, int64_t cap = 0) {
    EnvsReplayOptions options;
    options.target.id = id;
    options.target.options.max_episode_steps = cap;
    options.trace_path = path;
    options.whole = whole;
    return EnvsReplay(registry_, options, console_);
  }

  static std::string Golden(const std::string& name) {
    return JoinPath(LZ_TEST_DATA "/golden/envs/classic", name);
  }

  // Environments of class E, made of `arguments`, under `id`.
  template <typename E, typename... Arguments>
  void Register(const std::string& id, Arguments... arguments) {
    using EnvOr = absl::StatusOr<std::unique_ptr<Env>>;
    const auto make = [=](const EnvOptions&) -> EnvOr { return std::make_unique<E>(arguments...); };
    registry_.Register({id, "for tests", make});
  }

  EnvRegistry registry_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_};
  std::string folder_;
};

TEST_F(EnvsVerbTest, ListNamesEveryEnvironment) {
  EnvRegistry two;
  for (const char* id : {"catch", "tictactoe"}) two.Register(**registry_.Find(id));
  EXPECT_EQ(EnvsList(two, console_), 0);
  EXPECT_EQ(Out(),
            "catch      a paddle under a falling ball, on a 10x5 board (bsuite)\n"
            "tictactoe  TicTacToe, two players, optional random openings\n");
}

TEST_F(EnvsVerbTest, InfoPrintsTheSpec) {
  EXPECT_EQ(EnvsInfo(registry_, {"tictactoe", {}}, console_), 0);
  EXPECT_EQ(Out(),
            "tictactoe: TicTacToe, two players, optional random openings\n"
            "observation    float32 {3, 3, 3}, bounds 0 .. 1\n"
            "actions        discrete, 0 .. 8\n"
            "players        2\n"
            "step cap       none\n"
            "longest        9 steps\n"
            "deterministic  yes\n"
            "saves          yes\n"
            "physics state  no\n"
            "symmetries     8\n"
            "exact grader   yes\n"
            "start with seed 0:\n...\n...\n...\n");
  EXPECT_EQ(EnvsInfo(registry_, {"cartpole", {200, 0.0, 6}}, console_), 0);
  EXPECT_NE(Out().find("step cap       200 steps\n"), std::string::npos);
}

TEST_F(EnvsVerbTest, AnUnknownIdIsUsage) {
  const std::string expected =
      absl::StrCat("error: ", registry_.Find("cartpol").status().message(), "\n");
  EXPECT_NE(expected.find("no environment 'cartpol'; did you mean 'cartpole'? (known: "),
            std::string::npos);
  const EnvsTarget target{"cartpol", {}};
  EXPECT_EQ(EnvsInfo(registry_, target, console_), 2);
  EXPECT_EQ(Err(), expected);
  EXPECT_EQ(EnvsCheck(registry_, {target}, console_), 2);
  EXPECT_EQ(Err(), expected);
  EXPECT_EQ(Rollout("cartpol", "random", 1), 2);
  EXPECT_EQ(Err(), expected);
  EXPECT_EQ(Replay("cartpol", "no file"), 2);
  EXPECT_EQ(Err(), expected);
  EXPECT_EQ(EnvsPerft(registry_, {target, 1}, console_), 2);
  EXPECT_EQ(Err(), expected);
  EXPECT_EQ(EnvsBench(registry_, {target}, console_), 2);
  EXPECT_EQ(Err(), expected);
  EXPECT_EQ(Out(), "");
}

TEST_F(EnvsVerbTest, AnOptionThatDoesNotFitIsUsage) {
  EXPECT_EQ(EnvsInfo(registry_, {"catch", {3, 0.0, 6}}, console_), 2);
  EXPECT_EQ(Err(),
            "error: max_episode_steps of 'catch' is 3; allowed: 0 or at least 9, since a game is "
            "over after at most 9 steps and is never cut short\n");
}

TEST_F(EnvsVerbTest, CheckPrintsEveryCheck) {
  for (const char* id : {"cartpole", "catch", "counting", "tictactoe"}) {
    EXPECT_EQ(EnvsCheck(registry_, {{id, {}}}, console_), 0);
    const std::string text = Out();
    EXPECT_NE(text.find("pass  mask_equals_accepted_actions\n"), std::string::npos) << text;
    EXPECT_NE(text.find(absl::StrCat(id, " conforms\n")), std::string::npos) << text;
    EXPECT_EQ(text.find("note"), std::string::npos) << text;
  }
  EXPECT_EQ(EnvsCheck(registry_, {{"catch", {}}, 0, 0}, console_), 2);
  EXPECT_EQ(Err(), "error: --steps is 0; allowed: 1 or more\n");
}

class Restless : public Env {
 public:
  Restless() {
    spec_.id = "restless";
    spec_.observation = {{1}, {0.0f}, {1.0f}};
    spec_.action.num_actions = 1;
  }
  const EnvSpec& spec() const override { return spec_; }
  TimeStep Reset(uint64_t) override { return Next(); }
  absl::StatusOr<TimeStep> Step(const Action&) override { return Next(); }

 private:
  TimeStep Next() {
    TimeStep step;
    step.observation = {7.0f};
    step.legal_action_mask = {1};
    return step;
  }
  EnvSpec spec_;
};

TEST_F(EnvsVerbTest, AFailedCheckIsExitOne) {
  Register<Restless>("restless");
  EXPECT_EQ(EnvsCheck(registry_, {{"restless", {}}, 0, 20}, console_), 1);
  const std::string text = Out();
  EXPECT_NE(text.find("FAIL  observation_in_space  seed 0, step 0: observation[0] is 7, outside "
                      "0 .. 1\n      hinders training: no, because the learner reads no bounds"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("6 checks failed; it may be trained; it does not end"), text.npos) << text;
}

// An episode of one step; says whether it saves, and has no SaveGame.
class Promising : public EpisodeEnv {
 public:
  Promising(const char* id, bool can_save) : EpisodeEnv(Spec(id, can_save)) {}

 protected:
  void StartGame(uint64_t) override {}
  Outcome Advance(const Action&) override { return {1.0f, true}; }
  void Observe(absl::Span<float> observation) const override { observation[0] = 0.0f; }

 private:
  static EnvSpec Spec(const char* id, bool can_save) {
    EnvSpec spec;
    spec.id = id;
    spec.observation = {{1}, {0.0f}, {1.0f}};
    spec.action.num_actions = 2;
    spec.can_save = can_save;
    return spec;
  }
};

TEST_F(EnvsVerbTest, CheckTellsWhetherAnEnvironmentSaves) {
  // A plugin need not draw itself.
  Register<Promising>("plugin:promising", "plugin:promising", true);
  Register<Promising>("plugin:honest", "plugin:honest", false);
  EXPECT_EQ(EnvsCheck(registry_, {{"plugin:promising", {}}, 0, 20}, console_), 1);
  EXPECT_NE(
      Out().find("FAIL  save_load_equal  'plugin:promising' says can_save and has no SaveGame\n"),
      std::string::npos);
  EXPECT_EQ(EnvsCheck(registry_, {{"plugin:honest", {}}, 0, 20}, console_), 0);
  EXPECT_NE(Out().find("note  cannot save: a resumed run starts the episodes"), std::string::npos);
}

TEST_F(EnvsVerbTest, CheckRefusesASpecWithAnotherId) {
  Register<Restless>("copied");
  EXPECT_EQ(EnvsCheck(registry_, {{"copied", {}}, 0, 20}, console_), 2);
  EXPECT_EQ(Err(),
            "error: environment 'copied': its spec() says id 'restless'; allowed: the id "
            "that it is registered under, 'copied'\n");
}

TEST_F(EnvsVerbTest, WhatRolloutWritesReplays) {
  const std::string path = JoinPath(folder_, "trace.jsonl");
  for (const char* id : {"cartpole", "catch", "counting", "tictactoe"}) {
    EXPECT_EQ(Rollout(id, "random", 200, path), 0);
    EXPECT_EQ(Out().rfind(absl::StrCat(id, ": 200 steps, "), 0), 0u);
    for (const bool whole : {false, true}) {
      EXPECT_EQ(Replay(id, path, whole), 0);
      EXPECT_NE(Out().find(": all equal\n"), std::string::npos);
    }
  }
  EXPECT_NE(ReadFile(path)->find("{\"type\":\"game\""), std::string::npos);
}

TEST_F(EnvsVerbTest, GamesThatBeginWithRandomMovesReplay) {
  const std::string path = JoinPath(folder_, "trace.jsonl");
  for (const double fraction : {1.0, 0.5}) {
    EXPECT_EQ(Rollout("tictactoe", "random", 200, path, 0, fraction), 0);
    Out();
    for (const bool whole : {false, true}) {
      EXPECT_EQ(Replay("tictactoe", path, whole), 0);
      const std::string text = Out();
      EXPECT_NE(text.find(" 0 games, 200 steps: all equal\n"), std::string::npos) << text;
    }
    const std::string meta = absl::StrCat("\"random_opening_fraction\":", ExactNumber(fraction),
                                          ",\"random_opening_plies\":6");
    EXPECT_NE(ReadFile(path)->find(meta), std::string::npos);
  }
  EnvsReplayOptions options;
  options.target = {"tictactoe", {0, 1.0, 6}};
  options.trace_path = path;
  EXPECT_EQ(EnvsReplay(registry_, options, console_), 2);
  EXPECT_EQ(Err(), absl::StrCat("error: ", path,
                                ": --random-openings is 1, the trace was recorded with 0.5; leave "
                                "it out: the trace decides\n"));
}

TEST_F(EnvsVerbTest, AFileOfActionsIsPlayedWhole) {
  std::string text;
  for (int i = 0; i < 1200; ++i) text += "1\n";
  const std::string actions = File("actions.txt", text);
  const std::string path = JoinPath(folder_, "trace.jsonl");
  EXPECT_EQ(Rollout("catch", actions, std::nullopt, path), 0);
  EXPECT_EQ(Out().rfind("catch: 1200 steps, ", 0), 0u);
  EXPECT_EQ(Err(), "");
  EXPECT_EQ(Rollout("catch", actions, 1100, path), 0);
  EXPECT_EQ(Out().rfind("catch: 1100 steps, ", 0), 0u);
  EXPECT_EQ(Err(),
            absl::StrCat("note: --steps 1100 plays the first of 1200 actions in ", actions, "\n"));
  EXPECT_EQ(Rollout("catch", "random", std::nullopt, path), 0);
  EXPECT_EQ(Out().rfind("catch: 1000 steps, ", 0), 0u);
}

TEST_F(EnvsVerbTest, ATraceOfAnotherEnvironmentIsNamed) {
  const std::string path = JoinPath(folder_, "trace.jsonl");
  EXPECT_EQ(Rollout("catch", "random", 20, path), 0);
  Out();
  EXPECT_EQ(Replay("counting", path), 2);
  EXPECT_EQ(Err(), absl::StrCat("error: ", path,
                                ": the trace is of environment 'catch', this is 'counting'\n"));
  EXPECT_EQ(Out(), "");
}

TEST_F(EnvsVerbTest, RolloutTakesAnActionFile) {
  const std::string actions = File("actions.txt", "0\n1\n2\n");
  EXPECT_EQ(Rollout("counting", actions, 2, "", 2), 0);
  EXPECT_EQ(Err(), absl::StrCat("note: --steps 2 plays the first of 3 actions in ", actions, "\n"));
  EXPECT_EQ(
      Out(),
      "{\"type\":\"meta\",\"env\":\"counting\",\"max_episode_steps\":2,\"action\":\"discrete\"}\n"
      "{\"type\":\"reset\",\"episode\":0,\"seed\":0,\"state\":null,"
      "\"obs\":[1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]}\n"
      "{\"type\":\"step\",\"t\":0,\"action\":0,"
      "\"obs\":[0.0,1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0],\"reward\":1.0,"
      "\"terminated\":false,\"truncated\":false,\"state\":null}\n"
      "{\"type\":\"step\",\"t\":1,\"action\":1,"
      "\"obs\":[0.0,0.0,1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0],\"reward\":1.0,"
      "\"terminated\":false,\"truncated\":true,\"state\":null}\n");
}

TEST_F(EnvsVerbTest, BadRolloutsAreUsage) {
  const auto error = [&](const std::string& actions, int64_t num_steps) {
    EXPECT_EQ(Rollout("counting", actions, num_steps), 2);
    EXPECT_EQ(Out(), "");
    return Err();
  };
  EXPECT_EQ(error("random", 0), "error: --steps is 0; allowed: 1 or more\n");
  const std::string missing = JoinPath(folder_, "missing.txt");
  EXPECT_EQ(error(missing, 5),
            absl::StrCat("error: cannot open ", missing, ": No such file or directory\n"));
  const std::string words = File("words.txt", "0\nleft\n");
  EXPECT_EQ(error(words, 5),
            absl::StrCat("error: ", words, ": line 2: 'left' is not an integer\n"));
  const std::string empty = File("empty.txt", "# nothing\n");
  EXPECT_EQ(error(empty, 5), absl::StrCat("error: ", empty, ": holds no action\n"));
  EXPECT_EQ(error(File("wide.txt", "0 3"), 5),
            "error: action number 2: action 3 is out of range; 'counting' takes 0 .. 2\n");
}

TEST_F(EnvsVerbTest, AnUnwritableTraceIsAFailureAndNoFolderAWrongCommand) {
  EXPECT_EQ(Rollout("catch", "random", 5, "/dev/full"), 1);
  EXPECT_EQ(Rollout("catch", "random", 5, JoinPath(folder_, "no/such/folder/trace.jsonl")), 2);
  EXPECT_NE(Err().find("no/such/folder/trace.jsonl: no folder"), std::string::npos);
}

TEST_F(EnvsVerbTest, GoldenTracesReplay) {
  EXPECT_EQ(Replay("cartpole", Golden("CartPole-v1.jsonl")), 0);
  EXPECT_EQ(
      Out(),
      "cartpole: 3 episodes (0 played whole, 3 step by step), 0 games, 83 steps: all equal\n");
  EXPECT_EQ(Replay("cartpole", Golden("CartPole-v1.jsonl"), true), 0);
  EXPECT_EQ(
      Out(),
      "cartpole: 3 episodes (3 played whole, 0 step by step), 0 games, 83 steps: all equal\n");
  // The cap comes from the trace; another one is refused.
  EXPECT_EQ(Replay("cartpole", Golden("cartpole_cap200.jsonl"), false, 200), 0);
}

TEST_F(EnvsVerbTest, ReplayPrintsTheFirstDifferenceOfEachEpisode) {
  std::string text = *ReadFile(Golden("CartPole-v1.jsonl"));
  const std::string from = "\"obs\":[-0.037144423,";
  text.replace(text.find(from), from.size(), "\"obs\":[-0.047144423,");
  const std::string path = File("changed.jsonl", text);
  EXPECT_EQ(Replay("cartpole", path), 1);
  EXPECT_EQ(
      Out(),
      absl::StrCat(path, ": the trace is of environment 'CartPole-v1', this is 'cartpole'\n", path,
                   ": line 3: episode 0 step 0: observation[0] is -0.037144423, "
                   "recorded -0.047144424\n"
                   "cartpole: 3 episodes (0 played whole, 3 step by step), 0 games, ",
                   "40 steps: 1 of 3 differ\n"));
}

TEST_F(EnvsVerbTest, BoardGamesReplay) {
  const std::string meta = "{\"type\":\"meta\",\"env\":\"tic_tac_toe\"}\n";
  const std::string game =
      "{\"type\":\"game\",\"moves\":[0,3,1,4,2],\"legal_counts\":[9,8,7,6,5],\"returns\":[1,-1]}\n";
  const std::string path = File("games.jsonl", meta + game);
  EXPECT_EQ(Replay("tictactoe", path), 0);
  EXPECT_EQ(Out(),
            "tictactoe: 0 episodes (0 played whole, 0 step by step), 1 games, 5 steps: all "
            "equal\n");
}

TEST_F(EnvsVerbTest, BadTracesAreUsage) {
  const auto error = [&](const std::string& path) {
    EXPECT_EQ(Replay("cartpole", path), 2);
    EXPECT_EQ(Out(), "");
    return Err();
  };
  const std::string missing = JoinPath(folder_, "missing.jsonl");
  EXPECT_EQ(error(missing),
            absl::StrCat("error: cannot open ", missing, ": No such file or directory\n"));
  const std::string broken = File("broken.jsonl", "{");
  EXPECT_EQ(error(broken),
            absl::StrCat("error: ", broken, ": line 1: broken JSON at byte 2, in '{'\n"));
  const std::string bare = File("bare.jsonl", "{\"type\":\"meta\",\"env\":\"x\"}\n");
  EXPECT_EQ(error(bare), absl::StrCat("error: ", bare, ": holds no episode and no game\n"));
  const std::string box = File("box.jsonl",
                               "{\"type\":\"meta\",\"env\":\"x\",\"action\":\"box\"}\n"
                               "{\"type\":\"reset\",\"episode\":0,\"seed\":0,\"obs\":[]}\n");
  EXPECT_EQ(error(box), absl::StrCat("error: ", box,
                                     ": the trace has box actions; 'cartpole' takes discrete "
                                     "ones\n"));
}

TEST_F(EnvsVerbTest, PerftPrintsEveryDepth) {
  EXPECT_EQ(EnvsPerft(registry_, {{"tictactoe", {}}, 3}, console_), 0);
  EXPECT_EQ(Out(), "depth 1: 9\ndepth 2: 72\ndepth 3: 504\n");
  EXPECT_EQ(EnvsPerft(registry_, {{"tictactoe", {}}, 0}, console_), 2);
  EXPECT_EQ(Err(), "error: perft depth is 0; it is 1 or more\n");
}

TEST_F(EnvsVerbTest, BenchPrintsASpeed) {
  EXPECT_EQ(EnvsBench(registry_, {{"catch", {}}, 0.01}, console_), 0);
  // Nine steps an episode; a slow machine sees 256 steps in 28 of them and a part of the 29th.
  EXPECT_THAT(Out(), testing::ContainsRegex("^catch: .* steps/s, .*, (8[.][89]|9[.]0) steps an "));
  EXPECT_EQ(EnvsBench(registry_, {{"catch", {}}, -1.0}, console_), 2);
  EXPECT_EQ(Err(), "error: --seconds is -1; allowed: above 0, up to 3600\n");
}

}  // namespace
}  // namespace lzero::envs_verb_test
