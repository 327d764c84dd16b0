#include "lzero/env/check/trace.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"

namespace lzero::trace_test {
namespace {

constexpr char kMeta[] = R"({"type":"meta","env":"toy","max_episode_steps":5,"action":"discrete"})";
constexpr char kReset[] = R"({"type":"reset","episode":0,"seed":7,"state":[0.5],"obs":[0.5]})";
constexpr char kStep[] =
    R"({"type":"step","t":0,"action":1,"obs":[1.5],"reward":1.0,"terminated":false,"truncated":false,"state":[1.5]})";

std::string Lines(std::initializer_list<absl::string_view> lines) {
  std::string text;
  for (const absl::string_view line : lines) absl::StrAppend(&text, line, "\n");
  return text;
}

std::string ErrorOf(const std::string& text) {
  const absl::Status status = ParseTrace(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(TraceTest, NumbersReadBackExactly) {
  EXPECT_EQ(ExactNumber(1.0), "1.0");
  EXPECT_EQ(ExactNumber(-0.0), "-0.0");
  EXPECT_EQ(ExactNumber(0.1), "0.1");
  EXPECT_EQ(ExactNumber(0.1f), "0.1");
  EXPECT_EQ(ExactNumber(1e300), "1e+300");
  // Its shortest text, 3.4028235e+38, is above the largest float when read as a double.
  EXPECT_EQ(ExactNumber(std::numeric_limits<float>::max()), "3.4028234663852886e+38");
  EXPECT_EQ(ExactNumber(-0.03714297972308004), "-0.03714297972308004");
  uint64_t bits = 0x9e3779b97f4a7c15u;
  for (int i = 0; i < 2000; ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    double value = 0.0;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(std::strtod(ExactNumber(value).c_str(), nullptr), value);
    const float narrow =
        std::ldexp(static_cast<float>(bits >> 40), static_cast<int>(bits % 60) - 40);
    EXPECT_EQ(std::strtof(ExactNumber(narrow).c_str(), nullptr), narrow);
  }
}

TEST(TraceTest, ReadsWhatTheReferenceRecorded) {
  const auto trace = ParseTrace(*ReadFile(LZ_TEST_DATA "/golden/envs/classic/CartPole-v1.jsonl"));
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->meta.env, "CartPole-v1");
  EXPECT_EQ(trace->meta.max_episode_steps, 500);
  ASSERT_EQ(trace->episodes.size(), 3u);
  EXPECT_EQ(trace->episodes[1].seed, 12u);
  EXPECT_EQ(trace->episodes[0].state->at(1), -7.221375598850249e-05);
  EXPECT_EQ(trace->episodes[0].observation[3], -0.0471311f);
  const TraceStep& step = trace->episodes[0].steps[1];
  EXPECT_EQ(step.action.index, 0);
  EXPECT_EQ(step.observation[1], -0.0003490236f);
  EXPECT_EQ(step.reward, 1.0);
  EXPECT_EQ(step.line, 4);
  EXPECT_TRUE(trace->episodes[2].steps.back().terminated);
}

TEST(TraceTest, RandomOpeningsAreRead) {
  const TraceMeta meta =
      ParseTrace(TraceMetaLine({"board", 0, ActionKind::kDiscrete, 0.25, 3}))->meta;
  EXPECT_EQ(meta.random_opening_fraction, 0.25);
  EXPECT_EQ(meta.random_opening_plies, 3);
  EXPECT_EQ(ErrorOf(R"({"type":"meta","env":"x","random_opening_fraction":"often"})"),
            "line 1: random_opening_fraction is \"often\"; allowed: a number");
  EXPECT_EQ(ErrorOf(R"({"type":"meta","env":"x","random_opening_fraction":0.5})"),
            "line 1: random_opening_plies is missing; allowed: a whole number of 0 or more");
}

TEST(TraceTest, SettingsAndChanceAreRead) {
  const auto meta =
      ParseTrace(R"({"type":"meta","env":"x","settings":{"komi":7.5,"a":"b","n":9}})");
  EXPECT_EQ(meta->meta.settings, (EnvSettingTexts{{"a", "b"}, {"komi", "7.5"}, {"n", "9"}}));
  EXPECT_EQ(ErrorOf(R"({"type":"meta","env":"x","settings":[1]})"),
            "line 1: settings is [1]; allowed: an object");
  EXPECT_EQ(ErrorOf(R"({"type":"meta","env":"x","settings":{"a":[1]}})"),
            "line 1: settings.a is [1]; allowed: a single value");
  std::string step = kStep;
  step.replace(step.rfind('}'), 1, ",\"chance\":12}");
  EXPECT_EQ(ParseTrace(Lines({kMeta, kReset, step}))->episodes[0].steps[0].chance_outcome, 12);
  step.replace(step.rfind("12"), 2, "-1");
  EXPECT_EQ(ErrorOf(Lines({kMeta, kReset, step})),
            "line 3: chance is -1; allowed: a whole number, 0 to 2147483647, or null");
}

TEST(TraceTest, WritesTheLinesOfTheDesignPage) {
  EXPECT_EQ(TraceMetaLine({"a\"b", 9, ActionKind::kBox}),
            "{\"type\":\"meta\",\"env\":\"a\\\"b\",\"max_episode_steps\":9,\"action\":\"box\"}\n");
  EXPECT_EQ(
      TraceMetaLine({"board", 0, ActionKind::kDiscrete, 0.25, 3}),
      "{\"type\":\"meta\",\"env\":\"board\",\"max_episode_steps\":0,"
      "\"random_opening_fraction\":0.25,\"random_opening_plies\":3,\"action\":\"discrete\"}\n");
  TraceMeta sized = {"go", 0, ActionKind::kDiscrete};
  sized.settings = {{"board_size", "5"}, {"superko", "positional"}};
  EXPECT_EQ(TraceMetaLine(sized),
            "{\"type\":\"meta\",\"env\":\"go\",\"max_episode_steps\":0,\"settings\":"
            "{\"board_size\":\"5\",\"superko\":\"positional\"},\"action\":\"discrete\"}\n");
  TraceEpisode episode;
  episode.episode = 2;
  episode.seed = 18446744073709551615u;
  episode.observation = {0.1f, 2.0f};
  EXPECT_EQ(TraceResetLine(episode),
            "{\"type\":\"reset\",\"episode\":2,\"seed\":18446744073709551615,\"state\":null,"
            "\"obs\":[0.1,2.0]}\n");
  TraceStep step;
  step.action = {0, {0.5f}};
  step.observation = {-1.0f};
  step.reward = -0.25;
  step.truncated = true;
  step.state = {{0.1}};
  EXPECT_EQ(TraceStepLine(4, step, ActionKind::kBox),
            "{\"type\":\"step\",\"t\":4,\"action\":[0.5],\"obs\":[-1.0],\"reward\":-0.25,"
            "\"terminated\":false,\"truncated\":true,\"state\":[0.1]}\n");
  step.chance_outcome = 31;
  EXPECT_THAT(TraceStepLine(4, step, ActionKind::kBox),
              testing::EndsWith("[0.1],\"chance\":31}\n"));
  EXPECT_EQ(TraceGameLine({{4, 0}, {9, 8}, {1, -1}, 0}),
            "{\"type\":\"game\",\"moves\":[4,0],\"legal_counts\":[9,8],\"returns\":[1.0,-1.0]}\n");
  const TraceGame with_sets = {{4, 0}, {2, 1}, {}, 0, {{0, 4}, {4}}};
  const std::string line =
      "{\"type\":\"game\",\"moves\":[4,0],\"legal_counts\":[2,1],\"legal_changes\":[[0,4],[4]],"
      "\"returns\":null}\n";
  EXPECT_EQ(TraceGameLine(with_sets), line);
  const auto read = ParseTrace(absl::StrCat(kMeta, "\n", line));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->games[0].legal_changes, with_sets.legal_changes);
  EXPECT_EQ(TraceGameLine({{}, {}, {}, 0}),
            "{\"type\":\"game\",\"moves\":[],\"legal_counts\":[],\"returns\":null}\n");
}

TEST(TraceTest, WhatIsWrittenReadsBackTheSame) {
  const std::string text =
      Lines({kMeta, kReset, kStep, R"({"type":"reset","episode":1,"seed":8,"state":null,"obs":[]})",
             R"({"type":"game","moves":[0],"legal_counts":[2],"returns":[0.5,-0.5]})"});
  const auto trace = ParseTrace(text);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(TraceText(*trace), text);
}

TEST(TraceTest, TheLargestFloatIsReadAsNumPyPrintsIt) {
  const auto trace = ParseTrace(Lines(
      {kMeta, R"({"type":"reset","episode":0,"seed":7,"obs":[3.4028235e38,-3.4028235e38]})"}));
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->episodes[0].observation[0], std::numeric_limits<float>::max());
  EXPECT_EQ(trace->episodes[0].observation[1], -std::numeric_limits<float>::max());
}

TEST(TraceTest, BlankLinesAndUnknownKeysAreSkipped) {
  const auto trace =
      ParseTrace(Lines({"", R"({"type":"meta","env":"toy","gymnasium":"1.4.0"})", "  \r",
                        R"({"type":"reset","episode":0,"seed":7,"policy":"random","obs":[1]})"}));
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->meta.max_episode_steps, 0);
  EXPECT_FALSE(trace->episodes[0].state.has_value());
}

TEST(TraceTest, BrokenFilesNameTheLine) {
  EXPECT_EQ(ErrorOf(""), "the trace is empty; no meta line");
  EXPECT_EQ(ErrorOf(Lines({kMeta, "{\"type\""})), "line 2: broken JSON at byte 8, in '{\"type\"'");
  EXPECT_EQ(ErrorOf("[1]"), "line 1: the document is [1]; allowed: an object");
  EXPECT_EQ(ErrorOf(kReset), "line 1: type is \"reset\"; allowed: \"meta\" in the first line");
  EXPECT_EQ(ErrorOf(Lines({kMeta, kMeta})), "line 2: a second meta line");
  EXPECT_EQ(ErrorOf("{}"), "line 1: type is missing; allowed: a text");
  EXPECT_EQ(ErrorOf(Lines({kMeta, R"({"type":"stop"})"})),
            "line 2: type is \"stop\"; allowed: \"meta\", \"reset\", \"step\" or \"game\"");
  EXPECT_EQ(ErrorOf(R"({"type":"meta"})"), "line 1: env is missing; allowed: a text");
  EXPECT_EQ(ErrorOf(R"({"type":"meta","env":"x","action":"both"})"),
            "line 1: action is \"both\"; allowed: \"discrete\" or \"box\"");
  EXPECT_EQ(ErrorOf(R"({"type":"meta","env":"x","max_episode_steps":-1})"),
            "line 1: max_episode_steps is -1; allowed: a whole number of 0 or more");
  EXPECT_EQ(
      ErrorOf(R"({"type":"meta","env":"x","max_episode_steps":18446744073709551615})"),
      "line 1: max_episode_steps is 18446744073709551615; allowed: a whole number of 0 or more");
}

TEST(TraceTest, BrokenEpisodesNameTheLine) {
  EXPECT_EQ(ErrorOf(Lines({kMeta, kStep})), "line 2: a step before the first reset");
  EXPECT_EQ(ErrorOf(Lines({kMeta, kReset, kStep, kStep})), "line 4: t is 0; allowed: 1 here");
  const std::string last =
      R"({"type":"step","t":0,"action":1,"obs":[1],"reward":1,"terminated":true,"truncated":false})";
  EXPECT_EQ(ErrorOf(Lines({kMeta, kReset, last, last})),
            "line 4: a step after the end of episode 0");
  const auto with_step = [](absl::string_view fields) {
    return ErrorOf(Lines({kMeta, kReset, absl::StrCat(R"({"type":"step","t":0,)", fields, "}")}));
  };
  EXPECT_EQ(with_step(R"("action":[1])"),
            "line 3: action is [1]; allowed: a whole number, 0 to 2147483647 (the meta line says "
            "discrete)");
  EXPECT_EQ(with_step(R"("action":3000000000)"),
            "line 3: action is 3000000000; allowed: a whole number, 0 to 2147483647 (the meta line "
            "says discrete)");
  EXPECT_EQ(with_step(R"("action":1,"obs":[true])"),
            "line 3: obs[0] is true; allowed: a 32-bit number");
  EXPECT_EQ(with_step(R"("action":1,"obs":[1e39])"),
            "line 3: obs[0] is 1e+39; allowed: a 32-bit number");
  EXPECT_EQ(with_step(R"("action":1,"obs":[1],"reward":"1")"),
            "line 3: reward is \"1\"; allowed: a number");
  EXPECT_EQ(with_step(R"("action":1,"obs":[1],"reward":1,"terminated":0)"),
            "line 3: terminated is 0; allowed: true or false");
  EXPECT_EQ(with_step(R"("action":1,"obs":[1],"reward":1,"terminated":false)"),
            "line 3: truncated is missing; allowed: true or false");
  EXPECT_EQ(
      with_step(
          R"("action":1,"obs":[1],"reward":1,"terminated":false,"truncated":false,"state":5)"),
      "line 3: state is 5; allowed: a list or null");
}

TEST(TraceTest, BrokenGamesNameTheLine) {
  const auto with_game = [](absl::string_view fields) {
    return ErrorOf(Lines({kMeta, absl::StrCat(R"({"type":"game",)", fields, "}")}));
  };
  EXPECT_EQ(with_game(R"("moves":[1,-2])"),
            "line 2: moves[1] is -2; allowed: a whole number, 0 to 2147483647");
  EXPECT_EQ(with_game(R"("moves":7)"), "line 2: moves is 7; allowed: a list");
  EXPECT_EQ(with_game(R"("moves":[1],"legal_counts":[])"),
            "line 2: legal_counts is []; allowed: a list of 1 entries, one for each move");
  EXPECT_EQ(with_game(R"("moves":[1],"legal_counts":[2],"legal_changes":[[0,1.5]])"),
            "line 2: legal_changes[0][1] is 1.5; allowed: a whole number, 0 to 2147483647");
  EXPECT_EQ(with_game(R"("moves":[1],"legal_counts":[2],"legal_changes":[0])"),
            "line 2: legal_changes[0] is 0; allowed: a list");
  EXPECT_EQ(with_game(R"("moves":[1],"legal_counts":[2],"legal_changes":7)"),
            "line 2: legal_changes is 7; allowed: a list of 1 entries, one for each move");
  EXPECT_EQ(with_game(R"("moves":[1],"legal_counts":[2],"legal_changes":[])"),
            "line 2: legal_changes is []; allowed: a list of 1 entries, one for each move");
  EXPECT_EQ(with_game(R"("moves":[],"legal_counts":[],"returns":[1])"),
            "line 2: returns is [1]; allowed: a list of 2 entries, or null");
}

TEST(TraceTest, EveryCutAndEveryChangedByteIsAnswered) {
  const std::string text = Lines({kMeta, kReset, kStep});
  for (size_t size = 0; size < text.size(); ++size) (void)ParseTrace(text.substr(0, size));
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char byte : {'\0', '"', '9', '[', '}', '\xff'}) {
      std::string changed = text;
      changed[i] = byte;
      const auto trace = ParseTrace(changed);
      if (trace.ok()) {
        EXPECT_TRUE(ParseTrace(TraceText(*trace)).ok());
      }
    }
  }
}

// Deep enough to run out of stack in what goes down one call a level, as printing a value does.
TEST(TraceTest, DeepNestingIsRefused) {
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  EXPECT_EQ(ParseTrace("\n{\"type\":\"meta\",\"env\":" + deep + "}").status(),
            absl::InvalidArgumentError("line 2: nested too deep: more than 16 lists and objects"));
}

// The seeds of the fuzz target (tests/fuzz/trace_fuzz.cc), so that they run without a fuzzer too.
TEST(TraceTest, TheFuzzCorpusIsAnswered) {
  const std::string folder = LZ_TEST_DATA "/fuzz/corpus/trace";
  int num_good = 0;
  const std::vector<std::string> names = *ListDirectory(folder);
  for (const std::string& name : names) {
    const auto trace = ParseTrace(*ReadFile(JoinPath(folder, name)));
    if (!trace.ok()) continue;
    ++num_good;
    const std::string written = TraceText(*trace);
    EXPECT_EQ(TraceText(*ParseTrace(written)), written) << name;
  }
  EXPECT_GE(num_good, 3);
}

}  // namespace
}  // namespace lzero::trace_test
