// What the five games of MinAtar share: sticky actions, the set of actions, settings, observation,
// drawing and saving. A game adds its rules; what a game must have is said at MinAtarEnv.
// Reset(seed) and its steps are, bit for bit, those of a new minatar.Environment of the Python
// package MinAtar 1.0.15 after seed(seed) and reset(): nothing sticks to the start of an episode.
// The package takes seeds of 32 bits; the lower 32 of a larger one count here.
// [Young and Tian 2019, MinAtar] Used by one thread at a time.
#ifndef LZERO_ENVS_MINATAR_MINATAR_ENV_H_
#define LZERO_ENVS_MINATAR_MINATAR_ENV_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "envs/entries.h"
#include "envs/minatar/minatar_board.h"
#include "envs/minatar/minatar_fields.h"
#include "envs/support/numpy_legacy_random.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/episode_env.h"

namespace lzero {

// Numbered as the package numbers them.
enum class MinAtarAction : uint8_t { kStay, kLeft, kUp, kRight, kDown, kFire };
inline constexpr int kNumMinAtarActions = 6;

// Cells to the right and down that an action moves by: -1, 0 or 1.
constexpr int MoveX(MinAtarAction action) {
  return (action == MinAtarAction::kRight) - (action == MinAtarAction::kLeft);
}
constexpr int MoveY(MinAtarAction action) {
  return (action == MinAtarAction::kDown) - (action == MinAtarAction::kUp);
}

// One step of a game: what goes in, and what comes out of it.
struct MinAtarTurn {
  MinAtarAction action;
  bool is_ramping;  // games become harder, where they can
  NumpyLegacyRandom& random;
  float reward = 0.0f;
  bool terminated = false;
};

// What the settings say.
struct MinAtarOptions {
  std::vector<MinAtarAction> actions;  // action i of the environment is actions[i]
  double sticky_probability = 0.0;     // of repeating the action before
  bool is_ramping = true;
};

// The settings of a game: difficulty_ramping where it can ramp.
std::vector<EnvSetting> MinAtarSettings(bool can_ramp);
// `minimal_actions` unless full_actions is yes.
MinAtarOptions ReadMinAtarOptions(const EnvSettings& given, bool can_ramp,
                                  absl::Span<const MinAtarAction> minimal_actions);
// Without what only a game knows: chance, and when it ends.
EnvSpec MinAtarSpec(absl::Span<const MinAtarChannel> channels, const MinAtarOptions& options);

// Observation {channels, 10, 10}: 1 where a channel is set, else 0, kept as bytes.
// A Game is a value and has
//   kChannels, kActions    arrays: the channels of its observation, the actions that do something
//   kCanRamp               whether it becomes harder with time
//   kHasChance             whether its steps draw random numbers
//   kLongest               steps after which it ends by itself; 0: it may never end
//   Game(random)           the start of an episode, by draws in the package's order
//   Act(turn)              one step
//   Paint(board)           the observation
//   VisitFields(fields)    all that changes, for MinAtarFields
template <typename Game>
class MinAtarEnv : public EpisodeEnv {
 public:
  MinAtarEnv(EnvSpec spec, MinAtarOptions options)
      : EpisodeEnv(std::move(spec)), options_(std::move(options)) {}

  absl::StatusOr<std::string> RenderText() const override {
    return MinAtarText(Game::kChannels, Painted());
  }
  absl::StatusOr<Image> RenderRgb() const override {
    return MinAtarPicture(Game::kChannels, Painted());
  }
  void StartGame(uint64_t seed) override {
    random_ = NumpyLegacyRandom(static_cast<uint32_t>(seed));
    last_action_ = MinAtarAction::kStay;
    game_ = Game(random_);
  }
  Outcome Advance(const Action& action) override {
    const bool sticks = random_.Random() < options_.sticky_probability;
    if (!sticks) last_action_ = options_.actions[action.index];
    MinAtarTurn turn = {last_action_, options_.is_ramping, random_};
    game_.Act(turn);
    return {turn.reward, turn.terminated};
  }
  void Observe(absl::Span<float> observation) const override {
    MinAtarBoard board(observation);
    game_.Paint(board);
  }
  void SaveGame(StateWriter& writer) const override {
    writer.Write(random_.state().seed);
    writer.Write(random_.state().num_words);
    MinAtarFields fields(&writer);
    MinAtarAction action = last_action_;
    Game game = game_;
    fields.Number(action, 0, kNumMinAtarActions - 1);
    game.VisitFields(fields);
  }
  absl::Status LoadGame(StateReader& reader) override {
    const NumpyLegacyRandom::State random = {reader.Read<uint32_t>(), reader.Read<uint64_t>()};
    MinAtarFields fields(&reader);
    MinAtarAction action = last_action_;
    Game game = game_;
    fields.Number(action, 0, kNumMinAtarActions - 1);
    game.VisitFields(fields);
    LZ_RETURN_IF_ERROR(reader.Finish());
    if (!fields.problem().empty()) return reader.Impossible(fields.problem());
    if (random.num_words > kMostWords) {
      return reader.Impossible(absl::StrCat(random.num_words, " random words were drawn"));
    }
    random_.set_state(random);
    last_action_ = action;
    game_ = std::move(game);
    return absl::OkStatus();
  }

 private:
  // More than any episode draws, and few enough to pass over.
  static constexpr uint64_t kMostWords = 1'000'000'000;

  std::vector<float> Painted() const {
    std::vector<float> cells(static_cast<size_t>(spec().observation.size()));
    Observe(absl::MakeSpan(cells));
    return cells;
  }

  const MinAtarOptions options_;
  NumpyLegacyRandom random_{0};
  MinAtarAction last_action_ = MinAtarAction::kStay;  // that was taken, sticky or not
  Game game_{random_};
};

// Steps until an episode of a game that may never end is truncated, unless set; the package has no
// such limit. Random play lasts 10 to 70; a player that never loses has to end, too.
inline constexpr int64_t kMinAtarCap = 10000;

template <typename Game>
EnvRegistry::Entry MinAtarEntry(const std::string& id, std::string summary) {
  return NativeEntry(
      id, std::move(summary), MinAtarSettings(Game::kCanRamp),
      [](const EnvSettings& given, const EnvOptions& options) {
        MinAtarOptions chosen = ReadMinAtarOptions(given, Game::kCanRamp, Game::kActions);
        EnvSpec spec = MinAtarSpec(Game::kChannels, chosen);
        spec.longest_episode = Game::kLongest;
        spec.deterministic = !Game::kHasChance && chosen.sticky_probability == 0.0;
        return MakeCapped<MinAtarEnv<Game>>(
            std::move(spec), options, Game::kLongest > 0 ? 0 : kMinAtarCap, std::move(chosen));
      });
}

}  // namespace lzero

#endif  // LZERO_ENVS_MINATAR_MINATAR_ENV_H_
