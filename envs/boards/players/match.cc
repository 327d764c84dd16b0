#include "envs/boards/players/match.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

// The positions in which pairs begin.
class OpeningBook {
 public:
  OpeningBook(BoardEnv* env, const MatchPlan& plan)
      : env_(env),
        plan_(plan),
        start_(env->start().Clone()),
        position_(env->start().Clone()),
        trial_(env->start().Clone()) {}

  // Draws the opening of the next pair, a new one where the game still has one.
  void Draw(uint64_t pair) {
    const uint64_t first_seed = StreamKey(plan_.seed, "match opening", pair);
    for (uint64_t draw = 0; draw < most_draws_; ++draw) {
      const uint64_t seed = draw == 0 ? first_seed : StreamKey(first_seed, "again", draw);
      env_->Reset(seed);
      start_->CopyFrom(env_->board());
      position_->CopyFrom(*start_);
      RandomStream random(seed, "moves");
      moves_ = PlayRandomOpening(plan_.opening_plies, position_.get(), trial_.get(), &random);
      if (seen_.insert(position_->ToText()).second) return;
    }
    most_draws_ = 1;  // there are hardly any left
  }

  const Board& start() const { return *start_; }
  const std::vector<int>& moves() const { return moves_; }
  int64_t num_positions() const { return static_cast<int64_t>(seen_.size()); }

 private:
  BoardEnv* env_;
  const MatchPlan& plan_;
  std::unique_ptr<Board> start_;     // as env.Reset gave it
  std::vector<int> moves_;           // from there
  std::unique_ptr<Board> position_;  // after them
  std::unique_ptr<Board> trial_;
  std::set<std::string> seen_;
  uint64_t most_draws_ = 100;
};

class Match {
 public:
  Match(BoardEnv* env, MatchSide* first, MatchSide* second, const MatchPlan& plan)
      : plan_(plan), sides_{first, second}, book_(env, plan), half_points_(plan.num_games, kOpen) {
    for (int i = 0; i < plan.num_tables && i < plan.num_games; ++i) {
      tables_.emplace_back().board = env->start().Clone();
    }
  }

  absl::StatusOr<MatchResult> Play(const std::function<bool(const MatchResult&)>& watch) {
    for (size_t i = 0; i < tables_.size(); ++i) BeginGame(static_cast<int>(i));
    while (num_ended_ < plan_.num_games) {
      for (int side = 0; side < 2; ++side) {
        if (watch && watch(result_)) return Stopped();
        const absl::Status moved = MoveAll(side);
        if (absl::IsCancelled(moved)) return Stopped();
        LZ_RETURN_IF_ERROR(moved);
      }
    }
    return result_;
  }

 private:
  static constexpr int kOpen = -1;  // a game without a result

  struct Table {
    std::unique_ptr<Board> board;
    int64_t game = -1;      // -1: none any more
    std::string record;     // colors, start and moves, as text
    int64_t num_plies = 0;  // those of the opening not counted
    int color_of_first() const { return static_cast<int>(game % 2); }
  };

  MatchResult Stopped() {
    result_.is_stopped = true;
    return result_;
  }

  void BeginGame(int index) {
    Table& table = tables_[index];
    table.num_plies = 0;
    table.game = next_game_ < plan_.num_games ? next_game_++ : -1;
    if (table.game < 0) return;
    if (table.game % 2 == 0) book_.Draw(static_cast<uint64_t>(table.game / 2));
    result_.num_openings = book_.num_positions();
    table.board->CopyFrom(book_.start());
    table.record = absl::StrCat(table.color_of_first(), "\n", table.board->ToText());
    for (MatchSide* side : sides_) side->BeginGame(index, table.game, *table.board);
    for (const int action : book_.moves()) PlayMove(index, action);
  }

  void PlayMove(int index, int action) {
    Board& board = *tables_[index].board;
    LZ_CHECK(board.legal(action), "action ", action, " on\n", board.ToText());
    board.Play(action);
    absl::StrAppend(&tables_[index].record, " ", action);
    for (MatchSide* side : sides_) side->OnMove(index, action, board);
  }

  // One move of this side at every table where it is its turn.
  absl::Status MoveAll(int side) {
    turns_.clear();
    for (size_t i = 0; i < tables_.size(); ++i) {
      const Table& table = tables_[i];
      if (table.game < 0) continue;
      const int color = side == 0 ? table.color_of_first() : 1 - table.color_of_first();
      if (table.board->to_play() == color) {
        turns_.push_back({static_cast<int>(i), table.board.get()});
      }
    }
    if (turns_.empty()) return absl::OkStatus();
    LZ_ASSIGN_OR_RETURN(const std::vector<int> actions, sides_[side]->ChooseActions(turns_));
    LZ_CHECK(actions.size() == turns_.size(), actions.size(), " actions for ", turns_.size());
    for (size_t i = 0; i < turns_.size(); ++i) {
      PlayMove(turns_[i].table, actions[i]);
      ++tables_[turns_[i].table].num_plies;
      if (turns_[i].board->finished()) EndGame(turns_[i].table);
    }
    return absl::OkStatus();
  }

  void EndGame(int index) {
    const Table& table = tables_[index];
    const int winner = table.board->winner();
    MatchScore& score = result_.by_color[table.color_of_first()];
    ++(winner < 0 ? score.draws : winner == table.color_of_first() ? score.wins : score.losses);
    half_points_[table.game] = winner < 0 ? 1 : winner == table.color_of_first() ? 2 : 0;
    ++num_ended_;
    result_.num_plies += table.num_plies;
    games_.insert(table.record);
    result_.num_different_games = static_cast<int64_t>(games_.size());
    const int64_t partner = table.game ^ 1;
    if (partner < plan_.num_games && half_points_[partner] != kOpen) {
      ++result_.pairs[half_points_[table.game] + half_points_[partner]];
    }
    BeginGame(index);
  }

  const MatchPlan& plan_;
  std::array<MatchSide*, 2> sides_;
  OpeningBook book_;
  std::vector<Table> tables_;
  std::vector<int> half_points_;  // by game, of the first side
  std::set<std::string> games_;   // records of those that have ended
  int64_t next_game_ = 0;
  int64_t num_ended_ = 0;
  std::vector<MatchTurn> turns_;
  MatchResult result_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BoardEnv>> MakeMatchEnv(const EnvRegistry& registry,
                                                       const std::string& id,
                                                       const EnvOptions& options,
                                                       int64_t opening_plies) {
  LZ_ASSIGN_OR_RETURN(std::unique_ptr<Env> env, registry.Make(id, options));
  auto* board_env = dynamic_cast<BoardEnv*>(env.get());
  if (board_env == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("environment '", id, "' is no board game for two players"));
  }
  const int64_t longest = env->spec().longest_episode;
  if (opening_plies >= longest) {
    return absl::InvalidArgumentError(
        absl::StrCat("got ", opening_plies, " opening plies, but a game of ", id,
                     " is over after at most ", longest, "; allowed: 0 .. ", longest - 1));
  }
  env.release();
  return std::unique_ptr<BoardEnv>(board_env);
}

absl::StatusOr<MatchResult> PlayMatch(BoardEnv& env, MatchSide& first, MatchSide& second,
                                      const MatchPlan& plan,
                                      const std::function<bool(const MatchResult&)>& watch) {
  LZ_CHECK(plan.num_games >= 1, "a match of ", plan.num_games, " games");
  LZ_CHECK(plan.num_tables >= 1, "a match on ", plan.num_tables, " tables");
  return Match(&env, &first, &second, plan).Play(watch);
}

}  // namespace lzero
