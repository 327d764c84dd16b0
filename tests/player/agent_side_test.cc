// An agent in a match sees at its roots what has been played in that game, whoever played it.
#include "lzero/player/agent_side.h"

#include "envs/boards/players/match.h"
#include "envs/boards/players/opponents.h"
#include "envs/boards/tictactoe.h"
#include "envs/entries.h"
#include "gtest/gtest.h"
#include "lzero/mcts/search.h"
#include "tests/worker/worker_testing.h"

namespace lzero::agent_side_test {
namespace {

constexpr int64_t kMaxPast = 3;
constexpr int kNumActions = 9;
constexpr int64_t kObservationSize = 27;

// An evaluator of Tic-Tac-Toe with everything it needs.
struct Games {
  explicit Games(int num_envs = 2) : model({kNumActions, 1.0f, -1.0f}) {
    std::vector<std::unique_ptr<Env>> envs;
    for (int i = 0; i < num_envs; ++i) envs.push_back(*TicTacToeEntry().factory(EnvOptions{}));
    SearchConfig config;
    config.num_simulations = 8;
    evaluator = std::make_unique<Evaluator>(
        kMaxPast, /*discount=*/1.0, VectorEnv::Create(std::move(envs), &pool).value(),
        std::make_unique<Agent>(Search::Create(config, kNumActions, num_envs).value(),
                                AgentOptions{3, true}),
        &model);
  }

  ThreadPool pool{1};
  ShownModel model;
  std::unique_ptr<Evaluator> evaluator;
};

std::vector<float> PlanesOf(const Board& board) {
  std::vector<float> planes(kObservationSize);
  board.FillPlanes(absl::MakeSpan(planes));
  return planes;
}

// Plays `moves` at `table` from the start on, and tells the side.
TicTacToeBoard PlayAt(int table, const std::vector<int>& moves, MatchSide* side) {
  TicTacToeBoard board;
  side->BeginGame(table, 0, board);
  for (const int move : moves) {
    board.Play(move);
    side->OnMove(table, move, board);
  }
  return board;
}

void ExpectRoot(const SeenRoot& root, const std::vector<int>& moves) {
  TicTacToeBoard board;
  std::vector<std::vector<float>> shown = {PlanesOf(board)};
  for (const int move : moves) {
    board.Play(move);
    shown.push_back(PlanesOf(board));
  }
  const size_t num_past = std::min<size_t>(moves.size(), kMaxPast);
  std::vector<float> observations;
  for (size_t t = shown.size() - 1 - num_past; t < shown.size(); ++t) {
    observations.insert(observations.end(), shown[t].begin(), shown[t].end());
  }
  EXPECT_EQ(root.observations, observations);
  EXPECT_EQ(root.actions, std::vector<int32_t>(moves.end() - num_past, moves.end()));
  EXPECT_EQ(root.step, static_cast<int64_t>(moves.size()));
  EXPECT_EQ(root.to_play, static_cast<int>(moves.size() % 2));
  for (int action = 0; action < kNumActions; ++action) {
    EXPECT_EQ(root.legal_action_mask[action], board.legal(action) ? 1 : 0);
  }
  // For models that search in the environment itself: it goes on from the position.
  const auto env = TicTacToeEntry().factory({}).value();
  ASSERT_TRUE(env->Load(root.state).ok());
  const int next = board.legal(7) ? 7 : 8;
  board.Play(next);
  EXPECT_EQ(env->Step(Action::Discrete(next))->observation, PlanesOf(board));
}

TEST(AgentSideTest, RootsKnowTheMovesOfBothSides) {
  for (const bool with_search : {true, false}) {
    Games games;
    AgentSide side(games.evaluator.get(), with_search);
    const std::vector<std::vector<int>> moves = {{4, 0, 8, 2, 1}, {}, {3, 5}};
    std::vector<TicTacToeBoard> boards;
    std::vector<MatchTurn> turns;
    for (int table = 0; table < 3; ++table) boards.push_back(PlayAt(table, moves[table], &side));
    for (int table = 0; table < 3; ++table) turns.push_back({table, &boards[table]});
    const auto actions = side.ChooseActions(turns);
    ASSERT_TRUE(actions.ok()) << actions.status();
    ASSERT_EQ(games.model.seen.size(), 3u);
    for (int table = 0; table < 3; ++table) {
      ExpectRoot(games.model.seen[table], moves[table]);
      EXPECT_TRUE(boards[table].legal(actions->at(table)));
    }
    // Another game at the table: nothing is left of the one before.
    const TicTacToeBoard again = PlayAt(0, {6}, &side);
    ASSERT_TRUE(side.ChooseActions({{0, &again}}).ok());
    ExpectRoot(games.model.seen.back(), {6});
  }
}

TEST(AgentSideTest, ThePolicyAloneTakesTheLargestLegalLogit) {
  Games games;
  AgentSide side(games.evaluator.get(), false);
  const TicTacToeBoard board = PlayAt(0, {4, 0}, &side);
  const std::vector<float> logits = games.model.Logits(PlanesOf(board));
  int best = 1;
  for (int action = 0; action < kNumActions; ++action) {
    if (board.legal(action) && logits[action] > logits[best]) best = action;
  }
  EXPECT_EQ(side.ChooseActions({{0, &board}})->at(0), best);
}

TEST(AgentSideTest, AnErrorOfTheModelReachesTheMatch) {
  Games games;
  games.model.failure = absl::UnavailableError("no model today");
  AgentSide agent(games.evaluator.get(), true);
  const auto random = MakeOpponentSide("random", 0, &games.pool);
  const auto env = TicTacToeEntry().factory({});
  const auto result = PlayMatch(dynamic_cast<BoardEnv&>(**env), agent, **random, MatchPlan());
  EXPECT_NE(result.status().message().find("no model today"), absl::string_view::npos);
}

// Between two agents the openings alone decide; tables abreast do not.
TEST(AgentSideTest, MatchesOfAgentsDependOnTheOpeningsAlone) {
  const auto play = [](uint64_t seed, int num_tables) {
    Games a(5), b(3);
    AgentSide first(a.evaluator.get(), true), second(b.evaluator.get(), false);
    const auto env = TicTacToeEntry().factory({});
    MatchPlan plan = {40, seed, 2, num_tables};
    const auto result = PlayMatch(dynamic_cast<BoardEnv&>(**env), first, second, plan);
    EXPECT_TRUE(result.ok()) << result.status();
    return std::vector<int64_t>{result->by_color[0].wins, result->by_color[0].losses,
                                result->by_color[1].wins, result->by_color[1].losses,
                                result->num_plies};
  };
  EXPECT_EQ(play(1, 7), play(1, 7));
  EXPECT_EQ(play(1, 7), play(1, 40));
  EXPECT_NE(play(1, 7), play(2, 7));
}

}  // namespace
}  // namespace lzero::agent_side_test
