// Writes a config back as YAML with every key, and compares two configs key by key. Stateless,
// thread-safe.
#ifndef LZERO_CONFIG_DUMP_H_
#define LZERO_CONFIG_DUMP_H_

#include <string>
#include <vector>

#include "lzero/config/experiment_config.h"

namespace lzero {

// All keys, a block a section; ParseResolvedConfig reads identical values back.
std::string ResolvedYaml(const ExperimentConfig& config);

// A key whose value differs, with both values as YAML text.
struct ConfigDifference {
  std::string key;
  std::string a;
  std::string b;
};

// In the order of declaration; empty when the configs are equal.
std::vector<ConfigDifference> DiffConfigs(const ExperimentConfig& a, const ExperimentConfig& b);

}  // namespace lzero

#endif  // LZERO_CONFIG_DUMP_H_
