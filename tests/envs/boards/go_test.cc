#include "envs/boards/go.h"

#include <gtest/gtest.h>

#include <numeric>

#include "envs/entries.h"
#include "lzero/base/rng.h"
#include "lzero/env/check/conformance.h"
#include "lzero/env/check/perft.h"
#include "tests/envs/boards/go_diagram.h"

namespace lzero::go_test {
namespace {

using Rows = std::vector<std::string>;

constexpr GoRules kDrawRules = {5, 7.5, Superko::kDraw};
constexpr GoRules kPositionalRules = {5, 7.5, Superko::kPositional};

bool Legal(const GoBoard& board, const char* name) {
  const int point = PointNamed(name, board.rules().size);
  std::vector<uint8_t> mask(board.num_actions());
  board.FillLegalActions(absl::MakeSpan(mask));
  EXPECT_EQ(mask[point] == 1, board.legal(point)) << name;
  return board.legal(point);
}

std::string Saved(const GoBoard& board) {
  StateWriter writer("test");
  board.Save(writer);
  return writer.Take();
}

absl::Status Load(GoBoard& board, const std::string& saved) {
  StateReader reader("test", saved);
  const absl::Status status = board.Load(reader);
  return status.ok() ? reader.Finish() : status;
}

std::vector<float> Plane(const GoBoard& board, int plane) {
  const int num_points = board.pass();
  std::vector<float> planes(GoBoard::kNumPlanes * num_points);
  board.FillPlanes(absl::MakeSpan(planes));
  return {planes.begin() + plane * num_points, planes.begin() + (plane + 1) * num_points};
}

float Sum(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0f);
}

// Three kos: white holds the first and the third, black the second.
GoBoard TripleKo(Superko superko) {
  return BoardOf({9, 7.5, superko}, {".XO......",  //
                                     "XO.O.....",  //
                                     ".XO......",  //
                                     ".XO......",  //
                                     "X.XO.....",  //
                                     ".XO......",  //
                                     ".XO......",  //
                                     "XO.O.....",  //
                                     ".XO......"});
}

TEST(GoTest, RowZeroIsAtTheBottom) {
  GoBoard board(kDrawRules);
  board.Play(0);
  board.Play(7);
  EXPECT_EQ(board.ToText(),
            " 5 .....\n 4 .....\n 3 .....\n 2 ..O..\n 1 X....\n   ABCDE\nX to move\n");
  EXPECT_EQ(RowsOf(GoBoard({19, 7.5}))[9], std::string(19, '.'));
  EXPECT_EQ(GoBoard({19, 7.5}).ToText().substr(19 * 23), "   ABCDEFGHJKLMNOPQRST\nX to move\n");
}

// By pyspiel 2.0.2 (go(board_size=5,komi=7.5), State.child) and by
// `tools/record/record_plain_go_games.py --perft 5 4`; no cycle is this short.
TEST(GoTest, MoveSequencesAreCounted) {
  for (const char* superko : {"draw", "positional"}) {
    EnvOptions options;
    options.settings = {{"board_size", "5"}, {"superko", superko}};
    EXPECT_EQ(*Perft(**GoEntry().factory(options), 4),
              (std::vector<int64_t>{26, 651, 15650, 361041}));
  }
}

TEST(GoTest, KoNeedsAMoveElsewhere) {
  for (const GoRules& rules : {kDrawRules, kPositionalRules}) {
    GoBoard board = BoardOf(rules, {".....",  //
                                    ".XO..",  //
                                    "XO.O.",  //
                                    ".XO..",  //
                                    "....."});
    EXPECT_EQ(Sum(Plane(board, 2)), 0.0f);
    PlayAll(board, {"C3"});
    EXPECT_EQ(RowsOf(board)[2], "X.XO.");
    EXPECT_FALSE(Legal(board, "B3"));
    EXPECT_EQ(Plane(board, 2)[PointNamed("B3", 5)], 1.0f);
    EXPECT_EQ(Sum(Plane(board, 2)), 1.0f);
    PlayAll(board, {"A1", "E1"});
    EXPECT_TRUE(Legal(board, "B3"));
    EXPECT_EQ(Sum(Plane(board, 2)), 0.0f);
    PlayAll(board, {"B3"});
    EXPECT_FALSE(Legal(board, "C3"));
    PlayAll(board, {"pass"});
    EXPECT_EQ(Sum(Plane(board, 2)), 0.0f);  // white's own stone is there
    PlayAll(board, {"E2"});
    EXPECT_TRUE(Legal(board, "C3"));
  }
}

TEST(GoTest, SuicideIsIllegalAndSnapbackIsNot) {
  GoBoard board = BoardOf(kDrawRules, {"....O",  //
                                       "XXXXO",  //
                                       "OOX.O",  //
                                       "XOXO.",  //
                                       ".OXO."});
  EXPECT_TRUE(Legal(board, "E1"));
  PlayAll(board, {"pass", "A1"});
  EXPECT_TRUE(Legal(board, "A2"));
  PlayAll(board, {"A2"});
  EXPECT_EQ(RowsOf(board), (Rows{"....O",  //
                                 "XXXXO",  //
                                 "..X.O",  //
                                 "X.XO.",  //
                                 "..XO."}));
  EXPECT_TRUE(Legal(board, "A1"));
  PlayAll(board, {"E2", "pass", "pass"});
  EXPECT_TRUE(board.finished());
  GoBoard eye = BoardOf(kDrawRules, {".O...", "OO...", ".....", ".....", "....."});
  EXPECT_FALSE(Legal(eye, "A5"));
}

// Each player takes the ko that was not taken last; the sixth move restores the first position.
TEST(GoTest, TripleKoEndsInADraw) {
  GoBoard board = TripleKo(Superko::kDraw);
  const Rows start = RowsOf(board);
  for (const char* name : {"C8", "B5", "C2", "B8", "C5", "B2"}) {
    EXPECT_FALSE(board.finished());
    ASSERT_TRUE(Legal(board, name)) << name;
    PlayAll(board, {name});
  }
  EXPECT_EQ(RowsOf(board), start);
  EXPECT_TRUE(board.finished());
  EXPECT_EQ(board.winner(), -1);
  EXPECT_LT(board.Score(), 0.0);
  EXPECT_FALSE(board.legal(board.pass()));
  const std::string text = board.ToText();
  EXPECT_EQ(text.substr(text.find("over")), "over: a draw by repetition\n");
}

TEST(GoTest, TripleKoIsCutShortByPositionalSuperko) {
  GoBoard board = TripleKo(Superko::kPositional);
  PlayAll(board, {"C8", "B5", "C2", "B8", "C5"});
  EXPECT_FALSE(Legal(board, "B2"));
  EXPECT_FALSE(Legal(board, "B5"));  // a simple ko
  EXPECT_EQ(Sum(Plane(board, 2)), 2.0f);
  PlayAll(board, {"J9"});
  EXPECT_FALSE(board.finished());
  PlayAll(board, {"J1"});
  EXPECT_TRUE(Legal(board, "B2"));
}

// Black adds a stone to one, white takes both, black takes the taker: the board of the beginning
// with white to move.
TEST(GoTest, SendingTwoReturningOneRepeats) {
  const Rows rows = {".X.X.", "OOX..", ".....", ".....", "....."};
  GoBoard board = BoardOf(kDrawRules, rows);
  PlayAll(board, {"A5", "C5"});
  EXPECT_EQ(RowsOf(board)[0], "..OX.");
  EXPECT_TRUE(Legal(board, "B5"));
  EXPECT_EQ(Sum(Plane(board, 2)), 0.0f);
  PlayAll(board, {"B5"});
  EXPECT_EQ(RowsOf(board), rows);
  EXPECT_TRUE(board.finished());
  EXPECT_EQ(board.winner(), -1);

  GoBoard strict = BoardOf(kPositionalRules, rows);
  PlayAll(strict, {"A5", "C5"});
  EXPECT_FALSE(Legal(strict, "B5"));
  EXPECT_EQ(Plane(strict, 2)[PointNamed("B5", 5)], 1.0f);
  EXPECT_TRUE(Legal(strict, "A5"));
}

// 12 points against 8, by hand in go_position_test.
TEST(GoTest, KomiDecides) {
  const Rows rows = {"..X.O", ".XX.O", "XX.OO", ".X.O.", "XX.O."};
  struct Case {
    double komi;
    int winner;
    const char* text;
  };
  for (const Case& expected : {Case{3.5, 0, "over: X wins by 0.5\n"},
                               {4.0, -1, "over: a draw\n"},
                               {7.5, 1, "over: O wins by 3.5\n"}}) {
    GoBoard board = BoardOf({5, expected.komi}, rows);
    EXPECT_EQ(board.Score(), 4.0 - expected.komi);
    while (!board.finished()) board.Play(board.pass());
    EXPECT_EQ(board.winner(), expected.winner);
    const std::string text = board.ToText();
    EXPECT_EQ(text.substr(text.find("over")), expected.text);
  }
}

TEST(GoTest, TwoPassesEndTheGame) {
  GoBoard board(kDrawRules);
  PlayAll(board, {"pass", "C3", "pass"});
  EXPECT_EQ(Sum(Plane(board, 3)), 25.0f);
  EXPECT_EQ(Sum(Plane(board, 4)), 0.0f);
  EXPECT_EQ(Plane(board, 0)[12], 1.0f);
  PlayAll(board, {"D3"});
  EXPECT_EQ(Sum(Plane(board, 3)), 0.0f);
  EXPECT_EQ(Sum(Plane(board, 4)), 25.0f);
  EXPECT_EQ(Plane(board, 1)[12], 1.0f);
  EXPECT_EQ(Sum(Plane(board, 0)), 0.0f);
  EXPECT_FALSE(board.finished());
  PlayAll(board, {"pass", "pass"});
  EXPECT_TRUE(board.finished());
  EXPECT_EQ(board.winner(), 1);
  std::vector<uint8_t> mask(26, 1);
  board.FillLegalActions(absl::MakeSpan(mask));
  EXPECT_EQ(mask, std::vector<uint8_t>(26, 0));
}

// Random stones, passes only where nothing else is legal: most games reach the limit.
TEST(GoTest, TheFiftiethMoveOnFiveByFiveIsTheLast) {
  int num_at_limit = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, "go test");
    GoBoard board(kPositionalRules);
    while (!board.finished()) {
      std::vector<int> stones;
      for (int point = 0; point < board.pass(); ++point) {
        if (board.legal(point)) stones.push_back(point);
      }
      board.Play(stones.empty() ? board.pass()
                                : stones[random.UniformInt(static_cast<int64_t>(stones.size()))]);
      EXPECT_LT(std::abs(board.Estimate()), 1.0);
    }
    ASSERT_LE(board.moves().size(), 50u);
    if (board.moves().size() == 50u) ++num_at_limit;
    EXPECT_EQ(board.winner(), board.Score() > 0.0 ? 0 : 1);
  }
  EXPECT_GT(num_at_limit, 10);
}

TEST(GoTest, EstimatesAreTheMovers) {
  const Rows rows = {".....", ".X.X.", ".....", ".XX..", "....O"};
  GoBoard board = BoardOf({5, 0.5}, rows);
  EXPECT_GT(board.Estimate(), 0.5);
  board.Play(board.pass());
  EXPECT_LT(board.Estimate(), -0.5);
  // No stone: komi alone, 7.5 / (5 + 7.5).
  EXPECT_DOUBLE_EQ(GoBoard(kDrawRules).Estimate(), -0.6);
}

TEST(GoTest, ASavedGameKeepsItsPositions) {
  GoBoard board = TripleKo(Superko::kPositional);
  PlayAll(board, {"C8", "B5", "C2", "B8", "C5"});
  GoBoard other({9, 7.5, Superko::kPositional});
  other.Play(3);
  ASSERT_TRUE(Load(other, Saved(board)).ok());
  EXPECT_FALSE(other.legal(PointNamed("B2", 9)));
  EXPECT_EQ(other.ToText(), board.ToText());
  EXPECT_EQ(Saved(other), Saved(board));
  const std::unique_ptr<Board> copy = board.Clone();
  board.Play(PointNamed("J9", 9));
  EXPECT_EQ(copy->ToText(), other.ToText());
  board.CopyFrom(*copy);
  EXPECT_EQ(Saved(board), Saved(other));
}

TEST(GoTest, ImpossibleGamesAreRefused) {
  GoBoard board(kDrawRules);
  board.Play(12);
  const std::string before = Saved(board);
  const auto error = [&](const GoRules& rules, const std::vector<uint16_t>& moves) {
    StateWriter writer("test");
    writer.Write(static_cast<uint8_t>(rules.size));
    writer.Write(rules.komi);
    writer.Write(rules.superko == Superko::kPositional);
    writer.WriteVector(moves);
    return std::string(Load(board, writer.Take()).message());
  };
  const std::string impossible = "saved state of 'test' is impossible: ";
  EXPECT_EQ(error(kDrawRules, {0, 0}), impossible + "move 0 as number 2 is illegal");
  EXPECT_EQ(error(kDrawRules, {26}), impossible + "move 26 as number 1 is illegal");
  EXPECT_EQ(error(kDrawRules, {25, 25, 0}), impossible + "move 0 as number 3 is illegal");
  EXPECT_EQ(
      error(kPositionalRules, {}),
      impossible + "a game on 5 x 5 with komi 7.5 and positional superko, other rules than here");
  EXPECT_EQ(error({9, 6.5}, {}),
            impossible + "a game on 9 x 9 with komi 6.5, other rules than here");
  EXPECT_EQ(Saved(board), before);
  EXPECT_FALSE(Load(board, before.substr(0, before.size() - 1)).ok());
  EXPECT_EQ(error(kDrawRules, {25, 3}), "");
  EXPECT_EQ(board.moves(), (std::vector<uint16_t>{25, 3}));
}

TEST(GoTest, SettingsAreChecked) {
  const auto made = [](const EnvSettingTexts& settings) {
    EnvOptions options;
    options.settings = settings;
    return GoEntry().factory(options);
  };
  const auto small = *made({{"board_size", "5"}, {"komi", "-0.5"}});
  EXPECT_EQ(small->spec().observation.shape, (std::vector<int64_t>{5, 5, 5}));
  EXPECT_EQ(small->spec().action.num_actions, 26);
  EXPECT_EQ(small->spec().symmetries.size(), 8u);
  EXPECT_EQ(small->spec().symmetries[3].action_image[25], 25);
  EXPECT_EQ((*made({}))->spec().observation.shape, (std::vector<int64_t>{5, 9, 9}));
  for (const auto& [name, value] : EnvSettingTexts{
           {"board_size", "4"}, {"board_size", "20"}, {"komi", "nan"}, {"superko", "japanese"}}) {
    EXPECT_EQ(made({{name, value}}).status().code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

TEST(GoTest, BothRulesConformWithRandomOpenings) {
  for (const char* superko : {"draw", "positional"}) {
    const auto make = [superko] {
      EnvOptions options;
      options.settings = {{"board_size", "5"}, {"superko", superko}};
      options.random_opening_fraction = 1.0;
      return GoEntry().factory(options);
    };
    for (const ConformanceCheck& check : RunConformance(make, {7, 150})) {
      EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
    }
  }
}

TEST(GoTest, DrawsTheBoardWithRowZeroAtTheBottom) {
  GoBoard board(kDrawRules);
  board.Play(0);
  const Image image = board.ToImage();
  const Image other = GoBoard(kDrawRules).ToImage();
  EXPECT_EQ(image.width, image.height);
  EXPECT_EQ(image.pixels.size(), other.pixels.size());
  const int stone = 34 + 18;  // of A1, from the left and from the bottom
  EXPECT_LT(image.at(stone + 20, image.height - stone - 1).red, 60);
  EXPECT_GT(other.at(stone + 20, image.height - stone - 7).red, 60);
  EXPECT_EQ(image.at(stone, stone - 8), other.at(stone, stone - 8));
}

}  // namespace
}  // namespace lzero::go_test
