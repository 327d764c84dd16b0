#include "envs/boards/board_env.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "envs/boards/tictactoe.h"
#include "lzero/env/check/conformance.h"
#include "tests/envs/boards/nim_board.h"

namespace lzero::board_env_test {
namespace {

absl::StatusOr<std::unique_ptr<Env>> MakeNim(int heap, const EnvOptions& options = {},
                                             bool misere = false) {
  EnvSpec spec;
  spec.id = "nim";
  spec.observation.shape = {2, 1, 1};
  return MakeBoardEnv(spec, options, std::make_unique<NimBoard>(heap, misere), heap);
}

const Board& BoardOf(const Env& env) { return dynamic_cast<const BoardEnv&>(env).board(); }
int HeapOf(const Env& env) { return dynamic_cast<const NimBoard&>(BoardOf(env)).heap(); }

TEST(BoardEnvTest, TheSpecComesFromTheBoard) {
  const auto env = *MakeNim(5);
  const EnvSpec& spec = env->spec();
  EXPECT_EQ(spec.id, "nim");
  EXPECT_EQ(spec.observation.low, std::vector<float>{0.0f});
  EXPECT_EQ(spec.observation.high, std::vector<float>{1.0f});
  EXPECT_EQ(spec.action.kind, ActionKind::kDiscrete);
  EXPECT_EQ(spec.action.num_actions, 2);
  EXPECT_EQ(spec.action.places, (std::vector<int32_t>{0, -1}));  // one cell
  EXPECT_EQ(spec.num_players, 2);
  EXPECT_TRUE(spec.can_save);
  EXPECT_TRUE(spec.deterministic);
  EXPECT_EQ(spec.max_episode_steps, 0);
}

TEST(BoardEnvTest, BoundsOfTheCallerStay) {
  EnvSpec spec;
  spec.id = "nim";
  spec.observation = {{2, 1, 1}, {-1.0f}, {2.0f}};
  const auto env = *MakeBoardEnv(spec, {}, std::make_unique<NimBoard>(3), 3);
  EXPECT_EQ(env->spec().observation.low, std::vector<float>{-1.0f});
  EXPECT_EQ(env->spec().observation.high, std::vector<float>{2.0f});
}

TEST(BoardEnvTest, StepsShowTheBoard) {
  const auto env = *MakeNim(4);
  TimeStep step = env->Reset(0);
  EXPECT_EQ(step.observation, (std::vector<float>{4.0f / 64.0f, 1.0f}));
  EXPECT_EQ(step.legal_action_mask, (std::vector<uint8_t>{1, 1}));
  EXPECT_EQ(step.to_play, 0);
  EXPECT_EQ(*env->RenderText(), "heap 4, player 0 takes\n");
  step = *env->Step(Action::Discrete(1));
  step = *env->Step(Action::Discrete(0));
  EXPECT_EQ(step.observation, (std::vector<float>{1.0f / 64.0f, 1.0f}));
  EXPECT_EQ(step.legal_action_mask, (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(env->RenderRgb()->at(0, 0), (Color{1, 0, 0}));
  EXPECT_EQ(env->Step(Action::Discrete(1)).status().message(),
            "action 1 is illegal here; 'nim' takes now: 0");
  EXPECT_EQ(HeapOf(*env), 1);
}

// What the last move pays to who made it, and to player 0.
TEST(BoardEnvTest, TheLastMoveWinsOrLoses) {
  for (const bool misere : {false, true}) {
    const float reward = misere ? -1.0f : 1.0f;
    auto env = *MakeNim(1, {}, misere);
    env->Reset(0);
    TimeStep step = *env->Step(Action::Discrete(0));
    EXPECT_TRUE(step.terminated);
    EXPECT_EQ(step.reward, reward);
    EXPECT_EQ(step.episode_return, reward);
    env = *MakeNim(2, {}, misere);
    env->Reset(0);
    step = *env->Step(Action::Discrete(0));
    EXPECT_FALSE(step.terminated);
    EXPECT_EQ(step.reward, 0.0f);
    step = *env->Step(Action::Discrete(0));
    EXPECT_TRUE(step.terminated);
    EXPECT_EQ(step.reward, reward);
    EXPECT_EQ(step.episode_return, -reward);
  }
}

TEST(BoardEnvTest, ResetGoesBackToTheStart) {
  const auto env = *MakeNim(9);
  const auto& board_env = dynamic_cast<const BoardEnv&>(*env);
  EXPECT_EQ(HeapOf(*env), 9);
  env->Reset(0);
  ASSERT_TRUE(env->Step(Action::Discrete(1)).ok());
  EXPECT_EQ(HeapOf(*env), 7);
  EXPECT_EQ(board_env.start().ToText(), "heap 9, player 0 takes\n");
  env->Reset(1);
  EXPECT_EQ(HeapOf(*env), 9);
}

// An opening of at most 3 moves from a heap of 4 leaves at least one stone, whatever is drawn; from
// heap 1 every move would end the game, so the opening stops.
TEST(BoardEnvTest, OpeningsNeverEndTheGame) {
  const auto env = *MakeNim(4, {0, 1.0, 3});
  std::map<int, int> heaps;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const TimeStep start = env->Reset(seed);
    ASSERT_FALSE(start.ended());
    ASSERT_EQ(start.reward, 0.0f);
    ++heaps[HeapOf(*env)];
    const std::string text = *env->RenderText();
    env->Reset(seed);
    EXPECT_EQ(*env->RenderText(), text);
  }
  // By hand: one move 4 -> 3 or 2; two -> 2, 1, 1, or 1 (2 - 2 would
  // end it); three moves all -> 1. P(3) = 1/6, P(2) = 1/6 + 1/3 * 1/4 = 1/4, P(1) = 7/12.
  EXPECT_EQ(heaps.size(), 3u);
  EXPECT_NEAR(heaps[3], 50, 26);  // four standard deviations
  EXPECT_NEAR(heaps[2], 75, 30);
  EXPECT_NEAR(heaps[1], 175, 34);
}

TEST(BoardEnvTest, OpeningsHappenWithTheGivenProbability) {
  const auto env = *MakeNim(20, {0, 0.25, 4});
  int num_opened = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    env->Reset(seed);
    if (HeapOf(*env) < 20) ++num_opened;
  }
  EXPECT_NEAR(num_opened, 250, 60);  // standard deviation 13.7
}

TEST(BoardEnvTest, OptionsOutsideTheirRangeAreRefused) {
  const auto error = [](int64_t cap, double fraction, int64_t plies) {
    return std::string(MakeNim(7, {cap, fraction, plies}).status().message());
  };
  EXPECT_EQ(error(7, 0.0, 99), "");
  EXPECT_EQ(error(6, 0.0, 6),
            "max_episode_steps of 'nim' is 6; allowed: 0 or at least 7, since a game is over after "
            "at most 7 steps and is never cut short");
  EXPECT_EQ(error(0, -0.5, 6), "random_opening_fraction of 'nim' is -0.5; allowed: 0 .. 1");
  EXPECT_EQ(error(0, std::nan(""), 6), "random_opening_fraction of 'nim' is nan; allowed: 0 .. 1");
  EXPECT_EQ(error(0, 0.5, 0), "random_opening_plies of 'nim' is 0; allowed: 1 .. 6");
  EXPECT_EQ(error(0, 0.5, 7), "random_opening_plies of 'nim' is 7; allowed: 1 .. 6");
  EXPECT_EQ(error(0, 0.5, 6), "");
}

TEST(BoardEnvTest, BrokenStatesAreRefusedAndChangeNothing) {
  const auto env = *MakeNim(9);
  env->Reset(0);
  ASSERT_TRUE(env->Step(Action::Discrete(1)).ok());
  const std::string good = *env->Save();
  env->Reset(0);
  EXPECT_EQ(env->Load(good + "x").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(HeapOf(*env), 9);
  EXPECT_EQ(env->Load(good.substr(0, good.size() - 1)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(HeapOf(*env), 9);
  std::string impossible = good;
  impossible[impossible.size() - 8] = 65;  // the heap's lowest byte
  EXPECT_EQ(env->Load(impossible).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(HeapOf(*env), 9);
  EXPECT_TRUE(env->Load(good).ok());
  EXPECT_EQ(HeapOf(*env), 7);
}

TEST(BoardEnvTest, Conforms) {
  for (const double fraction : {0.0, 1.0}) {
    const auto make = [&] { return MakeNim(12, {0, fraction, 5}, true); };
    for (const ConformanceCheck& check : RunConformance(make, {3, 300})) {
      EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
    }
  }
}

// From heap 4: 2; heaps 3, 2: 4; heaps 2, 1, 1: 4 (the other way ended the game): 2 + 1 + 1; heap 1
// once: 1.
TEST(BoardEnvTest, PerftCountsByHandAndStaysWhereItIs) {
  const auto env = *MakeNim(4);
  EXPECT_EQ(*Perft(*env, 6), (std::vector<int64_t>{2, 4, 4, 1, 0, 0}));
  EXPECT_EQ(HeapOf(*env), 4);
  ASSERT_TRUE(env->Step(Action::Discrete(1)).ok());
  std::vector<int64_t> counts = {10, 20};
  dynamic_cast<const BoardEnv&>(*env).CountMoves(absl::MakeSpan(counts));
  EXPECT_EQ(counts, (std::vector<int64_t>{12, 21}));  // heap 2: 2, then heap 1: 1
  EXPECT_EQ(HeapOf(*env), 2);
}

TEST(BoardEnvTest, ABoardShowsItselfAsTheEnvironmentDoes) {
  const auto env = *MakeNim(3);
  env->Reset(0);
  for (const int action : {0, 0, 0}) {
    const TimeStep from_env = *env->Step(Action::Discrete(action));
    const TimeStep from_board = TimeStepOf(BoardOf(*env), 2);
    EXPECT_EQ(from_board.observation, from_env.observation);
    EXPECT_EQ(from_board.legal_action_mask, from_env.legal_action_mask);
    EXPECT_EQ(from_board.to_play, from_env.to_play);
    EXPECT_EQ(from_board.terminated, from_env.terminated);
    EXPECT_EQ(from_board.reward, 0.0f);
  }
}

// An environment goes on from a board that nobody played to.
TEST(BoardEnvTest, AnEnvironmentLoadsTheStateOfABoard) {
  const auto played = *MakeNim(5), other = *MakeNim(5);
  played->Reset(0);
  ASSERT_TRUE(played->Step(Action::Discrete(1)).ok());
  ASSERT_TRUE(other->Load(StateOf(BoardOf(*played), "nim")).ok());
  EXPECT_EQ(HeapOf(*other), HeapOf(*played));
  const TimeStep a = *played->Step(Action::Discrete(0)), b = *other->Step(Action::Discrete(0));
  EXPECT_EQ(a.observation, b.observation);
  EXPECT_EQ(a.legal_action_mask, b.legal_action_mask);
  EXPECT_EQ(a.to_play, b.to_play);
  EXPECT_EQ(other->Load(StateOf(BoardOf(*played), "chess")).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(BoardEnvDeathTest, AFinishedStartIsOurBug) {
  EXPECT_DEATH((void)MakeNim(0), "a start position of 'nim'");
}

TEST(RandomOpeningTest, TheMovesLeadToThePosition) {
  TicTacToeBoard board, trial, replayed;
  RandomStream random(3, "opening");
  const std::vector<int> moves = PlayRandomOpening(4, &board, &trial, &random);
  ASSERT_EQ(moves.size(), 4u);
  for (const int move : moves) replayed.Play(move);
  EXPECT_EQ(replayed.ToText(), board.ToText());
  EXPECT_EQ(PlayRandomOpening(0, &board, &trial, &random), std::vector<int>());
  EXPECT_EQ(replayed.ToText(), board.ToText());
}

// 9 * 8 positions after two plies.
TEST(RandomOpeningTest, EveryOpeningIsDrawn) {
  std::set<std::vector<int>> seen;
  RandomStream random(1, "opening");
  TicTacToeBoard trial;
  for (int i = 0; i < 2000; ++i) {
    TicTacToeBoard board;
    seen.insert(PlayRandomOpening(2, &board, &trial, &random));
  }
  EXPECT_EQ(seen.size(), 72u);
}

// A heap of three: after one or two taken the game may end, after which no move is quiet.
TEST(RandomOpeningTest, MovesThatEndTheGameAreNotPlayed) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    NimBoard board(3), trial(3);
    RandomStream random(seed, "opening");
    const std::vector<int> moves = PlayRandomOpening(9, &board, &trial, &random);
    EXPECT_EQ(board.heap(), 1) << seed;
    EXPECT_TRUE(moves == std::vector<int>({1}) || moves == std::vector<int>({0, 0})) << seed;
  }
}

}  // namespace
}  // namespace lzero::board_env_test
