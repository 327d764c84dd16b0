// Oracle test: gymnasium_oracle SCRIPT FOLDER [PYTHON] runs tools/record/record_gymnasium_traces.py
// (with PYTHON, else LZERO_PYTHON of the environment, else python3), replays what it recorded and
// says how far the largest differences go. Exit code 77, "not run", when that Python has no
// gymnasium.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "envs/register_all.h"
#include "lzero/base/files.h"
#include "tests/envs/classic/trace_differences.h"
#include "tests/oracle/recording.h"
#include "tools/verbs/plain/envs_verb.h"

namespace lzero {
namespace {

// Ours of Gymnasium's name; empty for others.
std::string IdOf(const std::string& gymnasium_id) {
  static const std::map<std::string, std::string> ids = {
      {"CartPole-v1", "cartpole"},
      {"MountainCar-v0", "mountain_car"},
      {"MountainCarContinuous-v0", "mountain_car_continuous"},
      {"Pendulum-v1", "pendulum"},
      {"Acrobot-v1", "acrobot"}};
  const auto found = ids.find(gymnasium_id);
  return found == ids.end() ? "" : found->second;
}

// A last bit that another processor or C library gives otherwise does not grow in the cars' valley,
// nor over random actions; it does where a pole, a rod or two links are held or swung up.
bool AgreesWhole(absl::string_view id, absl::string_view name) {
  return absl::StartsWith(id, "mountain_car") || absl::StrContains(name, "_random_") ||
         absl::StrContains(name, "_starts");
}

// What one step from a recorded state may differ by.
bool IsClose(const TraceDifferences& found) {
  return found.problem.empty() && found.num_unequal_starts == 0 && found.num_unequal_flags == 0 &&
         found.observation_ulp <= 1 && found.reward <= 1e-6 && found.state <= 1e-9;
}

int Replay(const EnvRegistry& registry, const std::string& folder, const std::string& name) {
  EnvsReplayOptions options;
  options.trace_path = JoinPath(folder, name);
  const auto text = ReadFile(options.trace_path);
  const auto trace = text.ok() ? ParseTrace(*text) : text.status();
  options.target.id = trace.ok() ? IdOf(trace->meta.env) : "";
  if (options.target.id.empty()) {
    std::cerr << name << ": no trace of an environment that is known\n";
    return 1;
  }
  const Console console{std::cout, std::cerr};
  std::cout << name << ": ";
  int worst = EnvsReplay(registry, options, console);
  if (AgreesWhole(options.target.id, name)) {
    options.whole = true;
    std::cout << name << ", whole: ";
    worst = std::max(worst, EnvsReplay(registry, options, console));
  }
  EnvOptions env_options;
  env_options.max_episode_steps = trace->meta.max_episode_steps;
  const auto env = registry.Make(options.target.id, env_options);
  if (!env.ok()) return 1;
  const TraceDifferences by_steps = MeasureDifferences(**env, *trace, /*whole=*/false);
  std::cout << name << ", largest differences by single steps, " << by_steps.Text() << "\n"
            << name << ", largest differences of whole episodes, "
            << MeasureDifferences(**env, *trace, /*whole=*/true).Text() << "\n";
  if (IsClose(by_steps)) return worst;
  std::cerr << name << ": too far from Gymnasium\n";
  return 1;
}

int ReplayAll(const std::string& folder) {
  EnvRegistry registry;
  RegisterAllEnvs(registry);
  const auto names = ListDirectory(folder);
  if (!names.ok() || names->empty()) {
    std::cerr << "no trace in " << folder << "\n";
    return 1;
  }
  int worst = 0;
  for (const std::string& name : *names) worst = std::max(worst, Replay(registry, folder, name));
  return worst;
}

}  // namespace
}  // namespace lzero

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: gymnasium_oracle SCRIPT FOLDER [PYTHON]\n";
    return 2;
  }
  const char* named = std::getenv("LZERO_PYTHON");
  const std::string python = argc == 4 ? argv[3] : named != nullptr ? named : "python3";
  (void)lzero::RemoveTree(argv[2]);
  const int recorded = lzero::oracle::Record(python, argv[1], argv[2]);
  return recorded != 0 ? recorded : lzero::ReplayAll(argv[2]);
}
