// Which tensors of another run's model file are the weights of this one: for playing one task of a
// run, and for a new run that starts from an old one. Works on names; reads no files.
#ifndef LZERO_TRAIN_TASK_WEIGHT_NAMES_H_
#define LZERO_TRAIN_TASK_WEIGHT_NAMES_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/named_array.h"
#include "lzero/config/experiment_config.h"
#include "lzero/model/network.h"

namespace lzero {

// The task called `name` of a run's config; "" means an only task. InvalidArgument lists the names.
absl::StatusOr<ExperimentConfig> FindTask(const ExperimentConfig& config, const std::string& name);

// Writes the weights of `task`, one of `num_tasks` of the run that `arrays` of model.safetensors
// are of, into its `network`, adapters merged. InvalidArgument with a line for each tensor that
// does not fit; nothing has changed then.
absl::Status CopyTaskWeights(const ExperimentConfig& task, size_t num_tasks,
                             absl::Span<const NamedArray> arrays, Network* network);

// For weights of a run of `config`: their names, of those that init.parts asks for, and the names
// they have in a run of `source`. What is a task's own is matched by its name or init.like.
std::vector<std::pair<std::string, std::string>> MatchWeights(
    const ExperimentConfig& config, const ExperimentConfig& source,
    const std::vector<std::string>& weights);

// The parts of a network that these weights of MatchWeights belong to, each once:
// "shared.transformer", "task.pong.encoder"; "encoder" in a run of one task.
std::vector<std::string> PartsOf(absl::Span<const std::pair<std::string, std::string>> matched);

}  // namespace lzero

#endif  // LZERO_TRAIN_TASK_WEIGHT_NAMES_H_
