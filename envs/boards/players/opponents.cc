#include "envs/boards/players/opponents.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "envs/boards/players/alpha_beta.h"
#include "envs/boards/players/uct.h"
#include "lzero/base/check.h"
#include "lzero/base/nearest.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"

namespace lzero {
namespace {

constexpr char kRandom[] = "random";
constexpr char kAlphaBeta[] = "alpha_beta";
constexpr char kMcts[] = "mcts";

absl::StatusOr<int64_t> ParseStrength(const std::string& name, const std::string& kind,
                                      int64_t highest, const char* what) {
  const std::string text = name.size() > kind.size() ? name.substr(kind.size() + 1) : "";
  int64_t number = 0;
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (plain && absl::SimpleAtoi(text, &number) && number >= 1 && number <= highest) return number;
  return absl::InvalidArgumentError(absl::StrCat("player ", QuotedForMessage(name), ": ", kind,
                                                 " takes the ", what, ", 1 .. ", highest,
                                                 ", after a colon, as in ", kind, ":4"));
}

// Every legal action is equally likely.
class RandomPlayer : public Player {
 public:
  explicit RandomPlayer(uint64_t seed) : random_(seed, "random player") {}

  int ChooseAction(const Board& board) override {
    board.ListLegalActions(mask_, actions_);
    return actions_.at(random_.UniformInt(static_cast<int64_t>(actions_.size())));
  }

 private:
  RandomStream random_;
  std::vector<uint8_t> mask_;
  std::vector<int> actions_;
};

class PlayerSide : public MatchSide {
 public:
  PlayerSide(PlayerFactory make_player, ThreadPool* pool, std::function<bool()> stop)
      : make_player_(std::move(make_player)), pool_(pool), stop_(std::move(stop)) {}

  void BeginGame(int table, int64_t game, const Board& /*start*/) override {
    if (static_cast<size_t>(table) >= players_.size()) players_.resize(table + 1);
    players_[table] = make_player_(game);
  }
  void OnMove(int /*table*/, int /*action*/, const Board& /*board*/) override {}
  absl::StatusOr<std::vector<int>> ChooseActions(absl::Span<const MatchTurn> turns) override {
    std::vector<int> actions(turns.size());
    std::atomic<bool> is_stopped{false};
    pool_->Run(static_cast<int64_t>(turns.size()), [&](int64_t i) {
      if (is_stopped.load() || (stop_ && stop_())) {
        is_stopped = true;
        return;
      }
      actions[i] = players_[turns[i].table]->ChooseAction(*turns[i].board);
    });
    if (is_stopped.load()) return absl::CancelledError("the match was stopped");
    return actions;
  }

 private:
  PlayerFactory make_player_;
  ThreadPool* pool_;
  std::function<bool()> stop_;
  std::vector<std::unique_ptr<Player>> players_;  // by table
};

}  // namespace

const std::vector<std::string>& OpponentKinds() {
  static const auto* kinds = new std::vector<std::string>{kRandom, kAlphaBeta, kMcts};
  return *kinds;
}

absl::StatusOr<std::unique_ptr<Player>> MakeOpponent(const std::string& name, uint64_t seed) {
  const std::string kind = name.substr(0, name.find(':'));
  if (kind == kRandom) {
    if (name == kRandom) return std::make_unique<RandomPlayer>(seed);
    return absl::InvalidArgumentError(
        absl::StrCat("player ", QuotedForMessage(name), ": random takes nothing after it"));
  }
  if (kind == kAlphaBeta) {
    LZ_ASSIGN_OR_RETURN(const int64_t depth, ParseStrength(name, kind, AlphaBetaPlayer::kMaxDepth,
                                                           "plies of its look-ahead"));
    return std::make_unique<AlphaBetaPlayer>(static_cast<int>(depth), seed);
  }
  if (kind == kMcts) {
    LZ_ASSIGN_OR_RETURN(
        const int64_t simulations,
        ParseStrength(name, kind, UctPlayer::kMaxSimulations, "simulations a move"));
    return std::make_unique<UctPlayer>(simulations, seed);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no player ", QuotedForMessage(name), DidYouMean(kind, OpponentKinds()),
                   " (known: random, alpha_beta:PLIES, mcts:SIMULATIONS)"));
}

std::unique_ptr<MatchSide> MakePlayerSide(PlayerFactory make_player, ThreadPool* pool,
                                          std::function<bool()> stop) {
  return std::make_unique<PlayerSide>(std::move(make_player), pool, std::move(stop));
}

absl::StatusOr<std::unique_ptr<MatchSide>> MakeOpponentSide(const std::string& name, uint64_t seed,
                                                            ThreadPool* pool,
                                                            std::function<bool()> stop) {
  LZ_RETURN_IF_ERROR(MakeOpponent(name, seed).status());
  const auto make_player = [name, seed](int64_t game) {
    auto player = MakeOpponent(name, StreamKey(seed, "game", static_cast<uint64_t>(game)));
    LZ_CHECK(player.ok(), player.status().message());
    return *std::move(player);
  };
  return MakePlayerSide(make_player, pool, std::move(stop));
}

}  // namespace lzero
