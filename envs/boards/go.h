// Go on 5 x 5 to 19 x 19 points, by area scoring. Action = row * size + column, row 0 at the
// bottom; size * size = pass. No suicide, simple ko, and one of two rules for longer cycles
// (below). Two passes end the game, and so does its 2 * size * size-th move, as in OpenSpiel: then
// the larger area wins, player 1 (white) having `komi` points more. Player 0 is black and begins.
// One thread at a time.
#ifndef LZERO_ENVS_BOARDS_GO_H_
#define LZERO_ENVS_BOARDS_GO_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "envs/boards/board.h"
#include "envs/boards/go_position.h"
#include "envs/boards/position_history.h"

namespace lzero {

// A move that recreates an earlier position of the whole board, whoever was to move then:
enum class Superko {
  kDraw,       // ends the game as a draw (OpenSpiel); simple ko is illegal
  kPositional  // is illegal, simple ko among them
};

struct GoRules {
  int size = 9;
  double komi = 7.5;
  Superko superko = Superko::kDraw;

  friend bool operator==(const GoRules&, const GoRules&) = default;
};

class GoBoard final : public Board {
 public:
  static constexpr int kMinSize = 5;
  static constexpr int kMaxSize = GoPosition::kMaxSize;
  // Own stones, the other's, points that ko forbids, all ones after a pass, and when black is to
  // move. Rows as in actions.
  static constexpr int kNumPlanes = 5;

  explicit GoBoard(const GoRules& rules);

  const GoRules& rules() const { return rules_; }
  const GoPosition& position() const { return position_; }
  const std::vector<uint16_t>& moves() const { return moves_; }
  int pass() const { return position_.num_points(); }
  int longest_game() const { return 2 * position_.num_points(); }
  // The area of player 0 minus that of player 1 and komi.
  double Score() const { return position_.AreaLead() - rules_.komi; }

  std::unique_ptr<Board> Clone() const override { return std::make_unique<GoBoard>(*this); }
  void CopyFrom(const Board& other) override { *this = static_cast<const GoBoard&>(other); }
  int num_actions() const override { return pass() + 1; }
  int to_play() const override { return static_cast<int>(moves_.size() % 2); }
  bool finished() const override { return finished_; }
  int winner() const override { return winner_; }
  bool legal(int action) const override {
    if (finished_ || action < 0 || action > pass()) return false;
    return action == pass() || (position_.CanPlace(to_play(), action) && !IsForbiddenByKo(action));
  }
  void Play(int action) override;
  void FillLegalActions(absl::Span<uint8_t> mask) const override;
  void FillPlanes(absl::Span<float> planes) const override;
  // The score with every free point given to the player with the nearer stone.
  double Estimate() const override;
  // Rows of 'X' (black), 'O' and '.' with coordinates, row 1 at the bottom, then whose turn it is
  // or how the game ended.
  std::string ToText() const override;
  Image ToImage() const override;
  // The rules and all moves: every rule about repetition needs the positions before.
  void Save(StateWriter& writer) const override {
    writer.Write(static_cast<uint8_t>(rules_.size));
    writer.Write(rules_.komi);
    writer.Write(rules_.superko == Superko::kPositional);
    writer.WriteVector(moves_);
  }
  // Plays the moves anew; refuses other rules and illegal moves.
  absl::Status Load(StateReader& reader) override;

 private:
  // Whether a rule about repetition forbids a stone on `point`, where one can be placed.
  bool IsForbiddenByKo(int point) const {
    if (rules_.superko == Superko::kDraw) return point == position_.ko_point();
    return history_.Contains(position_.HashAfter(to_play(), point));
  }
  void FillForbiddenByKo(absl::Span<float> plane) const;
  bool last_was_pass() const { return !moves_.empty() && moves_.back() == pass(); }
  std::string StatusLine() const;

  GoRules rules_;
  GoPosition position_;
  PositionHistory history_;  // after each stone; the empty board never comes back
  std::vector<uint16_t> moves_;
  bool finished_ = false;
  int winner_ = -1;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_GO_H_
