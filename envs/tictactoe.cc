#include "envs/tictactoe.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "absl/strings/str_cat.h"
#include "envs/board_symmetries.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr int kNumSquares = TicTacToe::kNumSquares;
constexpr uint16_t kFull = 0x1ff;
constexpr std::array<uint16_t, 8> kLines = {0007, 0070, 0700, 0111, 0222, 0444, 0421, 0124};

bool HasLine(uint16_t stones) {
  return std::any_of(kLines.begin(), kLines.end(),
                     [stones](uint16_t line) { return (stones & line) == line; });
}

void FillObservation(const TicTacToeBoard& board, absl::Span<float> observation) {
  const int mover = board.to_play();
  for (int square = 0; square < kNumSquares; ++square) {
    const auto stone = [&](int player) {
      return (board.stones[player] >> square & 1) ? 1.0f : 0.0f;
    };
    observation[square] = stone(mover);
    observation[kNumSquares + square] = stone(1 - mover);
    observation[2 * kNumSquares + square] = mover == 0 ? 1.0f : 0.0f;
  }
}

absl::Status CheckOpenings(const EnvOptions& options) {
  const double fraction = options.random_opening_fraction;
  if (!(fraction >= 0.0 && fraction <= 1.0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("random_opening_fraction of 'tictactoe' is ", fraction, "; allowed: 0 .. 1"));
  }
  const int64_t plies = options.random_opening_plies;
  if (fraction > 0.0 && (plies < 1 || plies > kNumSquares - 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("random_opening_plies of 'tictactoe' is ", plies, "; allowed: 1 .. 8"));
  }
  return absl::OkStatus();
}

}  // namespace

int TicTacToeBoard::to_play() const {
  return (std::popcount(stones[0]) + std::popcount(stones[1])) % 2;
}

int TicTacToeBoard::winner() const { return HasLine(stones[0]) ? 0 : HasLine(stones[1]) ? 1 : -1; }

bool TicTacToeBoard::finished() const { return occupied() == kFull || winner() >= 0; }

bool TicTacToeBoard::legal(int action) const {
  return action >= 0 && action < kNumSquares && !(occupied() >> action & 1) && !finished();
}

TicTacToeBoard TicTacToeBoard::Play(int action) const {
  LZ_CHECK(legal(action), "action ", action, " on\n", ToText());
  TicTacToeBoard next = *this;
  next.stones[to_play()] |= static_cast<uint16_t>(1 << action);
  return next;
}

TimeStep TicTacToeBoard::ToTimeStep() const {
  TimeStep step;
  step.observation.resize(3 * kNumSquares);
  FillObservation(*this, absl::MakeSpan(step.observation));
  for (int action = 0; action < kNumSquares; ++action) {
    step.legal_action_mask.push_back(legal(action) ? 1 : 0);
  }
  step.to_play = to_play();
  step.terminated = finished();
  return step;
}

std::string TicTacToeBoard::ToText() const {
  std::string text;
  for (int square = 0; square < kNumSquares; ++square) {
    text += stones[0] >> square & 1 ? 'X' : stones[1] >> square & 1 ? 'O' : '.';
    if (square % 3 == 2) text += '\n';
  }
  return text;
}

absl::StatusOr<std::unique_ptr<Env>> TicTacToe::Create(const EnvOptions& options) {
  EnvSpec spec;
  spec.id = "tictactoe";
  spec.observation = {{3, 3, 3}, {0.0f}, {1.0f}};
  spec.action.num_actions = kNumSquares;
  spec.num_players = 2;
  spec.can_save = true;
  spec.symmetries = SquareBoardSymmetries(3, 3);
  LZ_RETURN_IF_ERROR(CheckNoStepCap(spec.id, options, kNumSquares));
  LZ_RETURN_IF_ERROR(CheckOpenings(options));
  return std::unique_ptr<Env>(new TicTacToe(std::move(spec), options));
}

void TicTacToe::StartGame(uint64_t seed) {
  board_ = {};
  RandomStream random(seed, "tictactoe opening");
  if (random.Uniform() < opening_fraction_) PlayRandomOpening(random);
}

void TicTacToe::PlayRandomOpening(RandomStream& random) {
  const int64_t num_plies = 1 + random.UniformInt(opening_plies_);
  for (int64_t ply = 0; ply < num_plies; ++ply) {
    std::vector<int> quiet;  // legal moves that do not end the game
    for (int action = 0; action < kNumSquares; ++action) {
      if (board_.legal(action) && !board_.Play(action).finished()) quiet.push_back(action);
    }
    if (quiet.empty()) return;
    board_ = board_.Play(quiet[random.UniformInt(static_cast<int64_t>(quiet.size()))]);
  }
}

EpisodeEnv::Outcome TicTacToe::Advance(const Action& action) {
  board_ = board_.Play(action.index);
  return {board_.winner() >= 0 ? 1.0f : 0.0f, board_.finished()};
}

void TicTacToe::Observe(absl::Span<float> observation) const {
  FillObservation(board_, observation);
}

void TicTacToe::FillLegalActions(absl::Span<uint8_t> mask) const {
  for (int action = 0; action < kNumSquares; ++action) mask[action] = board_.legal(action) ? 1 : 0;
}

void TicTacToe::SaveGame(StateWriter& writer) const {
  writer.Write(board_.stones[0]);
  writer.Write(board_.stones[1]);
}

absl::Status TicTacToe::LoadGame(StateReader& reader) {
  TicTacToeBoard board;
  board.stones[0] = reader.Read<uint16_t>();
  board.stones[1] = reader.Read<uint16_t>();
  LZ_RETURN_IF_ERROR(reader.Finish());
  const int lead = std::popcount(board.stones[0]) - std::popcount(board.stones[1]);
  const bool overlap = (board.stones[0] & board.stones[1]) != 0;
  if (board.occupied() > kFull || overlap || lead < 0 || lead > 1) {
    return reader.Impossible(absl::StrCat("stones ", board.stones[0], " and ", board.stones[1]));
  }
  board_ = board;
  return absl::OkStatus();
}

absl::StatusOr<std::string> TicTacToe::RenderText() const { return board_.ToText(); }

}  // namespace lzero
