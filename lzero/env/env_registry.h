// Environments by id. Not filled by static initialisers (a linker drops them): envs/register_all.h
// lists every native environment. Filled once at start, then read by any thread.
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

  struct Entry {
    std::string id;
    std::string summary;  // one line for `lzero envs list`
    Factory factory;
  };

  // An id that is already there is our bug.
  void Register(Entry entry);
  // NotFound names the nearest id; InvalidArgument when an option does not fit the environment.
  absl::StatusOr<std::unique_ptr<Env>> Make(const std::string& id, const EnvOptions& options) const;
  // All entries, sorted by id.
  std::vector<const Entry*> entries() const;

 private:
  std::map<std::string, Entry> entries_;
};

}  // namespace lzero

#endif  // LZERO_ENV_ENV_REGISTRY_H_
