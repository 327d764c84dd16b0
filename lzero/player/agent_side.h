// A checkpoint's agent as one side of a match: greedy moves, all games of a turn in one batch, at
// roots that know the past of their game, moves of the other side and of the opening included. One
// thread.
#ifndef LZERO_PLAYER_AGENT_SIDE_H_
#define LZERO_PLAYER_AGENT_SIDE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "envs/boards/players/match.h"
#include "lzero/env/env.h"
#include "lzero/worker/episode_tracker.h"
#include "lzero/worker/evaluator.h"

namespace lzero {

class AgentSide : public MatchSide {
 public:
  // `evaluator` must play the same game and outlive the side. Without `with_search` the policy head
  // alone chooses the moves.
  AgentSide(Evaluator* evaluator, bool with_search)
      : evaluator_(evaluator), with_search_(with_search) {}

  void BeginGame(int table, int64_t game, const Board& start) override;
  void OnMove(int table, int action, const Board& board) override;
  absl::StatusOr<std::vector<int>> ChooseActions(absl::Span<const MatchTurn> turns) override;

 private:
  TimeStep ShownOf(const Board& board) const;

  Evaluator* evaluator_;
  bool with_search_;
  std::vector<EpisodeTracker> trackers_;  // by table
};

}  // namespace lzero

#endif  // LZERO_PLAYER_AGENT_SIDE_H_
