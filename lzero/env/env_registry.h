// Environments by id, and the graders of those that can be graded. Not filled by static
// initialisers (a linker drops them): envs/register_all.h lists every native environment. Filled
// once at start, then read by any thread.
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
#include "lzero/env/grader.h"

namespace lzero {

// Settings every environment takes (from the config's env section).
struct EnvOptions {
  int64_t max_episode_steps = 0;         // 0: the environment's own cap
  double random_opening_fraction = 0.0;  // boards only
  int64_t random_opening_plies = 6;      // boards only
};

class EnvRegistry {
 public:
  using Factory = std::function<absl::StatusOr<std::unique_ptr<Env>>(const EnvOptions&)>;
  using GraderFactory = std::function<std::unique_ptr<Grader>()>;

  struct Entry {
    std::string id;
    std::string summary;  // one line for `lzero envs list`
    Factory factory;
    GraderFactory grader = nullptr;  // none: play cannot be graded exactly
  };

  // An id that is already there is our bug.
  void Register(Entry entry);
  // NotFound names the nearest id; InvalidArgument when an option does not fit the environment;
  // FailedPrecondition when what is made has another id in its spec.
  absl::StatusOr<std::unique_ptr<Env>> Make(const std::string& id, const EnvOptions& options) const;
  // NotFound when the id is unknown (names the nearest) or has no grader (names those that have).
  absl::StatusOr<std::unique_ptr<Grader>> MakeGrader(const std::string& id) const;
  // NotFound names the nearest id.
  absl::StatusOr<const Entry*> Find(const std::string& id) const;
  // All entries, sorted by id.
  std::vector<const Entry*> entries() const;

 private:
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
