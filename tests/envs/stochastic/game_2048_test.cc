#include "envs/stochastic/game_2048.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "envs/entries.h"
#include "lzero/base/files.h"
#include "lzero/env/check/rollout.h"
#include "lzero/env/check/trace_replay.h"
#include "tests/envs/stochastic/lists_2048.h"

namespace lzero::game_2048_test {
namespace {

std::unique_ptr<Env> Make(int64_t cap = 0) { return *Game2048Entry().factory({cap, 0.0, 6}); }

// A board with `percent_empty` and tiles up to 2^max_exponent.
Tiles RandomTiles(RandomStream& random, int percent_empty, int max_exponent) {
  Tiles tiles;
  for (int i = 0; i < 16; ++i) {
    const bool empty = random.UniformInt(100) < percent_empty;
    tiles.push_back(empty ? 0.0 : std::pow(2.0, 1 + random.UniformInt(max_exponent)));
  }
  return tiles;
}

double ChiSquare(const std::vector<double>& counts, const std::vector<double>& expected) {
  double sum = 0.0;
  for (size_t i = 0; i < counts.size(); ++i) {
    sum += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
  }
  return sum;
}

TEST(Game2048Test, SlidesOneBoardByHand) {
  const Board2048 before = {{3, 2, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 1, 0}};
  Board2048 board = before;
  EXPECT_EQ(board.Slide(0), 12);
  EXPECT_EQ(board, (Board2048{{3, 3, 1, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}}));
  board = before;
  EXPECT_EQ(board.Slide(1), 0);
  EXPECT_EQ(board, (Board2048{{0, 0, 3, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 2, 1}}));
  board = before;
  EXPECT_EQ(board.Slide(2), 12);
  EXPECT_EQ(board, (Board2048{{0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 3, 1, 0}}));
  board = before;
  EXPECT_EQ(board.Slide(3), 0);
  EXPECT_EQ(board, before);
  EXPECT_EQ(before.LegalDirections(), 1 | 2 | 4);
}

// All rows of tiles up to 2^17, those that the table does not hold among them, in all directions.
TEST(Game2048Test, EveryLineSlidesAsListsDo) {
  constexpr int kNumExponents = Board2048::kMaxExponent + 1;
  std::vector<double> tiles(kNumExponents, 0.0);
  for (int exponent = 1; exponent < kNumExponents; ++exponent) tiles[exponent] = 1 << exponent;
  const std::vector<int> no_marks(4, 0);
  std::vector<double> row;
  std::vector<int> marks;
  int64_t num_wrong = 0;
  for (int code = 0; code < kNumExponents * kNumExponents * kNumExponents * kNumExponents; ++code) {
    std::array<uint8_t, 4> line;
    for (int i = 0, rest = code; i < 4; ++i, rest /= kNumExponents) line[i] = rest % kNumExponents;
    row = {tiles[line[0]], tiles[line[1]], tiles[line[2]], tiles[line[3]]};
    marks = no_marks;
    const double made = SlideRow(row, marks);
    // Where square i of the line lies: row 1 to the left and right, column 2 up and down.
    const int direction = code % 4;
    Board2048 board;
    const auto square = [direction](int i) {
      const int along = direction == 1 || direction == 2 ? 3 - i : i;
      return direction % 2 == 1 ? 4 + along : along * 4 + 2;
    };
    for (int i = 0; i < 4; ++i) board.exponents[square(i)] = line[i];
    bool same = static_cast<double>(board.Slide(direction)) == made;
    for (int i = 0; i < 4; ++i) {
      const uint8_t exponent = board.exponents[square(i)];
      same = same && (exponent == 0 ? 0.0 : std::ldexp(1.0, exponent)) == row[i];
    }
    num_wrong += same ? 0 : 1;
  }
  EXPECT_EQ(num_wrong, 0);
}

TEST(Game2048Test, RandomBoardsFollowTheListsAndTheirChances) {
  const auto env = Make();
  RandomStream random(7);
  for (int trial = 0; trial < 60; ++trial) {
    const Tiles tiles = RandomTiles(random, trial % 4 * 25, 1 + trial % 12);
    const std::vector<uint8_t> mask = BruteMask({tiles});
    const bool any = std::count(mask.begin(), mask.end(), 1) > 0;
    ASSERT_EQ(env->SetState(tiles).ok(), any);
    for (int direction = 0; any && direction < 4; ++direction) {
      ASSERT_TRUE(env->SetState(tiles).ok());
      const auto chances = env->ChanceOutcomes(Action::Discrete(direction));
      ASSERT_EQ(chances.ok(), mask[direction] == 1);
      if (!chances.ok()) continue;
      Position moved = {tiles};
      const double made = BruteSlide(moved, direction);
      const auto num_empty = std::count(moved.tiles.begin(), moved.tiles.end(), 0.0);
      ASSERT_EQ(static_cast<int64_t>(chances->size()), 2 * num_empty);
      double total = 0.0;
      for (const ChanceOutcome& chance : *chances) {
        const int square = chance.index / 2;
        EXPECT_EQ(moved.tiles[square], 0.0);
        EXPECT_NEAR(chance.probability, (chance.index % 2 == 0 ? 0.9 : 0.1) / num_empty, 1e-12);
        total += chance.probability;
        ASSERT_TRUE(env->SetState(tiles).ok());
        const auto step = env->StepWithOutcome(Action::Discrete(direction), chance.index);
        ASSERT_TRUE(step.ok());
        EXPECT_EQ(step->reward, static_cast<float>(made));
        EXPECT_EQ(step->chance_outcome, chance.index);
        Position after = {moved.tiles};
        after.tiles[square] = chance.index % 2 == 0 ? 2.0 : 4.0;
        EXPECT_EQ(*env->GetState(), after.tiles);
        const std::vector<uint8_t> mask_after = BruteMask(after);
        EXPECT_EQ(step->legal_action_mask, mask_after);
        EXPECT_EQ(step->terminated, std::count(mask_after.begin(), mask_after.end(), 1) == 0);
      }
      EXPECT_NEAR(total, 1.0, 1e-12);
    }
  }
}

// A position, a move and a tile, and their images: what follows is the image of what follows.
TEST(Game2048Test, ImagesOfAMoveAreMovesOfTheImage) {
  const auto env = Make();
  const std::vector<Symmetry>& symmetries = env->spec().symmetries;
  ASSERT_EQ(symmetries.size(), 8u);
  RandomStream random(11);
  int num_moves = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const Tiles tiles = RandomTiles(random, 25 + trial % 3 * 25, 1 + trial % 4);
    for (const Symmetry& symmetry : symmetries) {
      Tiles image(16);
      // Outcomes name squares, and say so where each comes to lie.
      for (int square = 0; square < 16; ++square) {
        image[symmetry.chance_image[2 * square] / 2] = tiles[square];
        EXPECT_EQ(symmetry.chance_image[2 * square] + 1, symmetry.chance_image[2 * square + 1]);
      }
      for (int direction = 0; direction < 4; ++direction) {
        if (!env->SetState(tiles).ok()) continue;
        const auto chances = env->ChanceOutcomes(Action::Discrete(direction));
        if (!chances.ok()) continue;
        const int32_t outcome = (*chances)[random.UniformInt(chances->size())].index;
        const auto step = env->StepWithOutcome(Action::Discrete(direction), outcome);
        ASSERT_TRUE(env->SetState(image).ok());
        const auto other = env->StepWithOutcome(Action::Discrete(symmetry.action_image[direction]),
                                                symmetry.chance_image[outcome]);
        ASSERT_TRUE(step.ok() && other.ok()) << other.status();
        std::vector<float> observation(step->observation.size());
        MapObservation(symmetry, step->observation, absl::MakeSpan(observation));
        EXPECT_EQ(other->observation, observation);
        EXPECT_EQ(other->reward, step->reward);
        for (int a = 0; a < 4; ++a) {
          EXPECT_EQ(other->legal_action_mask[symmetry.action_image[a]], step->legal_action_mask[a]);
        }
        ++num_moves;
      }
    }
  }
  EXPECT_GT(num_moves, 500);
}

TEST(Game2048Test, DrawsTilesWithTheStatedChances) {
  const auto env = Make();
  env->Reset(5);
  // After a move to the left the squares 1, 2, 3 and 7 are empty.
  const Tiles tiles = {0, 2, 0, 0, 0, 8, 16, 32, 2, 4, 8, 16, 4, 8, 16, 32};
  std::vector<double> counts(32, 0.0);
  constexpr int kNumDraws = 20000;
  for (int i = 0; i < kNumDraws; ++i) {
    ASSERT_TRUE(env->SetState(tiles).ok());
    ++counts[env->Step(Action::Discrete(3))->chance_outcome];
  }
  std::vector<double> seen, expected;
  for (const int square : {1, 2, 3, 7}) {
    seen.insert(seen.end(), {counts[square * 2], counts[square * 2 + 1]});
    expected.insert(expected.end(), {kNumDraws * 0.225, kNumDraws * 0.025});
  }
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0.0), kNumDraws);
  // 7 degrees of freedom: above 35 in one case of 90,000.
  EXPECT_LT(ChiSquare(seen, expected), 35.0);
}

TEST(Game2048Test, StartsWithTwoTilesAnywhere) {
  const auto env = Make();
  std::vector<double> pairs(120, 0.0);
  double num_fours = 0.0;
  constexpr int kNumStarts = 6000;
  for (uint64_t seed = 0; seed < kNumStarts; ++seed) {
    const TimeStep first = env->Reset(seed);
    EXPECT_EQ(first.chance_outcome, -1);
    const Tiles tiles = *env->GetState();
    std::vector<int> squares;
    for (int i = 0; i < 16; ++i) {
      if (tiles[i] == 0.0) continue;
      squares.push_back(i);
      EXPECT_TRUE(tiles[i] == 2.0 || tiles[i] == 4.0);
      num_fours += tiles[i] == 4.0 ? 1.0 : 0.0;
    }
    ASSERT_EQ(squares.size(), 2u);
    pairs[squares[1] * (squares[1] - 1) / 2 + squares[0]] += 1.0;
  }
  // 119 degrees of freedom: mean 119, standard deviation 15.4.
  EXPECT_LT(ChiSquare(pairs, std::vector<double>(120, kNumStarts / 120.0)), 119.0 + 5 * 15.4);
  // 1,200 expected, standard deviation 33.
  EXPECT_NEAR(num_fours, 1200.0, 165.0);
}

// A tile 2^k that grew from 2s pays (k - 1) 2^k on the way; each 4 that appeared saves 4.
TEST(Game2048Test, TheReturnIsTheScoreOfTheTiles) {
  const auto env = Make();
  for (uint64_t seed = 0; seed < 10; ++seed) {
    env->Reset(seed);
    const Tiles first = *env->GetState();
    double num_fours = static_cast<double>(std::count(first.begin(), first.end(), 4.0));
    const EpisodeRecord record = *PlayRandomEpisode(*env, seed, 100000);
    double score = 0.0;
    for (const TimeStep& step : record.steps) {
      if (step.chance_outcome >= 0) num_fours += step.chance_outcome % 2;
    }
    const Tiles tiles = *env->GetState();
    for (const double tile : tiles) {
      if (tile > 0.0) score += (std::log2(tile) - 1.0) * tile;
    }
    const TimeStep& last = record.steps.back();
    EXPECT_TRUE(last.terminated);
    EXPECT_EQ(last.episode_return, score - 4.0 * num_fours);
    EXPECT_EQ(BruteMask({tiles}), (std::vector<uint8_t>{0, 0, 0, 0}));
    const std::string text = *env->RenderText();
    EXPECT_NE(text.find(absl::StrCat("\nscore ", last.episode_return, "\n")), text.npos);
  }
}

TEST(Game2048Test, LargeTilesMergeAndShareTheLastPlane) {
  const auto env = Make();
  Tiles tiles(16, 0.0);
  tiles[0] = tiles[1] = 65536.0;
  tiles[4] = tiles[5] = 16384.0;
  tiles[8] = 32768.0;
  ASSERT_TRUE(env->SetState(tiles).ok());
  const auto step = env->StepWithOutcome(Action::Discrete(3), 31);
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->reward, 131072.0f + 32768.0f);
  EXPECT_EQ((*env->GetState())[0], 131072.0);
  for (int plane = 0; plane < 16; ++plane) {
    for (int square = 0; square < 16; ++square) {
      const bool large = square == 0 || square == 4 || square == 8;
      const int expected = large ? 15 : square == 15 ? 2 : 0;
      EXPECT_EQ(step->observation[plane * 16 + square], plane == expected ? 1.0f : 0.0f);
    }
  }
}

// The set that the line of a recorded step gives under `key`, as a mask.
std::vector<uint8_t> RecordedMask(absl::string_view line, absl::string_view key) {
  const std::string start = absl::StrCat("\"", key, "\":[");
  const absl::string_view list = line.substr(line.find(start) + start.size());
  std::vector<uint8_t> mask(4, 0);
  for (const absl::string_view text : absl::StrSplit(list.substr(0, list.find(']')), ',')) {
    int move = -1;
    EXPECT_TRUE(absl::SimpleAtoi(text, &move)) << line;
    mask.at(move) = 1;
  }
  return mask;
}

TEST(Game2048Test, GamesOfOpenSpielReplay) {
  const std::string text = *ReadFile(LZ_TEST_DATA "/golden/envs/stochastic/2048_open_spiel.jsonl");
  const Trace trace = *ParseTrace(text);
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const auto env = Make();
  for (const bool whole : {false, true}) {
    const auto report = ReplayTrace(*env, trace, whole);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->differences.empty()) << report->differences[0];
    EXPECT_EQ(report->num_steps, 110);
    EXPECT_EQ(report->num_whole, whole ? 2 : 0);
  }
  // OpenSpiel's legal moves are ours, but for a fault of it: no merge into a tile that the move
  // before made counts. That explains every one of its lists.
  int64_t num_omitted = 0;
  for (const TraceEpisode& episode : trace.episodes) {
    Position position = {*episode.state};
    std::vector<uint8_t> mask = env->Reset(episode.seed).legal_action_mask;
    for (const TraceStep& step : episode.steps) {
      const std::vector<uint8_t> listed = RecordedMask(lines[step.line - 1], "open_spiel_legal");
      EXPECT_EQ(listed, BruteMask(position));
      EXPECT_EQ(mask, BruteMask({position.tiles}));
      num_omitted +=
          std::count(mask.begin(), mask.end(), 1) - std::count(listed.begin(), listed.end(), 1);
      mask = env->StepWithOutcome(step.action, step.chance_outcome)->legal_action_mask;
      BruteSlide(position, step.action.index);
      position.tiles = *step.state;
    }
  }
  EXPECT_EQ(num_omitted, 2);
}

TEST(Game2048Test, ASavedGameGoesOnWithItsRandomTiles) {
  const auto env = Make(), other = Make();
  RandomStream random(3);
  TimeStep step = env->Reset(11);
  for (int t = 0; t < 20; ++t) {
    step = *env->Step(*RandomAction(env->spec(), step.legal_action_mask, random));
  }
  other->Reset(12);
  ASSERT_TRUE(other->Load(*env->Save()).ok());
  while (!step.ended()) {
    const Action action = *RandomAction(env->spec(), step.legal_action_mask, random);
    step = *env->Step(action);
    ASSERT_EQ(TimeStepDifference(*other->Step(action), step), "");
  }
  EXPECT_EQ(*env->RenderText(), *other->RenderText());
}

TEST(Game2048Test, BadStatesAreRefused) {
  const auto env = Make();
  env->Reset(1);
  const std::string before = *env->Save();
  const std::string allowed =
      "a state of '2048' is 16 tiles row by row, each 0 or a power of two from 2 to 131072, with a "
      "legal move; got ";
  const auto refused = [&env](const Tiles& tiles) {
    return std::string(env->SetState(tiles).message());
  };
  EXPECT_EQ(refused({2.0}), allowed + "1 numbers");
  Tiles tiles(16, 0.0);
  for (const double bad : {1.0, 3.0, -2.0, 262144.0}) {
    tiles[6] = bad;
    EXPECT_EQ(refused(tiles), absl::StrCat(allowed, bad, " on square 6"));
  }
  EXPECT_EQ(refused(Tiles(16, 0.0)), allowed + "one without");
  EXPECT_EQ(refused(Tiles(16, 65536.0)), allowed + "more than a game can reach");
  std::string state = before;
  const size_t board = state.size() - 3 * 8 - 16;
  state[board] = 18;
  EXPECT_EQ(env->Load(state).message(),
            "saved state of '2048' is impossible: no game has so large tiles");
  state = before;
  state[board + 23] = '\x80';
  EXPECT_EQ(env->Load(state).message(),
            "saved state of '2048' is impossible: score -9223372036854775808");
  EXPECT_EQ(*env->Save(), before);
}

TEST(Game2048Test, BadActionsOutcomesAndOptionsAreRefused) {
  const auto env = Make();
  ASSERT_TRUE(env->SetState({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0}).ok());
  EXPECT_EQ(env->Step(Action::Discrete(3)).status().message(),
            "action 3 is illegal here; '2048' takes now: 0 1");
  EXPECT_EQ(env->StepWithOutcome(Action::Discrete(0), 0).status().message(),
            "chance outcome 0 cannot happen here; '2048' has 30 possible ones now");
  EXPECT_EQ(Game2048Entry().factory({-1, 0.0, 6}).status().message(),
            "max_episode_steps of '2048' is -1; allowed: 0 (its own cap) or a positive number");
  EXPECT_EQ(Game2048Entry().factory({0, 0.5, 6}).status().message(),
            "random_opening_fraction of '2048' is 0.5; allowed: 0, random openings are for boards");
  const auto capped = Make(5);
  const EpisodeRecord record = *PlayRandomEpisode(*capped, 0, 100);
  EXPECT_EQ(record.actions.size(), 5u);
  EXPECT_TRUE(record.steps.back().truncated);
}

TEST(Game2048Test, DrawsTilesAndScore) {
  const auto env = Make();
  ASSERT_TRUE(env->SetState({0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 131072, 0, 1024, 0}).ok());
  ASSERT_TRUE(env->StepWithOutcome(Action::Discrete(3), 15).ok());
  EXPECT_EQ(*env->RenderText(),
            "      4      .      .      .\n"
            "      .      .      .      4\n"
            "      .      .      .      .\n"
            " 131072   1024      .      .\n"
            "score 4\n");
  const Image image = *env->RenderRgb();
  EXPECT_EQ(image.width, 304);
  EXPECT_EQ(image.height, 344);
  const auto corner = [&image](int row, int column) {  // of a tile, where no number is
    return image.at(8 + column * 74 + 1, 48 + row * 74 + 1);
  };
  EXPECT_EQ(corner(0, 0), corner(1, 3));
  EXPECT_EQ(corner(0, 1), corner(2, 2));
  EXPECT_FALSE(corner(0, 0) == corner(0, 1));
  EXPECT_FALSE(corner(3, 0) == corner(3, 1));
}

}  // namespace
}  // namespace lzero::game_2048_test
