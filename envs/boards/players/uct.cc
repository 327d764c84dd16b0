#include "envs/boards/players/uct.h"

#include <algorithm>
#include <cmath>

#include "lzero/base/check.h"

namespace lzero {
namespace {

// Games that random players do not end, as in Go, are worth their estimate then.
constexpr int kMaxRandomPlies = 1000;

}  // namespace

UctPlayer::UctPlayer(int64_t num_simulations, uint64_t seed, double exploration)
    : num_simulations_(num_simulations), exploration_(exploration), random_(seed, "uct") {
  LZ_CHECK(num_simulations >= 1 && num_simulations <= kMaxSimulations, num_simulations,
           " simulations");
}

int UctPlayer::ChooseAction(const Board& board) {
  LZ_CHECK(!board.finished(), "a finished game\n", board.ToText());
  board_ = board.Clone();
  mask_.resize(board.num_actions());
  nodes_.assign(1, Node());
  for (int64_t i = 0; i < num_simulations_; ++i) Simulate(board);
  const std::vector<ActionStats> tried = stats();
  const auto best =
      std::max_element(tried.begin(), tried.end(), [](const ActionStats& a, const ActionStats& b) {
        return a.num_visits != b.num_visits ? a.num_visits < b.num_visits
                                            : a.mean_value < b.mean_value;
      });
  return best->action;
}

std::vector<UctPlayer::ActionStats> UctPlayer::stats() const {
  std::vector<ActionStats> tried;
  if (nodes_.empty()) return tried;
  for (int32_t child = nodes_[0].first_child; child != kNone; child = nodes_[child].next_sibling) {
    const Node& node = nodes_[child];
    tried.push_back({node.action, node.num_visits,
                     node.value_sum / static_cast<double>(std::max<int64_t>(1, node.num_visits))});
  }
  return tried;
}

void UctPlayer::Simulate(const Board& root) {
  board_->CopyFrom(root);
  Descend();
  const double value = PlayOut();
  for (const int32_t index : path_) {
    Node& node = nodes_[index];
    ++node.num_visits;
    node.value_sum += node.mover == 0 ? value : -value;
  }
}

void UctPlayer::Descend() {
  path_.assign(1, 0);
  bool is_added = false;
  while (!board_->finished() && !is_added) {
    const int32_t here = path_.back();
    int32_t next = nodes_[here].winning_child;
    if (next == kNone) {
      is_added = nodes_[here].num_legal != nodes_[here].num_children;
      next = is_added ? AddChild(here) : BestChild(here);
    }
    path_.push_back(next);
    board_->Play(nodes_[next].action);
    if (board_->finished() && board_->winner() == nodes_[next].mover) {
      nodes_[here].winning_child = next;
    }
  }
}

int32_t UctPlayer::BestChild(int32_t node) const {
  const double log_visits = std::log(static_cast<double>(nodes_[node].num_visits));
  int32_t best = kNone;
  double best_score = 0.0;
  for (int32_t i = nodes_[node].first_child; i != kNone; i = nodes_[i].next_sibling) {
    const auto visits = static_cast<double>(nodes_[i].num_visits);
    const double score =
        nodes_[i].value_sum / visits + exploration_ * std::sqrt(2.0 * log_visits / visits);
    if (best == kNone || score > best_score) {
      best = i;
      best_score = score;
    }
  }
  return best;
}

void UctPlayer::ListUntried(int32_t node) {
  board_->FillLegalActions(absl::MakeSpan(mask_));
  if (nodes_[node].num_legal == kNone) {
    nodes_[node].num_legal = static_cast<int32_t>(std::count(mask_.begin(), mask_.end(), 1));
  }
  for (int32_t i = nodes_[node].first_child; i != kNone; i = nodes_[i].next_sibling) {
    mask_[nodes_[i].action] = 0;
  }
  legal_.clear();
  for (size_t action = 0; action < mask_.size(); ++action) {
    if (mask_[action] != 0) legal_.push_back(static_cast<int>(action));
  }
}

int32_t UctPlayer::AddChild(int32_t node) {
  ListUntried(node);
  Node child;
  child.action = legal_[random_.UniformInt(static_cast<int64_t>(legal_.size()))];
  child.mover = board_->to_play();
  const auto index = static_cast<int32_t>(nodes_.size());
  Node& parent = nodes_[node];
  (parent.last_child == kNone ? parent.first_child : nodes_[parent.last_child].next_sibling) =
      index;
  parent.last_child = index;
  ++parent.num_children;
  nodes_.push_back(child);
  return index;
}

double UctPlayer::PlayOut() {
  for (int ply = 0; ply < kMaxRandomPlies && !board_->finished(); ++ply) {
    board_->FillLegalActions(absl::MakeSpan(mask_));
    legal_.clear();
    for (size_t action = 0; action < mask_.size(); ++action) {
      if (mask_[action] != 0) legal_.push_back(static_cast<int>(action));
    }
    board_->Play(legal_[random_.UniformInt(static_cast<int64_t>(legal_.size()))]);
  }
  if (!board_->finished()) {
    return board_->to_play() == 0 ? board_->Estimate() : -board_->Estimate();
  }
  return board_->winner() < 0 ? 0.0 : board_->winner() == 0 ? 1.0 : -1.0;
}

}  // namespace lzero
