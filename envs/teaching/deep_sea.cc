#include "envs/teaching/deep_sea.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/support/canvas.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr double kMoveCost = 0.01;  // of a whole episode of moves to the right
constexpr Color kDeep = {28, 62, 110};
constexpr Color kShallow = {120, 182, 222};
constexpr Color kRock = {84, 78, 72};
constexpr Color kDiver = {240, 106, 84};
constexpr Color kChest = {122, 70, 30};
constexpr Color kTreasure = {255, 190, 30};

// numpy.random.RandomState(seed).binomial(1, 0.5, size * size): 1 where a uniform number of 53 bits
// from the Mersenne Twister is above a half.
std::vector<uint8_t> DrawMapping(int size, uint32_t seed) {
  std::mt19937 twister(seed);
  std::vector<uint8_t> mapping(static_cast<size_t>(size) * size);
  for (uint8_t& action : mapping) {
    const uint32_t high = twister() >> 5;
    const uint32_t low = twister() >> 6;
    action = (high * 67108864.0 + low) / 9007199254740992.0 > 0.5 ? 1 : 0;
  }
  return mapping;
}

Color Blend(Color from, Color to, double share) {
  const auto mixed = [share](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(a + share * (b - a));
  };
  return {mixed(from.red, to.red), mixed(from.green, to.green), mixed(from.blue, to.blue)};
}

}  // namespace

std::vector<EnvSetting> DeepSea::Settings() {
  return {EnvSetting::Int("size", 10, 2, 100, "rows and columns, and steps of an episode"),
          EnvSetting::Choice("randomize_actions", {"yes", "no"},
                             "draw for every cell which action moves right; no: action 1"),
          EnvSetting::Int("mapping_seed", 42, 0, 4294967295, "what that is drawn from")};
}

absl::StatusOr<std::unique_ptr<Env>> DeepSea::Create(const EnvOptions& options) {
  EnvSpec spec;
  spec.id = "deep_sea";
  LZ_ASSIGN_OR_RETURN(const EnvSettings settings,
                      EnvSettings::Create(spec.id, Settings(), options.settings));
  const int size = static_cast<int>(settings.Int("size"));
  spec.observation = {{1, size, size}, {0.0f}, {1.0f}};
  spec.action.num_actions = 2;
  spec.can_save = true;
  LZ_RETURN_IF_ERROR(CheckNoStepCap(spec.id, options, size));
  LZ_RETURN_IF_ERROR(CheckNoRandomOpenings(spec.id, options));
  const uint32_t seed = static_cast<uint32_t>(settings.Int("mapping_seed"));
  std::vector<uint8_t> mapping = settings.Choice("randomize_actions") == "yes"
                                     ? DrawMapping(size, seed)
                                     : std::vector<uint8_t>(static_cast<size_t>(size) * size, 1);
  return std::unique_ptr<Env>(new DeepSea(std::move(spec), size, std::move(mapping)));
}

DeepSea::DeepSea(EnvSpec spec, int size, std::vector<uint8_t> right_action)
    : EpisodeEnv(std::move(spec)), size_(size), right_action_(std::move(right_action)) {}

void DeepSea::StartGame(uint64_t) {
  row_ = 0;
  column_ = 0;
}

EpisodeEnv::Outcome DeepSea::Advance(const Action& action) {
  const bool right = action.index == right_action_[cell()];
  double reward = right && column_ == size_ - 1 ? 1.0 : 0.0;
  if (right) reward -= kMoveCost / size_;
  column_ = std::clamp(column_ + (right ? 1 : -1), 0, size_ - 1);
  ++row_;
  return {static_cast<float>(reward), row_ == size_};
}

void DeepSea::Observe(absl::Span<float> observation) const {
  std::fill(observation.begin(), observation.end(), 0.0f);
  if (row_ < size_) observation[cell()] = 1.0f;
}

void DeepSea::SaveGame(StateWriter& writer) const {
  writer.Write(static_cast<int32_t>(size_));
  writer.Write(static_cast<int32_t>(row_));
  writer.Write(static_cast<int32_t>(column_));
}

absl::Status DeepSea::LoadGame(StateReader& reader) {
  const int32_t size = reader.Read<int32_t>();
  const int32_t row = reader.Read<int32_t>();
  const int32_t column = reader.Read<int32_t>();
  LZ_RETURN_IF_ERROR(reader.Finish());
  if (size != size_) return reader.Impossible(absl::StrCat("its size is ", size, ", not ", size_));
  // The column is at most the row; the right wall stops the last move.
  if (row < 0 || row > size_ || column < 0 || column > std::min(row, size_ - 1)) {
    return reader.Impossible(absl::StrCat("the diver is at row ", row, ", column ", column));
  }
  row_ = row;
  column_ = column;
  return absl::OkStatus();
}

absl::StatusOr<std::string> DeepSea::RenderText() const {
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

absl::StatusOr<Image> DeepSea::RenderRgb() const {
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
  canvas.FillRectangle((size_ - 0.66) * side, (size_ - 0.5) * side, 0.6 * side, 0.5 * side, kChest);
  canvas.FillRectangle((size_ - 0.6) * side, (size_ - 0.62) * side, 0.48 * side, 0.3 * side,
                       kTreasure);
  const Point diver = {(column_ + 0.5) * side, (row_ + 0.5) * side};
  canvas.FillCircle(diver, std::max(1.0, 0.35 * side), kDiver);
  return image;
}

}  // namespace lzero
