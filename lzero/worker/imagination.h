// Whether a model sees in its imagination what the rules of a game for two players say: of moves
// after paths of one to a few imagined steps, which win at once; what is worth a game that is over;
// and how much policy it gives to moves that are illegal there. Positions are those of random
// games, at every ply. One thread.
#ifndef LZERO_WORKER_IMAGINATION_H_
#define LZERO_WORKER_IMAGINATION_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/env/env.h"
#include "lzero/worker/evaluator.h"

namespace lzero {

// Moves that are the d-th imagined step behind a position: d = 1 the mover's own, d = 2 replies.
// A move is foretold to win where its imagined reward is above one half.
struct ImaginedMoves {
  int64_t num_moves = 0;         // legal ones, all that there are behind the path
  int64_t num_wins = 0;          // of them, those that win at once
  int64_t num_found = 0;         // wins foretold
  int64_t num_false_alarms = 0;  // other moves that are foretold to win
  int64_t num_nodes = 0;         // where they begin
  double illegal_policy = 0.0;   // mean over those nodes of the policy on illegal moves
  double value_behind = 0.0;     // mean size of the value behind wins, where the game is over: 0

  double recall() const;            // of wins; 1 where there are none
  double false_alarm_rate() const;  // of other moves
};

struct ImaginationReport {
  int64_t num_positions = 0;
  std::vector<ImaginedMoves> depths;  // [max_depth]
};

// Moves at depths 1 .. `max_depth` behind every position of one random game for each of `seeds`.
// Roots know as much of their past as those of the evaluator. `evaluator` must be made for searches
// of ImaginedNodes(num_actions, max_depth) simulations. `stop` is polled between batches: Cancelled
// when it becomes true. FailedPrecondition for a game of one player, for chance, and for sampled
// actions; Unimplemented where the environment cannot be saved.
absl::StatusOr<ImaginationReport> MeasureImagination(Evaluator& evaluator,
                                                     const EnvFactory& make_env,
                                                     absl::Span<const uint64_t> seeds,
                                                     int max_depth,
                                                     const std::function<bool()>& stop = {});
int64_t ImaginedNodes(int64_t num_actions, int max_depth);

}  // namespace lzero

#endif  // LZERO_WORKER_IMAGINATION_H_
