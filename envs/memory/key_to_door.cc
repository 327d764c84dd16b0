#include "envs/memory/key_to_door.h"

#include <string>

#include "absl/strings/string_view.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr char kId[] = "key_to_door";

constexpr absl::string_view kExploreRoom =
    "  #######  "
    "  #kkkkk#  "
    "  #kkkkk#  "
    "  ##   ##  "
    "  #+++++#  "
    "  #+++++#  "
    "  #######  ";
constexpr int kSignCell = 5;  // in the middle of the top wall

constexpr absl::string_view kRewardRoom =
    "           "
    "   ##d##   "
    "   #   #   "
    "   # + #   "
    "   #   #   "
    "   #####   "
    "           ";

constexpr int kRewardStart = 3 * MemoryMaze::kNumColumns + 5;

int Size(const std::vector<int>& cells) { return static_cast<int>(cells.size()); }

}  // namespace

std::vector<EnvSetting> KeyToDoor::Settings() { return CommonSettings(/*explore_frames=*/15); }

absl::StatusOr<std::unique_ptr<Env>> KeyToDoor::Create(const EnvOptions& options) {
  LZ_ASSIGN_OR_RETURN(const EnvSettings given,
                      EnvSettings::Create(kId, Settings(), options.settings));
  LZ_ASSIGN_OR_RETURN(const Rules rules, ReadRules(kId, given));
  LZ_ASSIGN_OR_RETURN(EnvSpec spec, MakeSpec(kId, rules, options));
  return std::unique_ptr<Env>(new KeyToDoor(std::move(spec), rules));
}

KeyToDoor::KeyToDoor(EnvSpec spec, const Rules& rules)
    : MemoryMaze(std::move(spec), rules),
      explore_room_(MapOf(kExploreRoom)),
      key_cells_(CellsOf(explore_room_, 'k')),
      start_cells_(CellsOf(explore_room_, '+')) {}

void KeyToDoor::StartTask(RandomStream& random) {
  key_cell_ = static_cast<int>(random.UniformInt(Size(key_cells_)));
  start_cell_ = static_cast<int>(random.UniformInt(Size(start_cells_)));
  key_is_taken_ = false;
  sign_is_shown_ = false;
  door_has_paid_ = false;
}

MemoryMaze::Map KeyToDoor::TaskMap(Phase phase) const {
  Map map = phase == Phase::kExplore ? explore_room_ : MapOf(kRewardRoom);
  Replace(map, '+', ' ');
  if (phase != Phase::kExplore) return map;
  Replace(map, 'k', ' ');
  if (!key_is_taken_) map[key_cells_[key_cell_]] = 'k';
  if (sign_is_shown_) map[kSignCell] = 'i';
  return map;
}

int KeyToDoor::StartCell(Phase phase) const {
  return phase == Phase::kExplore ? start_cells_[start_cell_] : kRewardStart;
}

bool KeyToDoor::IsBarred(Phase, char symbol) const {
  return symbol == 'i' || (symbol == 'd' && !key_is_taken_);
}

double KeyToDoor::Arrive(Phase phase, int cell) {
  if (phase == Phase::kExplore) {
    sign_is_shown_ = !key_is_taken_ && cell == key_cells_[key_cell_];
    key_is_taken_ = key_is_taken_ || sign_is_shown_;
    return 0.0;
  }
  if (kRewardRoom[cell] != 'd' || door_has_paid_) return 0.0;
  door_has_paid_ = true;
  return final_reward();
}

std::vector<int32_t> KeyToDoor::TaskValues() const {
  return {key_cell_, start_cell_, key_is_taken_ ? 1 : 0, sign_is_shown_ ? 1 : 0,
          door_has_paid_ ? 1 : 0};
}

bool KeyToDoor::SetTask(const std::vector<int32_t>& values) {
  const std::vector<int32_t> limits = {Size(key_cells_), Size(start_cells_), 2, 2, 2};
  if (values.size() != limits.size()) return false;
  for (size_t i = 0; i < limits.size(); ++i) {
    if (values[i] < 0 || values[i] >= limits[i]) return false;
  }
  if (values[2] == 0 && (values[3] == 1 || values[4] == 1)) return false;
  key_cell_ = values[0];
  start_cell_ = values[1];
  key_is_taken_ = values[2] == 1;
  sign_is_shown_ = values[3] == 1;
  door_has_paid_ = values[4] == 1;
  return true;
}

}  // namespace lzero
