#include "lzero/player/agent_side.h"

#include "envs/boards/board_env.h"
#include "lzero/base/status_macros.h"

namespace lzero {

TimeStep AgentSide::ShownOf(const Board& board) const {
  return TimeStepOf(board, evaluator_->spec().observation.size());
}

void AgentSide::BeginGame(int table, int64_t /*game*/, const Board& start) {
  const EpisodeTracker unused(evaluator_->max_past_steps(), evaluator_->spec().observation.size());
  if (static_cast<size_t>(table) >= trackers_.size()) trackers_.resize(table + 1, unused);
  trackers_[table].Begin(ShownOf(start).observation);
}

void AgentSide::OnMove(int table, int action, const Board& board) {
  trackers_[table].Add(action, {}, ShownOf(board).observation);
}

absl::StatusOr<std::vector<int>> AgentSide::ChooseActions(absl::Span<const MatchTurn> turns) {
  std::vector<TimeStep> shown;  // what roots point into
  for (const MatchTurn& turn : turns) {
    shown.push_back(ShownOf(*turn.board));
    shown.back().state = StateOf(*turn.board, evaluator_->spec().id);
  }
  std::vector<Root> roots;
  for (size_t i = 0; i < turns.size(); ++i) {
    roots.push_back(trackers_[turns[i].table].MakeRoot(EnvId(0), shown[i]));
  }
  LZ_ASSIGN_OR_RETURN(const std::vector<int32_t> actions,
                      evaluator_->ChooseRootActions(roots, with_search_));
  return std::vector<int>(actions.begin(), actions.end());
}

}  // namespace lzero
