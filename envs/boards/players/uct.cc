#include "envs/boards/players/uct.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "lzero/base/check.h"

namespace lzero {
namespace {

// Games that random players do not end, as in Go, are worth their estimate then.
constexpr int kMaxRandomPlies = 1000;
constexpr int32_t kNone = -1;

// The children of a node are a list, in the order in which they were added.
struct Node {
  int32_t action = 0;
  int32_t mover = 0;  // who played the action
  int32_t first_child = kNone;
  int32_t last_child = kNone;
  int32_t next_sibling = kNone;
  int32_t winning_child = kNone;  // whose action ends the game as a win
  int32_t num_children = 0;
  int32_t num_legal = kNone;  // not counted yet
  int64_t num_visits = 0;
  double value_sum = 0.0;  // for `mover`
};

// The tree of one search.
class UctTree {
 public:
  UctTree(const Board& root, double exploration, RandomStream* random)
      : root_(root),
        board_(root.Clone()),
        exploration_(exploration),
        random_(*random),
        mask_(root.num_actions()) {}

  void Simulate() {
    board_->CopyFrom(root_);
    Descend();
    const double value = PlayOut();
    for (const int32_t index : path_) {
      Node& node = nodes_[index];
      ++node.num_visits;
      node.value_sum += node.mover == 0 ? value : -value;
    }
  }

  std::vector<UctPlayer::ActionStats> Stats() const {
    std::vector<UctPlayer::ActionStats> tried;
    for (int32_t i = nodes_[0].first_child; i != kNone; i = nodes_[i].next_sibling) {
      const Node& node = nodes_[i];
      const auto num_visits = static_cast<double>(std::max<int64_t>(1, node.num_visits));
      tried.push_back({node.action, node.num_visits, node.value_sum / num_visits});
    }
    return tried;
  }

 private:
  // Selects from the root to a new node, or to the end of a game, on board_.
  void Descend() {
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
  int32_t BestChild(int32_t node) const {
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
  // A child for an action, drawn at random, that has none.
  int32_t AddChild(int32_t node) {
    board_->ListLegalActions(mask_, legal_);
    Node& parent = nodes_[node];
    parent.num_legal = static_cast<int32_t>(legal_.size());
    for (int32_t i = parent.first_child; i != kNone; i = nodes_[i].next_sibling) {
      mask_[nodes_[i].action] = 0;
    }
    std::erase_if(legal_, [this](int action) { return mask_[action] == 0; });
    Node child;
    child.action = DrawLegal();
    child.mover = board_->to_play();
    const auto index = static_cast<int32_t>(nodes_.size());
    (parent.last_child == kNone ? parent.first_child : nodes_[parent.last_child].next_sibling) =
        index;
    parent.last_child = index;
    ++parent.num_children;
    nodes_.push_back(child);
    return index;
  }
  // The value for player 0 of a game that is played on at random from board_.
  double PlayOut() {
    for (int ply = 0; ply < kMaxRandomPlies && !board_->finished(); ++ply) {
      board_->ListLegalActions(mask_, legal_);
      board_->Play(DrawLegal());
    }
    if (!board_->finished()) {
      return board_->to_play() == 0 ? board_->Estimate() : -board_->Estimate();
    }
    return board_->winner() < 0 ? 0.0 : board_->winner() == 0 ? 1.0 : -1.0;
  }
  int DrawLegal() { return legal_[random_.UniformInt(static_cast<int64_t>(legal_.size()))]; }

  const Board& root_;
  std::unique_ptr<Board> board_;
  double exploration_;
  RandomStream& random_;
  std::vector<Node> nodes_ = std::vector<Node>(1);  // the root first
  std::vector<int32_t> path_;
  std::vector<uint8_t> mask_;
  std::vector<int> legal_;
};

}  // namespace

UctPlayer::UctPlayer(int64_t num_simulations, uint64_t seed, double exploration)
    : num_simulations_(num_simulations), exploration_(exploration), random_(seed, "uct") {
  LZ_CHECK(num_simulations >= 1 && num_simulations <= kMaxSimulations, num_simulations,
           " simulations");
}

int UctPlayer::ChooseAction(const Board& board) {
  LZ_CHECK(!board.finished(), "a finished game\n", board.ToText());
  UctTree tree(board, exploration_, &random_);
  for (int64_t i = 0; i < num_simulations_; ++i) tree.Simulate();
  stats_ = tree.Stats();
  const auto best = std::max_element(
      stats_.begin(), stats_.end(), [](const ActionStats& a, const ActionStats& b) {
        return std::pair(a.num_visits, a.mean_value) < std::pair(b.num_visits, b.mean_value);
      });
  return best->action;
}

}  // namespace lzero
