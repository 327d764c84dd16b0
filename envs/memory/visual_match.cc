#include "envs/memory/visual_match.h"

#include <string>

#include "absl/strings/string_view.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr char kId[] = "visual_match";
constexpr absl::string_view kColours = "bce";

constexpr absl::string_view kPassiveRoom =
    "           "
    "    ppp    "
    "    p+p    "
    "    ppp    "
    "           "
    "           "
    "           ";

constexpr absl::string_view kActiveRoom =
    "  ppppppp  "
    "  p     p  "
    "  p     p  "
    "  pp   pp  "
    "  p+++++p  "
    "  p+++++p  "
    "  ppppppp  ";

constexpr absl::string_view kRewardRoom =
    "###########"
    "# b  c  e #"
    "#         #"
    "#         #"
    "####   ####"
    "   # + #   "
    "   #####   ";

constexpr int kRewardStart = 5 * MemoryMaze::kNumColumns + 5;

int Size(const std::vector<int>& cells) { return static_cast<int>(cells.size()); }

}  // namespace

std::vector<EnvSetting> VisualMatch::Settings() {
  std::vector<EnvSetting> settings = CommonSettings(/*explore_frames=*/1);
  settings.push_back(EnvSetting::Choice("explore_room", {"passive", "active"},
                                        "whether the colour is in view or must be looked for"));
  return settings;
}

absl::StatusOr<std::unique_ptr<Env>> VisualMatch::Create(const EnvOptions& options) {
  LZ_ASSIGN_OR_RETURN(const EnvSettings given,
                      EnvSettings::Create(kId, Settings(), options.settings));
  LZ_ASSIGN_OR_RETURN(const Rules rules, ReadRules(kId, given));
  LZ_ASSIGN_OR_RETURN(EnvSpec spec, MakeSpec(kId, rules, options));
  return std::unique_ptr<Env>(
      new VisualMatch(std::move(spec), rules, given.Choice("explore_room") == "active"));
}

VisualMatch::VisualMatch(EnvSpec spec, const Rules& rules, bool active)
    : MemoryMaze(std::move(spec), rules),
      explore_room_(MapOf(active ? kActiveRoom : kPassiveRoom)),
      colour_cells_(CellsOf(explore_room_, 'p')),
      start_cells_(CellsOf(explore_room_, '+')) {}

void VisualMatch::StartTask(RandomStream& random) {
  colour_ = static_cast<int>(random.UniformInt(static_cast<int64_t>(kColours.size())));
  colour_cell_ = static_cast<int>(random.UniformInt(Size(colour_cells_)));
  start_cell_ = static_cast<int>(random.UniformInt(Size(start_cells_)));
  has_chosen_ = false;
}

MemoryMaze::Map VisualMatch::TaskMap(Phase phase) const {
  Map map = phase == Phase::kExplore ? explore_room_ : MapOf(kRewardRoom);
  Replace(map, '+', ' ');
  if (phase == Phase::kExplore) {
    Replace(map, 'p', '#');
    map[colour_cells_[colour_cell_]] = kColours[colour_];
  } else if (has_chosen_) {
    for (const char pad : kColours) Replace(map, pad, ' ');
  }
  return map;
}

int VisualMatch::StartCell(Phase phase) const {
  return phase == Phase::kExplore ? start_cells_[start_cell_] : kRewardStart;
}

bool VisualMatch::IsBarred(Phase phase, char symbol) const {
  return phase == Phase::kExplore && symbol == kColours[colour_];
}

double VisualMatch::Arrive(Phase phase, int cell) {
  if (phase == Phase::kExplore || has_chosen_) return 0.0;
  const char symbol = kRewardRoom[cell];
  has_chosen_ = kColours.find(symbol) != kColours.npos;
  return symbol == kColours[colour_] ? final_reward() : 0.0;
}

std::vector<int32_t> VisualMatch::TaskValues() const {
  return {colour_, colour_cell_, start_cell_, has_chosen_ ? 1 : 0};
}

bool VisualMatch::SetTask(const std::vector<int32_t>& values) {
  const std::vector<int32_t> limits = {static_cast<int>(kColours.size()), Size(colour_cells_),
                                       Size(start_cells_), 2};
  if (values.size() != limits.size()) return false;
  for (size_t i = 0; i < limits.size(); ++i) {
    if (values[i] < 0 || values[i] >= limits[i]) return false;
  }
  colour_ = values[0];
  colour_cell_ = values[1];
  start_cell_ = values[2];
  has_chosen_ = values[3] == 1;
  return true;
}

}  // namespace lzero
