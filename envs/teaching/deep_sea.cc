// Deep Sea, by bsuite's rules: a diver starts in the top left cell of size x size cells and sinks
// one row a step, one column to the left or to the right; moving right costs 0.01 / size, and only
// the one who moved right every time finds the treasure at the bottom right: 1. Optimal return:
// 0.99. Which of the actions 0 and 1 moves right is drawn for every cell from mapping_seed, with
// NumPy's legacy generator as in bsuite, and stays the same in all episodes; or 1 does everywhere.
// Observation {1, size, size}: 1 at the diver, all 0 at the end. Episodes last `size` steps and
// know no chance. [bsuite/environments/deep_sea.py; Osband et al. 2019, Deep Exploration via
// Randomized Value Functions]
#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "envs/entries.h"
#include "envs/support/canvas.h"
#include "envs/support/numpy_legacy_random.h"
#include "lzero/env/episode_env.h"

namespace lzero {
namespace {

constexpr double kMoveCost = 0.01;  // of a whole episode of moves to the right
constexpr Color kDeep = {28, 62, 110};
constexpr Color kShallow = {120, 182, 222};
constexpr Color kRock = {84, 78, 72};
constexpr Color kDiver = {240, 106, 84};
constexpr Color kChest = {122, 70, 30};
constexpr Color kTreasure = {255, 190, 30};

// numpy.random.RandomState(seed).binomial(1, 0.5, size * size): 1 where a uniform number is above a
// half.
std::vector<uint8_t> DrawMapping(int size, uint32_t seed) {
  NumpyLegacyRandom random(seed);
  std::vector<uint8_t> mapping(static_cast<size_t>(size) * size);
  for (uint8_t& action : mapping) action = random.Random() > 0.5 ? 1 : 0;
  return mapping;
}

Color Blend(Color from, Color to, double share) {
  const auto mixed = [share](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(a + share * (b - a));
  };
  return {mixed(from.red, to.red), mixed(from.green, to.green), mixed(from.blue, to.blue)};
}

class DeepSea : public EpisodeEnv {
 public:
  DeepSea(EnvSpec spec, int size, std::vector<uint8_t> right_action)
      : EpisodeEnv(std::move(spec)), size_(size), right_action_(std::move(right_action)) {}

  // A character for each cell: 'o' the diver, '$' where one moves right to the treasure, '0' and
  // '1' the action that moves right.
  absl::StatusOr<std::string> RenderText() const override {
    std::string text;
    for (int row = 0; row < size_; ++row) {
      for (int column = 0; column < size_; ++column) {
        const bool diver = row == row_ && column == column_;
        const bool treasure = row == size_ - 1 && column == size_ - 1;
        const size_t index = static_cast<size_t>(row) * size_ + column;
        text += diver ? 'o' : treasure ? '$' : static_cast<char>('0' + right_action_[index]);
      }
      text += '\n';
    }
    return text;
  }
  // About 200 pixels a side: the sea, the diver and the treasure.
  absl::StatusOr<Image> RenderRgb() const override {
    constexpr int kPixels = 200;
    const int side = std::max(2, kPixels / (size_ + 1));
    // One more row than the sea has: the ground, where the diver lies at the end.
    Image image(side * size_, side * (size_ + 1), kRock);
    Canvas canvas(&image);
    for (int row = 0; row < size_; ++row) {
      const double share = static_cast<double>(row) / (size_ - 1);
      canvas.FillRectangle(0, row * side, side * size_, side, Blend(kShallow, kDeep, share));
    }
    // An open chest: gold above its body.
    canvas.FillRectangle((size_ - 0.66) * side, (size_ - 0.5) * side, 0.6 * side, 0.5 * side,
                         kChest);
    canvas.FillRectangle((size_ - 0.6) * side, (size_ - 0.62) * side, 0.48 * side, 0.3 * side,
                         kTreasure);
    const Point diver = {(column_ + 0.5) * side, (row_ + 0.5) * side};
    canvas.FillCircle(diver, std::max(1.0, 0.35 * side), kDiver);
    return image;
  }
  void StartGame(uint64_t) override {
    row_ = 0;
    column_ = 0;
  }
  Outcome Advance(const Action& action) override {
    const bool right = action.index == right_action_[cell()];
    double reward = right && column_ == size_ - 1 ? 1.0 : 0.0;
    if (right) reward -= kMoveCost / size_;
    column_ = std::clamp(column_ + (right ? 1 : -1), 0, size_ - 1);
    ++row_;
    return {static_cast<float>(reward), row_ == size_};
  }
  void Observe(absl::Span<float> observation) const override {
    std::fill(observation.begin(), observation.end(), 0.0f);
    if (row_ < size_) observation[cell()] = 1.0f;
  }
  void SaveGame(StateWriter& writer) const override {
    writer.Write(static_cast<int32_t>(size_));
    writer.Write(static_cast<int32_t>(row_));
    writer.Write(static_cast<int32_t>(column_));
  }
  absl::Status LoadGame(StateReader& reader) override {
    const int32_t size = reader.Read<int32_t>();
    const int32_t row = reader.Read<int32_t>();
    const int32_t column = reader.Read<int32_t>();
    LZ_RETURN_IF_ERROR(reader.Finish());
    if (size != size_)
      return reader.Impossible(absl::StrCat("its size is ", size, ", not ", size_));
    // The column is at most the row; the right wall stops the last move.
    if (row < 0 || row > size_ || column < 0 || column > std::min(row, size_ - 1)) {
      return reader.Impossible(absl::StrCat("the diver is at row ", row, ", column ", column));
    }
    row_ = row;
    column_ = column;
    return absl::OkStatus();
  }

 private:
  // Index of the diver's cell; there is none after the end.
  size_t cell() const { return static_cast<size_t>(row_) * size_ + column_; }

  int size_;
  std::vector<uint8_t> right_action_;  // [size, size]
  int row_ = 0;                        // size at the end
  int column_ = 0;
};

absl::StatusOr<std::unique_ptr<Env>> Make(const EnvSettings& given, const EnvOptions& options) {
  const int size = static_cast<int>(given.Int("size"));
  EnvSpec spec;
  spec.observation = {{1, size, size}, {0.0f}, {1.0f}};
  spec.action.num_actions = 2;
  std::vector<uint8_t> mapping(static_cast<size_t>(size) * size, 1);
  if (given.Choice("randomize_actions") == "yes") {
    mapping = DrawMapping(size, static_cast<uint32_t>(given.Int("mapping_seed")));
  }
  return MakeUncapped<DeepSea>(std::move(spec), options, size, size, std::move(mapping));
}

}  // namespace

EnvRegistry::Entry DeepSeaEntry() {
  return NativeEntry(
      "deep_sea", "find the treasure at the far end of a grid (bsuite)",
      {EnvSetting::Int("size", 10, 2, 100, "rows and columns, and steps of an episode"),
       EnvSetting::Choice("randomize_actions", {"yes", "no"},
                          "draw for every cell which action moves right; no: action 1"),
       EnvSetting::Int("mapping_seed", 42, 0, 4294967295, "what that is drawn from")},
      Make);
}

}  // namespace lzero
