// Environments by id or by family ("gymnasium:" and anything), and the graders of those that can be
// graded. Not filled by static initialisers (a linker drops them): envs/register_all.h lists every
// native environment. Filled once at start, then read by any thread.
#ifndef LZERO_ENV_ENV_REGISTRY_H_
#define LZERO_ENV_ENV_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/env/env.h"
#include "lzero/env/env_setting.h"
#include "lzero/env/grader.h"

namespace lzero {

// Ids of environments from plugins (lzero/env/plugin.h) begin with this.
inline constexpr char kPluginPrefix[] = "plugin:";

// How environments from Python are run (lzero/env/python); no effect on any other.
struct WorkerOptions {
  int64_t num_workers = 0;       // processes that a group is shared among; 0: one for each core
  int64_t max_restarts = 3;      // of one process, until its error is passed on
  double step_timeout_s = 60.0;  // until a process without an answer is ended
  std::string python = "auto";   // interpreter; auto: PythonInterpreter()
  // Folders where modules are looked for first.
  std::vector<std::string> python_path = {};
  // Gymnasium: "module:function" each, called with the environment in this order. Arguments may
  // follow in parentheses, as Python writes them.
  std::vector<std::string> wrappers = {};
  std::string observation = "auto";  // one of kObservationForms (config/experiment_config.h)
};

// Settings every environment takes (from the config's env section).
struct EnvOptions {
  int64_t max_episode_steps = 0;         // 0: the environment's own cap
  double random_opening_fraction = 0.0;  // boards only
  int64_t random_opening_plies = 6;      // boards only
  int64_t board_size = 0;                // 0: its own; the same as a setting board_size
  EnvSettingTexts settings = {};         // of this environment alone, see EnvSetting
  WorkerOptions workers = {};
  bool is_training = false;  // for collecting, where some environments help the learner (Atari)
  std::string id = {};       // that was asked for; set by the registry
};

class EnvRegistry {
 public:
  using Factory = std::function<absl::StatusOr<std::unique_ptr<Env>>(const EnvOptions&)>;
  // Makes environments that belong together, such as those of a worker process.
  using GroupFactory =
      std::function<absl::StatusOr<std::vector<std::unique_ptr<Env>>>(const EnvOptions&, int)>;
  using GraderFactory = std::function<std::unique_ptr<Grader>()>;

  struct Entry {
    // A family's id ends in ':' or '/' and stands for every id that begins with it and goes on; of
    // two families the longer one counts.
    std::string id;
    std::string summary;             // one line for `lzero envs list`
    Factory factory = nullptr;       // needed without `group`
    GraderFactory grader = nullptr;  // none: play cannot be graded exactly
    std::vector<EnvSetting> settings = {};
    bool takes_any_setting = false;  // checks what is not in `settings` itself
    GroupFactory group = nullptr;    // none: `factory` is called for each
    bool is_family() const { return id.back() == ':' || id.back() == '/'; }
  };

  // An id that is already there is our bug.
  void Register(Entry entry);
  // NotFound names the nearest id; InvalidArgument when an option does not fit the environment;
  // FailedPrecondition when what is made has another id in its spec.
  absl::StatusOr<std::unique_ptr<Env>> Make(const std::string& id, const EnvOptions& options) const;
  // `count` (at least 1) equal ones, which may share a process. Errors as Make.
  absl::StatusOr<std::vector<std::unique_ptr<Env>>> MakeGroup(const std::string& id,
                                                              const EnvOptions& options,
                                                              int count) const;
  // NotFound when the id is unknown (names the nearest) or has no grader (names those that have).
  absl::StatusOr<std::unique_ptr<Grader>> MakeGrader(const std::string& id) const;
  // The entry of this id, or of its family. NotFound names the nearest id.
  absl::StatusOr<const Entry*> Find(const std::string& id) const;
  // All entries, sorted by id.
  std::vector<const Entry*> entries() const;

 private:
  // What the factory of `entry` gets: the id, board_size among the settings, which are checked.
  absl::StatusOr<EnvOptions> Resolve(const Entry& entry, const std::string& id,
                                     const EnvOptions& options) const;

  std::map<std::string, Entry> entries_;
};

// InvalidArgument when max_episode_steps is negative.
absl::Status CheckStepCap(const std::string& id, const EnvOptions& options);
// For games that last at most `longest` steps: InvalidArgument for a shorter cap.
absl::Status CheckNoStepCap(const std::string& id, const EnvOptions& options, int64_t longest);
// For everything but boards: InvalidArgument when random openings are asked for.
absl::Status CheckNoRandomOpenings(const std::string& id, const EnvOptions& options);

}  // namespace lzero

#endif  // LZERO_ENV_ENV_REGISTRY_H_
