#include "envs/grid/grid_env.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "envs/entries.h"
#include "envs/grid/grid_drawing.h"
#include "lzero/env/episode_env.h"

namespace lzero {
namespace {

constexpr int kNumViewCells = GridView::kSize * GridView::kSize;

class GridEnv : public EpisodeEnv {
 public:
  GridEnv(EnvSpec spec, const GridTask& task)
      : EpisodeEnv(std::move(spec)),
        task_(task),
        world_(task.width, task.height, task.sees_through_walls) {}

  absl::StatusOr<std::string> RenderText() const override { return GridText(world_); }
  absl::StatusOr<Image> RenderRgb() const override { return GridPicture(world_); }
  void StartGame(uint64_t seed) override {
    NumpyRandom random(seed);
    world_.Clear();
    task_.generate(random, world_);
    num_steps_ = 0;
  }
  Outcome Advance(const Action& action) override {
    ++num_steps_;
    const GridEvent event = world_.Act(static_cast<GridAction>(action.index));
    const bool picked_up = event == GridEvent::kPickedUp && world_.carried().object == task_.target;
    const bool reached = event == GridEvent::kReachedGoal && task_.target == GridObject::kGoal;
    if (!picked_up && !reached) return {0.0f, event == GridEvent::kEnteredLava};
    const double fraction =
        static_cast<double>(num_steps_) / static_cast<double>(spec().max_episode_steps);
    return {static_cast<float>(1.0 - 0.9 * fraction), true};
  }
  void Observe(absl::Span<float> observation) const override {
    const GridView view = world_.View();
    for (int i = 0; i < kNumViewCells; ++i) {
      observation[i] = static_cast<float>(view.cells[i].object);
      observation[kNumViewCells + i] = static_cast<float>(view.cells[i].color);
      observation[2 * kNumViewCells + i] = static_cast<float>(view.cells[i].state);
    }
    const auto direction = static_cast<float>(world_.agent().direction);
    std::fill(observation.begin() + 3 * kNumViewCells, observation.end(), direction);
  }
  void SaveGame(StateWriter& writer) const override {
    writer.Write(num_steps_);
    writer.WriteVector(world_.ToBytes());
  }
  absl::Status LoadGame(StateReader& reader) override {
    const int64_t num_steps = reader.Read<int64_t>();
    const std::vector<uint8_t> bytes = reader.ReadVector<uint8_t>();
    LZ_RETURN_IF_ERROR(reader.Finish());
    if (num_steps < 0 || num_steps > spec().max_episode_steps) {
      return reader.Impossible(absl::StrCat("step ", num_steps, " of ", spec().max_episode_steps));
    }
    const absl::Status status = world_.SetBytes(bytes);
    if (!status.ok()) return reader.Impossible(status.message());
    num_steps_ = num_steps;
    return absl::OkStatus();
  }

 private:
  const GridTask task_;
  GridWorld world_;
  int64_t num_steps_ = 0;  // since the episode's start
};

}  // namespace

EnvRegistry::Entry GridEntry(const std::string& id, const std::string& summary,
                             const std::vector<EnvSetting>& settings,
                             std::function<GridTask(const EnvSettings&)> task_of) {
  return NativeEntry(id, summary, settings,
                     [=](const EnvSettings& given, const EnvOptions& options) {
                       EnvSpec spec;
                       spec.observation = {{4, GridView::kSize, GridView::kSize}, {0.0f}, {10.0f}};
                       spec.action.num_actions = kNumGridActions;
                       const GridTask task = task_of(given);
                       return MakeCapped<GridEnv>(std::move(spec), options, task.default_cap, task);
                     });
}

}  // namespace lzero
