#include "envs/grid/grid_env.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "envs/grid/grid_drawing.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr int kNumViewCells = GridView::kSize * GridView::kSize;

}  // namespace

absl::StatusOr<EnvSpec> GridEnv::MakeSpec(const std::string& id, const EnvOptions& options,
                                          int64_t default_cap) {
  EnvSpec spec;
  spec.id = id;
  spec.observation = {{4, GridView::kSize, GridView::kSize}, {0.0f}, {10.0f}};
  spec.action.num_actions = kNumGridActions;
  spec.max_episode_steps = options.max_episode_steps > 0 ? options.max_episode_steps : default_cap;
  spec.can_save = true;
  LZ_RETURN_IF_ERROR(CheckStepCap(id, options));
  LZ_RETURN_IF_ERROR(CheckNoRandomOpenings(id, options));
  return spec;
}

GridEnv::GridEnv(EnvSpec spec, GridWorld world)
    : EpisodeEnv(std::move(spec)), world_(std::move(world)) {}

void GridEnv::StartGame(uint64_t seed) {
  NumpyRandom random(seed);
  world_.Clear();
  Generate(random, world_);
  num_steps_ = 0;
}

EpisodeEnv::Outcome GridEnv::Advance(const Action& action) {
  ++num_steps_;
  const GridEvent event = world_.Act(static_cast<GridAction>(action.index));
  if (!IsSuccess(event)) return {0.0f, event == GridEvent::kEnteredLava};
  const double fraction =
      static_cast<double>(num_steps_) / static_cast<double>(spec().max_episode_steps);
  return {static_cast<float>(1.0 - 0.9 * fraction), true};
}

void GridEnv::Observe(absl::Span<float> observation) const {
  const GridView view = world_.View();
  for (int i = 0; i < kNumViewCells; ++i) {
    observation[i] = static_cast<float>(view.cells[i].object);
    observation[kNumViewCells + i] = static_cast<float>(view.cells[i].color);
    observation[2 * kNumViewCells + i] = static_cast<float>(view.cells[i].state);
  }
  const auto direction = static_cast<float>(world_.agent().direction);
  std::fill(observation.begin() + 3 * kNumViewCells, observation.end(), direction);
}

void GridEnv::SaveGame(StateWriter& writer) const {
  writer.Write(num_steps_);
  writer.WriteVector(world_.ToBytes());
}

absl::Status GridEnv::LoadGame(StateReader& reader) {
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

absl::StatusOr<std::string> GridEnv::RenderText() const { return GridText(world_); }

absl::StatusOr<Image> GridEnv::RenderRgb() const { return GridPicture(world_); }

}  // namespace lzero
