// The names of weights in model files: where those of a task are, in a run of one task or several,
// and which of another run's are the weights of this one. Works on names; reads no files. Pure.
#ifndef LZERO_PLAYER_WEIGHT_NAMES_H_
#define LZERO_PLAYER_WEIGHT_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

// Who owns what all tasks share.
inline constexpr char kSharedOwner[] = "shared";

// Where a parameter of a task's network is kept.
struct WeightPlace {
  std::string owner;  // kSharedOwner, the name of a group of encoders, or of a task
  std::string name;   // in files
};

// The place of `parameter` ("transformer.block0.qkv.weight") of `task`, one of `num_tasks`. Pure.
WeightPlace PlaceOf(const ExperimentConfig& task, size_t num_tasks, const std::string& parameter);

// Names of the two matrices of the adapter of a shared parameter: [rank, in] and [out, rank].
struct AdapterNames {
  std::string down, up;
};
AdapterNames AdapterNamesOf(const ExperimentConfig& task, size_t num_tasks,
                            const std::string& parameter);

// Whether tasks have adapters of a parameter of this place with so many axes.
bool HasAdapter(const ExperimentConfig& task, const WeightPlace& place, int64_t num_axes);

// The task called `name` of a run's config; "" means an only task. InvalidArgument lists the names.
absl::StatusOr<ExperimentConfig> FindTask(const ExperimentConfig& config, const std::string& name);

// For weights of a run of `config`: their names, of those that init.parts asks for, and the names
// they have in a run of `source`. What is a task's own is matched by its name or init.like.
std::vector<std::pair<std::string, std::string>> MatchWeights(
    const ExperimentConfig& config, const ExperimentConfig& source,
    const std::vector<std::string>& weights);

// The parts of a network that these weights of MatchWeights belong to, each once:
// "shared.transformer", "task.pong.encoder"; "encoder" in a run of one task.
std::vector<std::string> PartsOf(absl::Span<const std::pair<std::string, std::string>> matched);

}  // namespace lzero

#endif  // LZERO_PLAYER_WEIGHT_NAMES_H_
