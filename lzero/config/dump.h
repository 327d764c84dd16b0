// A config in words: as YAML with every key, compared with another, and what a key means.
// Stateless, thread-safe.
#ifndef LZERO_CONFIG_DUMP_H_
#define LZERO_CONFIG_DUMP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

// All keys, a block a section, then of each task what differs from that; ParseResolvedConfig reads
// identical values back.
std::string ResolvedYaml(ExperimentConfig config);

// A key whose value differs, with both values as YAML text.
struct ConfigDifference {
  std::string key;
  std::string a;
  std::string b;
};

// In the order of declaration, then tasks by name ("tasks.NAME.train.batch_size", or "tasks.NAME"
// where one config alone has it); empty when the configs are equal.
std::vector<ConfigDifference> DiffConfigs(ExperimentConfig a, ExperimentConfig b);

// Type, range, default, unit, help and source of one key ("train.batch_size"), all keys of a
// section ("train"), all keys with a name ("batch_size"), or everything (""); of the key that
// another program calls so ("lr"). Anything else is looked for in keys and what is said about them:
// a line for each key that has it. NotFound names the nearest key.
absl::StatusOr<std::string> ExplainKey(absl::string_view key);

}  // namespace lzero

#endif  // LZERO_CONFIG_DUMP_H_
