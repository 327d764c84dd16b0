#include "envs/boards/players/alpha_beta.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lzero/base/check.h"

namespace lzero {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

AlphaBetaPlayer::AlphaBetaPlayer(int depth, uint64_t seed)
    : depth_(static_cast<size_t>(depth)), random_(seed, "alpha-beta ties") {
  LZ_CHECK(depth >= 1 && depth <= kMaxDepth, "a look-ahead of ", depth, " plies");
}

void AlphaBetaPlayer::Prepare(const Board& board) {
  plies_.clear();  // another game may have been looked at before
  plies_.resize(depth_ + 1);
  for (Ply& ply : plies_) {
    ply.board = board.Clone();
    ply.mask.resize(board.num_actions());
  }
  for (auto& weights : history_) weights.assign(board.num_actions(), 0);
  num_positions_ = 0;
}

void AlphaBetaPlayer::OrderActions(size_t ply) {
  Ply& here = plies_[ply];
  here.board->FillLegalActions(absl::MakeSpan(here.mask));
  here.actions.clear();
  for (size_t action = 0; action < here.mask.size(); ++action) {
    if (here.mask[action] != 0) here.actions.push_back(static_cast<int>(action));
  }
  const std::vector<int64_t>& weights = history_[here.board->to_play()];
  std::stable_sort(here.actions.begin(), here.actions.end(),
                   [&](int a, int b) { return weights[a] > weights[b]; });
}

double AlphaBetaPlayer::ActionValue(size_t ply, int action, double alpha, double beta) {
  const int mover = plies_[ply].board->to_play();
  Board& next = *plies_[ply + 1].board;
  next.CopyFrom(*plies_[ply].board);
  next.Play(action);
  ++num_positions_;
  if (next.finished()) {
    const int winner = next.winner();
    if (winner < 0) return 0.0;
    const double won = kWinValue - static_cast<double>(ply + 1);
    return winner == mover ? won : -won;
  }
  // A player may move twice in a row in games that skip a player who cannot.
  if (next.to_play() == mover) return Search(ply + 1, alpha, beta);
  return -Search(ply + 1, -beta, -alpha);
}

double AlphaBetaPlayer::Search(size_t ply, double alpha, double beta) {
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

AlphaBetaPlayer::Analysis AlphaBetaPlayer::Analyze(const Board& board) {
  LZ_CHECK(!board.finished(), "a finished game\n", board.ToText());
  Prepare(board);
  OrderActions(0);
  Analysis analysis;
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

int AlphaBetaPlayer::ChooseAction(const Board& board) {
  const std::vector<int> best = Analyze(board).best_actions;
  return best[random_.UniformInt(static_cast<int64_t>(best.size()))];
}

}  // namespace lzero
