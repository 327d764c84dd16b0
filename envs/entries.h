// What the file of each native environment defines: its entry of the registry, which
// register_all.cc puts there; and how such a file makes it. Functions without state, any thread.
#ifndef LZERO_ENVS_ENTRIES_H_
#define LZERO_ENVS_ENTRIES_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/env_setting.h"

namespace lzero {

EnvRegistry::Entry AcrobotEntry();
EnvRegistry::Entry AsterixEntry();
EnvRegistry::Entry BreakoutEntry();
EnvRegistry::Entry CartPoleEntry();
EnvRegistry::Entry CatchEntry();
EnvRegistry::Entry ChessEntry();
EnvRegistry::Entry Connect4Entry();
EnvRegistry::Entry CountingEntry();
EnvRegistry::Entry DeepSeaEntry();
EnvRegistry::Entry DoorKeyEntry();
EnvRegistry::Entry EmptyRoomEntry();
EnvRegistry::Entry FourRoomsEntry();
EnvRegistry::Entry FreewayEntry();
EnvRegistry::Entry Game2048Entry();
EnvRegistry::Entry GomokuEntry();
EnvRegistry::Entry GoEntry();
EnvRegistry::Entry HexEntry();
EnvRegistry::Entry KeyCorridorEntry();
EnvRegistry::Entry KeyToDoorEntry();
EnvRegistry::Entry LavaGapEntry();
EnvRegistry::Entry MountainCarContinuousEntry();
EnvRegistry::Entry MountainCarEntry();
EnvRegistry::Entry OthelloEntry();
EnvRegistry::Entry PendulumEntry();
EnvRegistry::Entry SeaquestEntry();
EnvRegistry::Entry SpaceInvadersEntry();
EnvRegistry::Entry TicTacToeEntry();
EnvRegistry::Entry VisualMatchEntry();

// An entry whose `make` gets the checked settings, and options with the id.
inline EnvRegistry::Entry NativeEntry(
    const std::string& id, std::string summary, const std::vector<EnvSetting>& settings,
    std::function<absl::StatusOr<std::unique_ptr<Env>>(const EnvSettings&, const EnvOptions&)>
        make) {
  const auto factory = [=](EnvOptions options) -> absl::StatusOr<std::unique_ptr<Env>> {
    LZ_ASSIGN_OR_RETURN(const EnvSettings given,
                        EnvSettings::Create(id, settings, options.settings));
    options.id = id;
    return make(given, options);
  };
  return {.id = id, .summary = std::move(summary), .factory = factory, .settings = settings};
}

// T(spec, args...), an environment for one player that can be saved, with the cap of `options` or
// else `default_cap`, 0: none. InvalidArgument for a negative cap or random openings.
template <typename T, typename... Args>
absl::StatusOr<std::unique_ptr<Env>> MakeCapped(EnvSpec spec, const EnvOptions& options,
                                                int64_t default_cap, Args&&... args) {
  LZ_RETURN_IF_ERROR(CheckStepCap(options.id, options));
  LZ_RETURN_IF_ERROR(CheckNoRandomOpenings(options.id, options));
  spec.id = options.id;
  spec.max_episode_steps = options.max_episode_steps > 0 ? options.max_episode_steps : default_cap;
  spec.can_save = true;
  return std::make_unique<T>(std::move(spec), std::forward<Args>(args)...);
}

// The entry of an environment without settings that MakeCapped makes.
template <typename T>
EnvRegistry::Entry CappedEntry(const std::string& id, std::string summary, const EnvSpec& spec,
                               int64_t default_cap) {
  return NativeEntry(id, std::move(summary), {},
                     [=](const EnvSettings&, const EnvOptions& options) {
                       return MakeCapped<T>(spec, options, default_cap);
                     });
}

// MakeCapped for games that last at most `longest` steps. InvalidArgument also for a shorter cap.
template <typename T, typename... Args>
absl::StatusOr<std::unique_ptr<Env>> MakeUncapped(EnvSpec spec, EnvOptions options, int64_t longest,
                                                  Args&&... args) {
  LZ_RETURN_IF_ERROR(CheckNoStepCap(options.id, options, longest));
  options.max_episode_steps = 0;
  spec.longest_episode = longest;
  return MakeCapped<T>(std::move(spec), options, 0, std::forward<Args>(args)...);
}

}  // namespace lzero

#endif  // LZERO_ENVS_ENTRIES_H_
