#include "envs/memory/memory_maze.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "envs/support/canvas.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr int kNumColumns = MemoryMaze::kNumColumns;
constexpr int kViewReach = MemoryMaze::kViewSize / 2;

constexpr absl::string_view kHall =
    "###########"
    "#a a a a a#"
    "# a a a a #"
    "#a a a a a#"
    "# a a a a #"
    "#a a + a a#"
    "###########";

constexpr absl::string_view kPhaseNames[] = {"explore", "distractor", "reward"};

// Red, green, blue in thousandths.
struct SymbolColor {
  char symbol;
  std::array<int, 3> color;
};
constexpr SymbolColor kColors[] = {{' ', {800, 800, 800}}, {'#', {100, 100, 100}},
                                   {'+', {898, 584, 430}}, {'a', {550, 700, 0}},
                                   {'b', {0, 0, 1000}},    {'c', {0, 1000, 0}},
                                   {'e', {1000, 0, 0}},    {'k', {627, 321, 176}},
                                   {'d', {529, 808, 922}}, {'i', {1000, 1000, 1000}}};

constexpr std::array<int, 3> ColorOf(char symbol) {
  for (const SymbolColor& entry : kColors) {
    if (entry.symbol == symbol) return entry.color;
  }
  return {0, 0, 0};
}

// [character][channel], 0 .. 1
constexpr auto kShares = [] {
  std::array<std::array<float, 3>, 128> shares = {};
  for (size_t symbol = 0; symbol < shares.size(); ++symbol) {
    const std::array<int, 3> color = ColorOf(static_cast<char>(symbol));
    for (size_t i = 0; i < 3; ++i) shares[symbol][i] = static_cast<float>(color[i]) / 1000.0f;
  }
  return shares;
}();

// The squares of the hall that can have an apple, in reading order.
constexpr auto kApplePlaces = [] {
  std::array<int, MemoryMaze::kNumApplePlaces> places = {};
  size_t count = 0;
  for (int cell = 0; cell < MemoryMaze::kNumCells; ++cell) {
    if (kHall[cell] == 'a') places[count++] = cell;
  }
  return places;
}();
constexpr int kHallStart = 5 * kNumColumns + 5;

Color PixelOf(char symbol, bool seen) {
  const std::array<int, 3> color = ColorOf(symbol);
  const auto shade = [seen](int thousandths) {
    return static_cast<uint8_t>(thousandths * 255 / 1000 * (seen ? 10 : 6) / 10);
  };
  return {shade(color[0]), shade(color[1]), shade(color[2])};
}

// In the cell at (left, top), `side` pixels large: a ring, a shaft and two teeth.
void DrawKey(Canvas& canvas, double left, double top, double side, Color key, Color floor) {
  const Point ring = {left + 0.32 * side, top + 0.5 * side};
  canvas.FillCircle(ring, 0.2 * side, key);
  canvas.FillCircle(ring, 0.08 * side, floor);
  canvas.FillRectangle(left + 0.48 * side, top + 0.44 * side, 0.4 * side, 0.12 * side, key);
  for (const double tooth : {0.64, 0.78}) {
    canvas.FillRectangle(left + tooth * side, top + 0.5 * side, 0.1 * side, 0.2 * side, key);
  }
}

}  // namespace

MemoryMaze::MemoryMaze(EnvSpec spec, const Rules& rules, Task task)
    : EpisodeEnv(std::move(spec)),
      rules_(rules),
      task_(std::move(task)),
      starts_(CellsOf(task_.explore_room, '+')),
      reward_start_(CellsOf(task_.reward_room, '+').at(0)) {
  const std::array<absl::string_view, kNumPhases> maps = {task_.explore_room, kHall,
                                                          task_.reward_room};
  for (size_t i = 0; i < maps.size(); ++i) {
    LZ_CHECK(maps[i].size() == kNumCells, "a map of ", maps[i].size(), " cells");
    std::replace_copy(maps[i].begin(), maps[i].end(), rooms_[i].begin(), '+', ' ');
  }
}

std::vector<int> MemoryMaze::CellsOf(absl::string_view map, char symbol) {
  std::vector<int> cells;
  for (int cell = 0; cell < static_cast<int>(map.size()); ++cell) {
    if (map[cell] == symbol) cells.push_back(cell);
  }
  return cells;
}

std::vector<EnvSetting> MemoryMaze::CommonSettings(int64_t explore_frames) {
  constexpr int64_t kMaxFrames = 100000;
  constexpr double kMaxReward = 1000.0;
  return {
      EnvSetting::Int("explore_frames", explore_frames, 1, kMaxFrames, "steps of the first room"),
      EnvSetting::Int("distractor_frames", 30, 0, kMaxFrames, "steps of the hall of apples"),
      EnvSetting::Int("reward_frames", 15, 1, kMaxFrames, "steps of the last room"),
      EnvSetting::Int("num_apples", 10, 0, kNumApplePlaces, "apples in the hall"),
      EnvSetting::Float("apple_reward_min", 0.0, -kMaxReward, kMaxReward, "least of an apple"),
      EnvSetting::Float("apple_reward_max", 0.0, -kMaxReward, kMaxReward, "most of an apple"),
      EnvSetting::Int("apple_respawn_frames", 300, 0, kMaxFrames,
                      "frames until an apple comes back, 0: never"),
      EnvSetting::Float("final_reward", 1.0, 0.0, kMaxReward, "of solving the task"),
  };
}

absl::StatusOr<MemoryMaze::Rules> MemoryMaze::ReadRules(const std::string& id,
                                                        const EnvSettings& given) {
  Rules rules;
  rules.frames = {given.Int("explore_frames"), given.Int("distractor_frames"),
                  given.Int("reward_frames")};
  rules.num_apples = static_cast<int>(given.Int("num_apples"));
  rules.apple_reward_min = given.Float("apple_reward_min");
  rules.apple_reward_max = given.Float("apple_reward_max");
  rules.apple_respawn_frames = given.Int("apple_respawn_frames");
  rules.final_reward = given.Float("final_reward");
  if (rules.apple_reward_min > rules.apple_reward_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("apple_reward_min of '", id, "' is ", rules.apple_reward_min,
                     "; allowed: at most apple_reward_max, ", rules.apple_reward_max));
  }
  return rules;
}

EnvSpec MemoryMaze::MakeSpec(const Rules& rules) {
  EnvSpec spec;
  spec.observation = {{3, kViewSize, kViewSize}, {0.0f}, {1.0f}};
  spec.action.num_actions = 4;
  spec.deterministic = rules.apple_reward_min == rules.apple_reward_max;
  return spec;
}

void MemoryMaze::StartGame(uint64_t seed) {
  random_ = RandomStream(seed, spec().id);
  values_ = {};
  for (int i = 0; i < task_.num_drawn; ++i) {
    values_[i] = static_cast<int32_t>(random_.UniformInt(task_.limits[i]));
  }
  progress_.apples = 0;
  progress_.taken.fill(-1);
  // Each of the places that are left is chosen with the same chance.
  int64_t num_wanted = rules_.num_apples;
  for (int i = 0; i < kNumApplePlaces; ++i) {
    if (random_.UniformInt(kNumApplePlaces - i) >= num_wanted) continue;
    progress_.apples |= uint32_t{1} << i;
    --num_wanted;
  }
  Enter(0);
}

bool MemoryMaze::Enter(int phase) {
  while (phase < kNumPhases && rules_.frames[phase] == 0) ++phase;
  if (phase == kNumPhases) return false;
  progress_.phase = static_cast<Phase>(phase);
  progress_.frame = 0;
  const std::array<int, kNumPhases> starts = {starts_[values_[task_.num_drawn - 1]], kHallStart,
                                              reward_start_};
  progress_.player = starts[phase];
  return true;
}

bool MemoryMaze::HasApple(int i, int64_t frame) const {
  if ((progress_.apples >> i & 1) == 0) return false;
  const int64_t taken = progress_.taken[i];
  const int64_t respawn = rules_.apple_respawn_frames;
  return taken < 0 || (respawn > 0 && frame > taken + respawn);
}

MemoryMaze::Map MemoryMaze::Room() const {
  Map map = rooms_[static_cast<size_t>(progress_.phase)];
  if (progress_.phase != Phase::kDistractor) {
    ShowTask(progress_.phase, map);
    return map;
  }
  for (int i = 0; i < kNumApplePlaces; ++i) {
    if (!HasApple(i, progress_.frame)) map[kApplePlaces[i]] = ' ';
  }
  return map;
}

MemoryMaze::Map MemoryMaze::Picture() const {
  Map map = Room();
  // The original draws a door over the player.
  if (map[progress_.player] != 'd') map[progress_.player] = '+';
  return map;
}

void MemoryMaze::Move(int direction) {
  constexpr int kRowSteps[] = {-1, 1, 0, 0};
  constexpr int kColumnSteps[] = {0, 0, -1, 1};
  const int row = progress_.player / kNumColumns + kRowSteps[direction];
  const int column = progress_.player % kNumColumns + kColumnSteps[direction];
  if (row < 0 || row >= kNumRows || column < 0 || column >= kNumColumns) return;
  const int target = row * kNumColumns + column;
  const char symbol = Room()[target];
  const bool barred = progress_.phase != Phase::kDistractor && IsBarred(progress_.phase, symbol);
  if (symbol != '#' && !barred) progress_.player = target;
}

double MemoryMaze::TakeApple() {
  const auto place = std::find(kApplePlaces.begin(), kApplePlaces.end(), progress_.player);
  if (place == kApplePlaces.end()) return 0.0;
  const int i = static_cast<int>(place - kApplePlaces.begin());
  // What comes back on this frame can be taken on the next.
  if (!HasApple(i, progress_.frame - 1)) return 0.0;
  progress_.taken[i] = progress_.frame;
  const double low = rules_.apple_reward_min, high = rules_.apple_reward_max;
  return low == high ? low : low + (high - low) * random_.Uniform();
}

EpisodeEnv::Outcome MemoryMaze::Advance(const Action& action) {
  Move(action.index);
  ++progress_.frame;
  const Phase phase = progress_.phase;
  const double reward = phase == Phase::kDistractor ? TakeApple() : Arrive(phase, progress_.player);
  const bool over = progress_.frame == NumFrames(phase) && !Enter(static_cast<int>(phase) + 1);
  return {static_cast<float>(reward), over};
}

void MemoryMaze::Observe(absl::Span<float> observation) const {
  constexpr int kNumViewCells = kViewSize * kViewSize;
  const Map picture = Picture();
  const int top = progress_.player / kNumColumns - kViewReach;
  const int left = progress_.player % kNumColumns - kViewReach;
  for (int i = 0; i < kNumViewCells; ++i) {
    const int row = top + i / kViewSize, column = left + i % kViewSize;
    const bool inside = row >= 0 && row < kNumRows && column >= 0 && column < kNumColumns;
    const char symbol = inside ? picture[row * kNumColumns + column] : ' ';
    for (int channel = 0; channel < 3; ++channel) {
      observation[channel * kNumViewCells + i] = kShares[static_cast<size_t>(symbol)][channel];
    }
  }
}

void MemoryMaze::SaveGame(StateWriter& writer) const {
  writer.WriteVector(std::vector(values_.begin(), values_.begin() + task_.limits.size()));
  writer.Write(static_cast<uint8_t>(progress_.phase));
  writer.Write(progress_.frame);
  writer.Write(static_cast<int32_t>(progress_.player));
  writer.Write(progress_.apples);
  for (const int64_t frame : progress_.taken) writer.Write(frame);
  writer.Write(random_.state().key);
  writer.Write(random_.state().position);
}

absl::Status MemoryMaze::LoadGame(StateReader& reader) {
  // Reads everything before anything changes.
  const std::vector<int32_t> task = reader.ReadVector<int32_t>();
  Progress progress;
  const uint8_t phase = reader.Read<uint8_t>();
  progress.frame = reader.Read<int64_t>();
  progress.player = reader.Read<int32_t>();
  progress.apples = reader.Read<uint32_t>();
  for (int64_t& frame : progress.taken) frame = reader.Read<int64_t>();
  const RandomStream::State stream = {reader.Read<uint64_t>(), reader.Read<uint64_t>()};
  LZ_RETURN_IF_ERROR(reader.Finish());
  // Checks what can be checked without the task.
  if (phase >= kNumPhases) return reader.Impossible(absl::StrCat("phase ", phase));
  progress.phase = static_cast<Phase>(phase);
  const std::string problem = Problem(progress);
  if (!problem.empty()) return reader.Impossible(problem);
  // Takes over task and progress; puts the old ones back where they contradict.
  if (!AreValues(task)) return reader.Impossible("the values of the task");
  const auto values_before = values_;
  std::copy(task.begin(), task.end(), values_.begin());
  std::swap(progress, progress_);
  if (Room()[progress_.player] == '#') {
    std::swap(progress, progress_);
    values_ = values_before;
    return reader.Impossible("the player is in a wall");
  }
  random_.set_state(stream);
  return absl::OkStatus();
}

bool MemoryMaze::AreValues(const std::vector<int32_t>& values) const {
  if (values.size() != task_.limits.size()) return false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= task_.limits[i]) return false;
  }
  return IsPossible(values);
}

std::string MemoryMaze::Problem(const Progress& progress) const {
  const int64_t num_frames = NumFrames(progress.phase);
  // The last room keeps its last frame.
  const int64_t last = progress.phase == Phase::kReward ? num_frames : num_frames - 1;
  if (progress.frame < 0 || progress.frame > last) {
    return absl::StrCat("frame ", progress.frame, " of ", num_frames);
  }
  if (progress.player < 0 || progress.player >= kNumCells) {
    return absl::StrCat("player on square ", progress.player);
  }
  if (progress.apples >> kNumApplePlaces != 0 ||
      std::popcount(progress.apples) != rules_.num_apples) {
    return absl::StrCat(std::popcount(progress.apples), " apples");
  }
  for (const int64_t frame : progress.taken) {
    if (frame < -1 || frame > NumFrames(Phase::kDistractor)) {
      return absl::StrCat("an apple taken on frame ", frame);
    }
  }
  return "";
}

absl::StatusOr<std::string> MemoryMaze::RenderText() const {
  const Map picture = Picture();
  std::string text;
  for (int row = 0; row < kNumRows; ++row) {
    absl::StrAppend(&text, absl::string_view(&picture[row * kNumColumns], kNumColumns), "\n");
  }
  absl::StrAppend(&text, kPhaseNames[static_cast<size_t>(progress_.phase)], ", frame ",
                  progress_.frame, " of ", NumFrames(progress_.phase), "\n");
  return text;
}

absl::StatusOr<Image> MemoryMaze::RenderRgb() const {
  constexpr int kCell = 28, kFooter = 26;
  constexpr Color kFooterColor = {24, 26, 32}, kTextColor = {226, 228, 234};
  Image image(kNumColumns * kCell, kNumRows * kCell + kFooter, kFooterColor);
  Canvas canvas(&image);
  const Map picture = Picture();
  // Cells, darker outside of the view.
  for (int cell = 0; cell < kNumCells; ++cell) {
    const int row = cell / kNumColumns, column = cell % kNumColumns;
    const bool seen = std::abs(row - progress_.player / kNumColumns) <= kViewReach &&
                      std::abs(column - progress_.player % kNumColumns) <= kViewReach;
    const char symbol = picture[cell];
    const int left = column * kCell, top = row * kCell;
    const bool round = symbol == '+' || symbol == 'a';
    const bool key = symbol == 'k';
    canvas.FillRectangle(left, top, kCell, kCell, PixelOf(round || key ? ' ' : symbol, seen));
    if (key) DrawKey(canvas, left, top, kCell, PixelOf(symbol, seen), PixelOf(' ', seen));
    if (!round) continue;
    canvas.FillCircle({left + kCell / 2.0, top + kCell / 2.0}, symbol == '+' ? 11.0 : 7.0,
                      PixelOf(symbol, seen));
  }
  // The line below the map.
  canvas.Text(6, kNumRows * kCell + 6, 2,
              absl::StrCat(kPhaseNames[static_cast<size_t>(progress_.phase)], " ", progress_.frame,
                           "/", NumFrames(progress_.phase)),
              kTextColor);
  return image;
}

}  // namespace lzero
