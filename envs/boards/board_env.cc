#include "envs/boards/board_env.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

absl::Status CheckOpenings(const std::string& id, const EnvOptions& options, int64_t max_plies) {
  const double fraction = options.random_opening_fraction;
  if (!(fraction >= 0.0 && fraction <= 1.0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("random_opening_fraction of '", id, "' is ", fraction, "; allowed: 0 .. 1"));
  }
  const int64_t plies = options.random_opening_plies;
  if (fraction > 0.0 && (plies < 1 || plies > max_plies - 1)) {
    return absl::InvalidArgumentError(absl::StrCat("random_opening_plies of '", id, "' is ", plies,
                                                   "; allowed: 1 .. ", max_plies - 1));
  }
  return absl::OkStatus();
}

// Where actions are the cells, or the cells and a pass; nothing for other games.
std::vector<int32_t> StonePlaces(const EnvSpec& spec) {
  if (spec.observation.shape.size() != 3) return {};
  const int64_t cells = spec.observation.shape[1] * spec.observation.shape[2];
  const int64_t num_others = spec.action.num_actions - cells;
  if (num_others != 0 && num_others != 1) return {};
  std::vector<int32_t> places(static_cast<size_t>(cells));
  std::iota(places.begin(), places.end(), 0);
  places.resize(static_cast<size_t>(spec.action.num_actions), -1);
  return places;
}

// One position and its legal moves for each ply of the walk below.
struct PerftPly {
  std::unique_ptr<Board> board;
  std::vector<uint8_t> mask;
};

void CountFrom(std::vector<PerftPly>& plies, size_t ply, absl::Span<int64_t> counts) {
  PerftPly& here = plies[ply];
  here.board->FillLegalActions(absl::MakeSpan(here.mask));
  counts[ply] += std::accumulate(here.mask.begin(), here.mask.end(), 0);
  if (ply + 1 == counts.size()) return;
  for (size_t action = 0; action < here.mask.size(); ++action) {
    if (here.mask[action] == 0) continue;
    plies[ply + 1].board->CopyFrom(*here.board);
    plies[ply + 1].board->Play(static_cast<int>(action));
    CountFrom(plies, ply + 1, counts);
  }
}

}  // namespace

BoardEnv::BoardEnv(EnvSpec spec, const EnvOptions& options, std::unique_ptr<Board> start)
    : EpisodeEnv(std::move(spec)),
      start_(std::move(start)),
      board_(start_->Clone()),
      trial_(start_->Clone()),
      opening_fraction_(options.random_opening_fraction),
      opening_plies_(options.random_opening_plies),
      opening_stream_(absl::StrCat(this->spec().id, " opening")) {}

void BoardEnv::StartGame(uint64_t seed) {
  board_->CopyFrom(*start_);
  if (opening_fraction_ == 0.0) return;
  RandomStream random(seed, opening_stream_);
  if (random.Uniform() >= opening_fraction_) return;
  const int64_t num_plies = 1 + random.UniformInt(opening_plies_);
  PlayRandomOpening(num_plies, board_.get(), trial_.get(), &random);
}

void BoardEnv::CountMoves(absl::Span<int64_t> counts) const {
  std::vector<PerftPly> plies(counts.size());
  for (PerftPly& ply : plies) {
    ply.board = board_->Clone();
    ply.mask.resize(board_->num_actions());
  }
  CountFrom(plies, 0, counts);
}

absl::StatusOr<std::unique_ptr<Env>> MakeBoardEnv(EnvSpec spec, const EnvOptions& options,
                                                  std::unique_ptr<Board> start, int64_t max_plies) {
  LZ_CHECK(start != nullptr && !start->finished(), "a start position of '", spec.id, "'");
  LZ_CHECK(max_plies >= 1, "games of '", spec.id, "' last ", max_plies, " plies");
  LZ_RETURN_IF_ERROR(CheckNoStepCap(spec.id, options, max_plies));
  LZ_RETURN_IF_ERROR(CheckOpenings(spec.id, options, max_plies));
  if (spec.observation.low.empty()) spec.observation.low = {0.0f};
  if (spec.observation.high.empty()) spec.observation.high = {1.0f};
  spec.action.kind = ActionKind::kDiscrete;
  spec.action.num_actions = start->num_actions();
  if (spec.action.places.empty()) spec.action.places = StonePlaces(spec);
  spec.num_players = 2;
  spec.longest_episode = max_plies;
  spec.can_save = true;
  return std::make_unique<BoardEnv>(std::move(spec), options, std::move(start));
}

TimeStep TimeStepOf(const Board& board, int64_t observation_size) {
  TimeStep step;
  step.observation.resize(observation_size);
  board.FillPlanes(absl::MakeSpan(step.observation));
  step.legal_action_mask.resize(board.num_actions());
  board.FillLegalActions(absl::MakeSpan(step.legal_action_mask));
  step.to_play = board.to_play();
  step.terminated = board.finished();
  return step;
}

std::string StateOf(const Board& board, const std::string& id) {
  LZ_CHECK(!board.finished(), "a finished game of ", id);
  return EpisodeEnv::RunningState(id, [&](StateWriter& writer) { board.Save(writer); });
}

std::vector<int> PlayRandomOpening(int64_t num_plies, Board* board, Board* trial,
                                   RandomStream* random) {
  std::vector<int> moves;
  std::vector<int> quiet;  // legal moves that do not end the game
  for (int64_t ply = 0; ply < num_plies; ++ply) {
    quiet.clear();
    for (int action = 0; action < board->num_actions(); ++action) {
      if (!board->legal(action)) continue;
      trial->CopyFrom(*board);
      trial->Play(action);
      if (!trial->finished()) quiet.push_back(action);
    }
    if (quiet.empty()) return moves;
    moves.push_back(quiet[random->UniformInt(static_cast<int64_t>(quiet.size()))]);
    board->Play(moves.back());
  }
  return moves;
}

}  // namespace lzero
