// The rules of how an agent plays in its environment: what `train`, and settings that are given for
// play alone, must keep. Pure, any thread.
#ifndef LZERO_PLAYER_PLAY_RULES_H_
#define LZERO_PLAYER_PLAY_RULES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "lzero/config/consistency.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env.h"

namespace lzero {

// What is wrong between the search and the actions of an environment. Box actions need samples and
// finite bounds; a search cannot sample more discrete actions than there are.
std::vector<ConsistencyError> ActionErrors(const SearchConfig& search, const EnvSpec& spec);

// These, those of the family (in their place where there are some: it may not play such actions at
// all), and contexts that roots of games for two players do not have.
std::vector<ConsistencyError> PlayErrors(const ExperimentConfig& config, const EnvSpec& spec);

// What is wrong with the settings "search.NAME=VALUE" and "inference.NAME=VALUE" with which an
// agent is to play, already in `config`: PlayErrors of these sections, and settings that only
// collection reads.
std::vector<ConsistencyError> PlaySettingErrors(const ExperimentConfig& config, const EnvSpec& spec,
                                                absl::Span<const std::string> settings);

}  // namespace lzero

#endif  // LZERO_PLAYER_PLAY_RULES_H_
