// Replays the games of other implementations that are kept in tests/golden/envs/boards:
// OpenSpiel 2.0.2's (tools/record/record_open_spiel_games.py --small) and a plain Python program's
// (tools/record/record_plain_go_games.py --small). The oracle tests replay thousands, recorded
// anew.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "envs/register_all.h"
#include "lzero/base/files.h"
#include "lzero/env/check/trace_replay.h"

namespace lzero::recorded_games_test {
namespace {

struct Recording {
  const char* name;
  int64_t num_games;
  int64_t num_moves;
};

class RecordedGamesTest : public testing::TestWithParam<Recording> {
 protected:
  static Trace Read() {
    const std::string name = absl::StrCat(GetParam().name, "_games.jsonl");
    return *ParseTrace(*ReadFile(JoinPath(LZ_TEST_DATA "/golden/envs/boards", name)));
  }

  static std::unique_ptr<Env> Make(const TraceMeta& meta) {
    EnvRegistry registry;
    RegisterAllEnvs(registry);
    EnvOptions options;
    options.settings = meta.settings;
    return *registry.Make(meta.env, options);
  }
};

TEST_P(RecordedGamesTest, ReplayWithTheSameLegalMovesAndReturns) {
  const Trace trace = Read();
  const auto report = ReplayTrace(*Make(trace.meta), trace, /*whole=*/true);
  ASSERT_TRUE(report.ok()) << report.status();
  for (const std::string& difference : report->differences) ADD_FAILURE() << difference;
  EXPECT_EQ(report->num_games, GetParam().num_games);
  EXPECT_EQ(report->num_steps, GetParam().num_moves);
}

// A set of legal moves that is wrong by one in the middle of each game is found.
TEST_P(RecordedGamesTest, AWrongSetIsFound) {
  Trace trace = Read();
  for (TraceGame& game : trace.games) {
    std::vector<int32_t>& changes = game.legal_changes[game.moves.size() / 2];
    if (std::erase(changes, 0) == 0) changes.push_back(0);
  }
  EXPECT_EQ(ReplayTrace(*Make(trace.meta), trace, /*whole=*/true)->differences.size(),
            trace.games.size());
}

INSTANTIATE_TEST_SUITE_P(All, RecordedGamesTest,
                         testing::Values(Recording{"tictactoe", 20, 150},
                                         Recording{"connect4", 20, 405},
                                         Recording{"othello", 12, 725}, Recording{"gomoku", 6, 714},
                                         Recording{"gomoku6", 16, 509}, Recording{"go5", 30, 1320},
                                         Recording{"go9", 8, 1148}, Recording{"go19", 1, 722},
                                         Recording{"go5_positional", 10, 500}),
                         [](const auto& recording) { return std::string(recording.param.name); });

}  // namespace
}  // namespace lzero::recorded_games_test
