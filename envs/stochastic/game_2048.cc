// 2048 on a 4x4 board. Actions: 0 up, 1 right, 2 down, 3 left; a move that changes nothing is
// illegal, and the game ends when no move is left. Reward: the sum of the tiles that the move made
// by merging, so that the return is the usual score. There is no end at a largest tile.
// Observation {16, 4, 4}: plane 0 marks empty squares, plane k tiles 2^k; tiles above 2^15 are in
// plane 15 as well. [LightZero zoo/game_2048: the same actions, planes and raw reward]
// Chance: after the move one empty square, all equally likely, gets a 2 (90 %) or a 4 (10 %):
// outcome = (row * 4 + column) * 2, plus 1 for a 4. The start, two such tiles, comes from the seed.
#include "envs/stochastic/game_2048.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "envs/boards/board_symmetries.h"
#include "envs/entries.h"
#include "envs/support/canvas.h"
#include "lzero/base/rng.h"
#include "lzero/env/episode_env.h"

namespace lzero {
namespace {

constexpr int kSize = Board2048::kSize;
constexpr int kNumSquares = Board2048::kNumSquares;
constexpr int kNumPlanes = 16;
constexpr int kNumOutcomes = kNumSquares * 2;
constexpr double kFourProbability = 0.1;

// The four lines of a direction: line i starts at first + i * to_next_line, on the side that tiles
// move to, and goes on by `along`.
struct Lines {
  int first, to_next_line, along;
};
constexpr Lines kLines[Board2048::kNumDirections] = {
    {0, 1, 4},    // up
    {3, 4, -1},   // right
    {12, 1, -4},  // down
    {0, 4, 1},    // left
};

int64_t Tile(int exponent) { return exponent == 0 ? 0 : int64_t{1} << exponent; }

// Slides the four tiles of a line towards the first; returns the sum of the tiles made.
int64_t SlideLine(std::array<uint8_t, kSize>& line) {
  int64_t made = 0;
  int length = 0;
  uint8_t open = 0;  // the tile before, where it can still merge
  for (const uint8_t exponent : std::array<uint8_t, kSize>(line)) {
    if (exponent == 0) continue;
    if (exponent == open) {
      line[length - 1] = static_cast<uint8_t>(exponent + 1);
      made += Tile(exponent + 1);
      open = 0;
    } else {
      line[length++] = open = exponent;
    }
  }
  std::fill(line.begin() + length, line.end(), uint8_t{0});
  return made;
}

// Lines of tiles up to 2^14, four bits each, the first tile in the lowest: what sliding makes of
// them, which fits into four bits again. Larger tiles are rare and slid one line at a time.
constexpr int kMaxTableExponent = 14;
struct SlidLine {
  uint16_t line = 0;
  uint32_t made = 0;
};

const std::vector<SlidLine>& SlideTable() {
  static const std::vector<SlidLine> table = [] {
    std::vector<SlidLine> slid(1 << (4 * kSize));
    for (size_t packed = 0; packed < slid.size(); ++packed) {
      std::array<uint8_t, kSize> line;
      for (int i = 0; i < kSize; ++i) line[i] = static_cast<uint8_t>(packed >> (4 * i) & 15);
      if (*std::max_element(line.begin(), line.end()) > kMaxTableExponent) continue;
      slid[packed].made = static_cast<uint32_t>(SlideLine(line));
      for (int i = 0; i < kSize; ++i) slid[packed].line |= line[i] << (4 * i);
    }
    return slid;
  }();
  return table;
}

struct TileColors {
  Color tile, text;
};

// From light to warm to violet as tiles grow; the last for all that is larger.
TileColors ColorsOf(int exponent) {
  constexpr Color kDark = {92, 84, 76};
  constexpr Color kWhite = {255, 253, 248};
  static constexpr Color kTiles[] = {
      {200, 190, 178}, {240, 232, 222}, {238, 222, 192}, {244, 178, 116}, {244, 148, 94},
      {242, 122, 92},  {238, 88, 52},   {240, 210, 110}, {240, 204, 84},  {238, 198, 62},
      {236, 190, 40},  {232, 182, 16},  {142, 190, 96},  {82, 164, 110},  {62, 140, 172},
      {70, 100, 188},  {112, 76, 180},  {64, 52, 84}};
  const int last = static_cast<int>(std::size(kTiles)) - 1;
  const Color tile = kTiles[std::min(exponent, last)];
  const bool is_light = 3 * tile.red + 6 * tile.green + tile.blue > 1900;
  return {tile, is_light ? kDark : kWhite};
}

// The eight rotations and reflections of the board, the identity first.
std::vector<Symmetry> Symmetries() {
  // Rows and columns that a square of the middle moves by, for up, right, down and left.
  constexpr int kSteps[Board2048::kNumDirections] = {-Board2048::kSize, 1, Board2048::kSize, -1};
  constexpr int kMiddle = Board2048::kSize + 1;
  std::vector<Symmetry> symmetries = SquareBoardSymmetries(Board2048::kSize, kNumPlanes);
  for (Symmetry& symmetry : symmetries) {
    const std::vector<int32_t> square_image = std::move(symmetry.action_image);
    symmetry.action_image.clear();
    for (const int step : kSteps) {
      const int moved = square_image[kMiddle + step] - square_image[kMiddle];
      symmetry.action_image.push_back(
          static_cast<int32_t>(std::find(std::begin(kSteps), std::end(kSteps), moved) - kSteps));
    }
    for (int outcome = 0; outcome < kNumOutcomes; ++outcome) {
      symmetry.chance_image.push_back(square_image[outcome / 2] * 2 + outcome % 2);
    }
  }
  return symmetries;
}

}  // namespace

int64_t Board2048::Slide(int direction) {
  const Lines& lines = kLines[direction];
  const bool in_table = *std::max_element(exponents.begin(), exponents.end()) <= kMaxTableExponent;
  const std::vector<SlidLine>& table = SlideTable();
  int64_t made = 0;
  for (int i = 0; i < kSize; ++i) {
    const int first = lines.first + i * lines.to_next_line;
    std::array<uint8_t, kSize> line;
    for (int j = 0; j < kSize; ++j) line[j] = exponents[first + j * lines.along];
    if (in_table) {
      const SlidLine& slid = table[line[0] | line[1] << 4 | line[2] << 8 | line[3] << 12];
      made += slid.made;
      for (int j = 0; j < kSize; ++j) line[j] = static_cast<uint8_t>(slid.line >> (4 * j) & 15);
    } else {
      made += SlideLine(line);
    }
    for (int j = 0; j < kSize; ++j) exponents[first + j * lines.along] = line[j];
  }
  return made;
}

int Board2048::LegalDirections() const {
  // For each two neighbours: can the first move onto the second, or the second onto the first?
  const auto moves = [](unsigned from, unsigned to) {
    return static_cast<unsigned>(from != 0) & static_cast<unsigned>((to == 0) | (from == to));
  };
  unsigned up = 0, right = 0, down = 0, left = 0;
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j + 1 < kSize; ++j) {
      const unsigned a = exponents[i * kSize + j], b = exponents[i * kSize + j + 1];
      right |= moves(a, b);
      left |= moves(b, a);
      const unsigned above = exponents[j * kSize + i], below = exponents[(j + 1) * kSize + i];
      down |= moves(above, below);
      up |= moves(below, above);
    }
  }
  return static_cast<int>(up | right << 1 | down << 2 | left << 3);
}

bool Board2048::IsPossible() const {
  int64_t sum = 0;
  for (const uint8_t exponent : exponents) {
    if (exponent > kMaxExponent) return false;
    sum += Tile(exponent);
  }
  return sum <= kMaxSum;
}

namespace {

class Game2048 : public EpisodeEnv {
 public:
  explicit Game2048(EnvSpec spec) : EpisodeEnv(std::move(spec)) {}

  // Four lines of tiles ('.' empty) and the score.
  absl::StatusOr<std::string> RenderText() const override {
    std::string text;
    for (int square = 0; square < kNumSquares; ++square) {
      const int exponent = board_.exponents[square];
      absl::StrAppendFormat(&text, "%7s", exponent == 0 ? "." : absl::StrCat(Tile(exponent)));
      if (square % kSize == kSize - 1) text += '\n';
    }
    absl::StrAppend(&text, "score ", score_, "\n");
    return text;
  }
  // The score above coloured tiles.
  absl::StatusOr<Image> RenderRgb() const override {
    constexpr int kTile = 66, kGap = 8, kHeader = 40, kMaxScale = 4;
    constexpr int kSide = kSize * (kTile + kGap) + kGap;
    constexpr Color kBackground = {148, 136, 124};
    constexpr Color kHeaderColor = {250, 248, 240};
    Image image(kSide, kHeader + kSide, kBackground);
    Canvas canvas(&image);
    canvas.FillRectangle(0, 0, kSide, kHeader, kHeaderColor);
    canvas.Text(kGap, 13, 2, absl::StrCat("score ", score_), ColorsOf(1).text);
    for (int square = 0; square < kNumSquares; ++square) {
      const int exponent = board_.exponents[square];
      const int left = kGap + square % kSize * (kTile + kGap);
      const int top = kHeader + kGap + square / kSize * (kTile + kGap);
      const TileColors colors = ColorsOf(exponent);
      canvas.FillRectangle(left, top, kTile, kTile, colors.tile);
      if (exponent == 0) continue;
      const std::string number = absl::StrCat(Tile(exponent));
      int scale = kMaxScale;
      while (scale > 1 && Canvas::TextWidth(scale, number) > kTile - 6) --scale;
      canvas.Text(left + (kTile - Canvas::TextWidth(scale, number)) / 2,
                  top + (kTile - 7 * scale) / 2, scale, number, colors.text);
    }
    return image;
  }
  void StartGame(uint64_t seed) override {
    random_ = RandomStream(seed, "2048");
    board_ = {};
    board_.Place(DrawOutcome());
    board_.Place(DrawOutcome());
    score_ = 0;
    legal_directions_ = board_.LegalDirections();
  }
  Outcome Advance(const Action& action) override {
    const int64_t made = board_.Slide(action.index);
    return PlaceAndFinish(made, DrawOutcome());
  }
  void Observe(absl::Span<float> observation) const override {
    std::fill(observation.begin(), observation.end(), 0.0f);
    for (int square = 0; square < kNumSquares; ++square) {
      const int plane = std::min<int>(board_.exponents[square], kNumPlanes - 1);
      observation[plane * kNumSquares + square] = 1.0f;
    }
  }
  void FillLegalActions(absl::Span<uint8_t> mask) const override {
    for (int direction = 0; direction < Board2048::kNumDirections; ++direction) {
      mask[direction] = static_cast<uint8_t>(legal_directions_ >> direction & 1);
    }
  }
  std::vector<ChanceOutcome> GameChances(const Action& action) const override {
    Board2048 moved = board_;
    moved.Slide(action.index);
    const double share = 1.0 / moved.NumEmpty();
    std::vector<ChanceOutcome> chances;
    for (int square = 0; square < kNumSquares; ++square) {
      if (moved.exponents[square] != 0) continue;
      chances.push_back({square * 2, share * (1.0 - kFourProbability)});
      chances.push_back({square * 2 + 1, share * kFourProbability});
    }
    return chances;
  }
  Outcome AdvanceWith(const Action& action, int32_t chance_outcome) override {
    return PlaceAndFinish(board_.Slide(action.index), chance_outcome);
  }
  void SaveGame(StateWriter& writer) const override {
    for (const uint8_t exponent : board_.exponents) writer.Write(exponent);
    writer.Write(score_);
    writer.Write(random_.state().key);
    writer.Write(random_.state().position);
  }
  absl::Status LoadGame(StateReader& reader) override {
    Board2048 board;
    for (int i = 0; i < kNumSquares; ++i) board.exponents[i] = reader.Read<uint8_t>();
    const int64_t score = reader.Read<int64_t>();
    const RandomStream::State stream = {reader.Read<uint64_t>(), reader.Read<uint64_t>()};
    LZ_RETURN_IF_ERROR(reader.Finish());
    if (!board.IsPossible()) return reader.Impossible("no game has so large tiles");
    if (score < 0) return reader.Impossible(absl::StrCat("score ", score));
    board_ = board;
    legal_directions_ = board_.LegalDirections();
    score_ = score;
    random_.set_state(stream);
    return absl::OkStatus();
  }
  // The 16 tiles (0, 2, 4, ...) row by row. A state that is set keeps the random stream.
  std::vector<double> GetPhysics() const override {
    std::vector<double> tiles;
    for (const uint8_t exponent : board_.exponents) {
      tiles.push_back(static_cast<double>(Tile(exponent)));
    }
    return tiles;
  }
  absl::Status SetPhysics(const std::vector<double>& state) override {
    constexpr char kAllowed[] =
        "a state of '2048' is 16 tiles row by row, each 0 or a power of two from 2 to 131072, "
        "with a legal move; got ";
    if (state.size() != kNumSquares) {
      return absl::InvalidArgumentError(absl::StrCat(kAllowed, state.size(), " numbers"));
    }
    // Tiles as exponents.
    Board2048 board;
    for (int square = 0; square < kNumSquares; ++square) {
      int exponent = 0;
      while (exponent <= Board2048::kMaxExponent &&
             static_cast<double>(Tile(exponent)) != state[square]) {
        exponent += 1;
      }
      if (exponent > Board2048::kMaxExponent) {
        return absl::InvalidArgumentError(
            absl::StrCat(kAllowed, state[square], " on square ", square));
      }
      board.exponents[square] = static_cast<uint8_t>(exponent);
    }
    // The board as a whole.
    if (!board.IsPossible() || board.LegalDirections() == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          kAllowed, board.IsPossible() ? "one without" : "more than a game can reach"));
    }
    board_ = board;
    legal_directions_ = board_.LegalDirections();
    score_ = 0;
    return absl::OkStatus();
  }

 private:
  // An outcome for the board as it is, with an empty square at least.
  int32_t DrawOutcome() {
    // One draw: which empty square, and one of ten chances for a 4.
    const int64_t draw = random_.UniformInt(int64_t{10} * board_.NumEmpty());
    int64_t empty_before = draw / 10;
    int square = 0;
    while (board_.exponents[square] != 0 || empty_before-- > 0) ++square;
    return square * 2 + (draw % 10 == 0 ? 1 : 0);
  }
  // Ends the step of a move that made tiles of this sum.
  Outcome PlaceAndFinish(int64_t made, int32_t chance_outcome) {
    board_.Place(chance_outcome);
    score_ += made;
    legal_directions_ = board_.LegalDirections();
    return {static_cast<float>(made), legal_directions_ == 0, chance_outcome};
  }

  Board2048 board_;
  int legal_directions_ = 0;  // of board_
  int64_t score_ = 0;
  RandomStream random_{0};
};

}  // namespace

EnvRegistry::Entry Game2048Entry() {
  EnvSpec spec;
  spec.observation = {{kNumPlanes, kSize, kSize}, {0.0f}, {1.0f}};
  spec.action.num_actions = Board2048::kNumDirections;
  spec.can_set_state = true;
  spec.deterministic = false;
  spec.num_chance_outcomes = kNumOutcomes;
  spec.symmetries = Symmetries();
  return CappedEntry<Game2048>("2048",
                               "2048 on a 4x4 board; random tiles are listed chance outcomes", spec,
                               /*default_cap=*/0);
}

}  // namespace lzero
