#include "envs/boards/players/opponent_side.h"

#include <atomic>
#include <utility>

#include "envs/boards/players/opponents.h"
#include "lzero/base/check.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"

namespace lzero {

OpponentSide::OpponentSide(PlayerFactory make_player, ThreadPool* pool, std::function<bool()> stop)
    : make_player_(std::move(make_player)), pool_(pool), stop_(std::move(stop)) {}

void OpponentSide::BeginGame(int table, int64_t game, const Board& /*start*/) {
  if (static_cast<size_t>(table) >= players_.size()) players_.resize(table + 1);
  players_[table] = make_player_(game);
}

absl::StatusOr<std::vector<int>> OpponentSide::ChooseActions(absl::Span<const MatchTurn> turns) {
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

absl::StatusOr<std::unique_ptr<MatchSide>> MakeOpponentSide(const std::string& name, uint64_t seed,
                                                            ThreadPool* pool,
                                                            std::function<bool()> stop) {
  LZ_RETURN_IF_ERROR(MakeOpponent(name, seed).status());
  const auto make_player = [name, seed](int64_t game) {
    auto player = MakeOpponent(name, StreamKey(seed, "game", static_cast<uint64_t>(game)));
    LZ_CHECK(player.ok(), player.status().message());
    return *std::move(player);
  };
  return std::make_unique<OpponentSide>(make_player, pool, std::move(stop));
}

}  // namespace lzero
