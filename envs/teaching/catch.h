// Catch, by bsuite's rules: a ball falls one row a step through a board of 10 rows and 5 columns
// from a random column of the top row; the paddle in the bottom row starts in the middle and moves
// left, stays or moves right (0, 1, 2). After 9 steps the ball is down: 1 when the paddle is under
// it, else -1. Optimal return: 1. [bsuite/environments/catch.py; start columns are our own stream]
// Observation {1, 10, 5}: 1 at ball and paddle, else 0; with the setting `pixels` each cell is a
// square of so many, a picture of bytes.
#ifndef LZERO_ENVS_TEACHING_CATCH_H_
#define LZERO_ENVS_TEACHING_CATCH_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/env_setting.h"
#include "lzero/env/episode_env.h"

namespace lzero {

class Catch : public EpisodeEnv {
 public:
  static std::vector<EnvSetting> Settings();
  // InvalidArgument for a board whose paddle cannot reach its walls in time, a cap below the
  // length of a game, or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

  // The board: 'o' ball, '=' paddle, '*' both.
  absl::StatusOr<std::string> RenderText() const override;
  // 24 x 24 pixels a cell: the falling ball above the paddle.
  absl::StatusOr<Image> RenderRgb() const override;

 protected:
  void StartGame(uint64_t seed) override;
  Outcome Advance(const Action& action) override;
  void Observe(absl::Span<float> observation) const override;
  void SaveGame(StateWriter& writer) const override;
  absl::Status LoadGame(StateReader& reader) override;

 private:
  struct Board {
    int num_rows;
    int num_columns;
    int pixels;  // a side of a cell in the observation
  };
  Catch(EnvSpec spec, const Board& board) : EpisodeEnv(std::move(spec)), board_(board) {}
  int bottom() const { return board_.num_rows - 1; }
  // Fills the square of a cell.
  void Paint(int row, int column, absl::Span<float> observation) const;

  const Board board_;
  int ball_row_ = 0;
  int ball_column_ = 0;
  int paddle_column_ = 0;
};

}  // namespace lzero

#endif  // LZERO_ENVS_TEACHING_CATCH_H_
