#include "envs/boards/players/alpha_beta.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "lzero/base/check.h"

namespace lzero {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One look-ahead.
class LookAhead {
 public:
  LookAhead(const Board& board, size_t depth) : depth_(depth), plies_(depth + 1) {
    for (Ply& ply : plies_) ply.board = board.Clone();
    urgencies_.resize(board.num_actions());
    for (auto& weights : history_) weights.assign(board.num_actions(), 0);
  }

  AlphaBetaPlayer::Analysis Analyze() {
    OrderActions(0);
    AlphaBetaPlayer::Analysis analysis;
    analysis.value = -kInfinity;
    for (const int action : plies_[0].actions) {
      // A window that lets equal values through, so that they are exact.
      const double alpha = std::nextafter(analysis.value, -kInfinity);
      const double value = ActionValue(0, action, alpha, kInfinity);
      if (value < analysis.value) continue;
      if (value > analysis.value) analysis.best_actions.clear();
      analysis.value = value;
      analysis.best_actions.push_back(action);
    }
    analysis.num_positions = num_positions_;
    return analysis;
  }

 private:
  struct Ply {
    std::unique_ptr<Board> board;
    std::vector<uint8_t> mask;
    std::vector<int> actions;
  };

  // Fills plies_[ply].actions, the most promising first.
  void OrderActions(size_t ply) {
    Ply& here = plies_[ply];
    here.board->ListLegalActions(here.mask, here.actions);
    const std::vector<int64_t>& weights = history_[here.board->to_play()];
    for (const int action : here.actions) urgencies_[action] = here.board->Urgency(action);
    std::stable_sort(here.actions.begin(), here.actions.end(), [&](int a, int b) {
      return std::pair(urgencies_[a], weights[a]) > std::pair(urgencies_[b], weights[b]);
    });
  }
  // Value for the mover of plies_[ply].board of playing `action` there.
  double ActionValue(size_t ply, int action, double alpha, double beta) {
    const int mover = plies_[ply].board->to_play();
    Board& next = *plies_[ply + 1].board;
    next.CopyFrom(*plies_[ply].board);
    next.Play(action);
    ++num_positions_;
    if (next.finished()) {
      const int winner = next.winner();
      if (winner < 0) return 0.0;
      const double won = AlphaBetaPlayer::kWinValue - static_cast<double>(ply + 1);
      return winner == mover ? won : -won;
    }
    // A player may move twice in a row in games that skip a player who cannot.
    if (next.to_play() == mover) return Search(ply + 1, alpha, beta);
    return -Search(ply + 1, -beta, -alpha);
  }
  // Value of plies_[ply].board for its mover, exact inside (alpha, beta), else a bound.
  double Search(size_t ply, double alpha, double beta) {
    if (ply == depth_) return plies_[ply].board->Estimate();
    OrderActions(ply);
    double best = -kInfinity;
    for (const int action : plies_[ply].actions) {
      best = std::max(best, ActionValue(ply, action, std::max(alpha, best), beta));
      if (best >= beta) {
        const auto plies_left = static_cast<int64_t>(depth_ - ply);
        history_[plies_[ply].board->to_play()][action] += plies_left * plies_left;
        break;
      }
    }
    return best;
  }

  size_t depth_;
  std::vector<Ply> plies_;                       // [depth + 1]
  std::vector<int> urgencies_;                   // [num_actions], of the moves that are ordered
  std::array<std::vector<int64_t>, 2> history_;  // [player][action] weight of cut-offs
  int64_t num_positions_ = 0;
};

}  // namespace

AlphaBetaPlayer::AlphaBetaPlayer(int depth, uint64_t seed)
    : depth_(depth), random_(seed, "alpha-beta ties") {
  LZ_CHECK(depth >= 1 && depth <= kMaxDepth, "a look-ahead of ", depth, " plies");
}

AlphaBetaPlayer::Analysis AlphaBetaPlayer::Analyze(const Board& board) const {
  LZ_CHECK(!board.finished(), "a finished game\n", board.ToText());
  return LookAhead(board, static_cast<size_t>(depth_)).Analyze();
}

int AlphaBetaPlayer::ChooseAction(const Board& board) {
  const std::vector<int> best = Analyze(board).best_actions;
  return best[random_.UniformInt(static_cast<int64_t>(best.size()))];
}

}  // namespace lzero
