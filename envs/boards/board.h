// The one concept behind all board games for two players: a position that knows its legal moves and
// its end, shows itself as planes from the mover's view, and draws itself. BoardEnv makes an
// environment of it; perft, opponents and solvers use it directly. One thread at a time.
#ifndef LZERO_ENVS_BOARDS_BOARD_H_
#define LZERO_ENVS_BOARDS_BOARD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/base/picture/image.h"
#include "lzero/env/saved_state.h"

namespace lzero {

class Board {
 public:
  virtual ~Board() = default;

  virtual std::unique_ptr<Board> Clone() const = 0;
  // Becomes the position of `other`, a board of the same game and settings.
  virtual void CopyFrom(const Board& other) = 0;

  virtual int num_actions() const = 0;
  virtual int to_play() const = 0;  // 0 or 1
  virtual bool finished() const = 0;
  virtual int winner() const = 0;            // 0, 1; -1 for a draw or an unfinished game
  virtual bool legal(int action) const = 0;  // false for every action once finished
  virtual void Play(int action) = 0;         // an illegal action is our bug
  // Sets `mask` [num_actions] to 1 where legal, else 0.
  virtual void FillLegalActions(absl::Span<uint8_t> mask) const = 0;
  // Sets `mask` likewise, and `actions` to the legal ones, the lowest first.
  void ListLegalActions(std::vector<uint8_t>& mask, std::vector<int>& actions) const {
    mask.resize(num_actions());
    FillLegalActions(absl::MakeSpan(mask));
    actions.clear();
    for (size_t action = 0; action < mask.size(); ++action) {
      if (mask[action] != 0) actions.push_back(static_cast<int>(action));
    }
  }
  // Fills `planes` [planes, rows, columns]: own stones, the other's stones, then those of the game.
  // The last is all ones when player 0 is to move, where that makes a difference.
  virtual void FillPlanes(absl::Span<float> planes) const = 0;
  // A guess of who will win an unfinished position, above -1 and below 1, from the view of the
  // player to move; 0 where the game has none.
  virtual double Estimate() const { return 0.0; }

  // How early a look-ahead should try a legal action, the highest first; 0 where the game has no
  // opinion.
  virtual int Urgency(int /*action*/) const { return 0; }

  // Rows of the board with '\n', and who is to move where that cannot be seen.
  virtual std::string ToText() const = 0;
  virtual Image ToImage() const = 0;

  virtual void Save(StateWriter& writer) const = 0;
  // InvalidArgument (nothing changed) for a position that cannot be.
  virtual absl::Status Load(StateReader& reader) = 0;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_BOARD_H_
