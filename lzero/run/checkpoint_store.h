// The checkpoints of a run on the disk:
//   RUN/checkpoints/step_000010000/{model,target,...}.safetensors state.json config.resolved.yaml
//                                  checksums.json
//   RUN/checkpoints/latest -> step_000010000    best -> step_000008000
//   RUN/checkpoints/step_000012000.aside        newer than the one a run was resumed from
// A checkpoint appears under its name complete or not at all, whenever the process is killed, and
// nothing is read whose CRC-32C does not fit. Knows files, not what is in them. One writer a run;
// any number of readers. Every function blocks on the disk.
#ifndef LZERO_RUN_CHECKPOINT_STORE_H_
#define LZERO_RUN_CHECKPOINT_STORE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/named_array.h"

namespace lzero {

struct CheckpointContent {
  std::map<std::string, std::vector<NamedArray>> files;  // "model" -> model.safetensors
  std::string state_json;                                // state.json, one JSON object
  std::string config_yaml;  // config.resolved.yaml, the config of the run at that time
};

struct LoadedCheckpoint {
  std::string path;  // the folder, links followed
  int64_t env_steps = 0;
  CheckpointContent content;
};

struct CheckpointPlace {
  int64_t env_steps = 0;
  std::string path;
};

// Writes RUN/checkpoints/step_<env_steps> (replacing one of the same step), moves `latest` to it,
// and removes the oldest but `keep` (>= 1); the ones that `latest` and `best` point at always stay.
// Leftovers of a killed writer are cleared first. Returns the folder. On an error the checkpoints
// before are untouched.
absl::StatusOr<std::string> WriteCheckpoint(const std::string& run_dir, int64_t env_steps,
                                            const CheckpointContent& content, int64_t keep);

// Points RUN/checkpoints/best at the checkpoint of this step. NotFound when there is none.
absl::Status MarkBestCheckpoint(const std::string& run_dir, int64_t env_steps);

// Prepares a run to go on from its checkpoint of this step, at which `latest` then points. Newer
// ones, intact or damaged, become step_<env_steps>.aside, which no run counts or removes; an older
// folder of that name is replaced. `best` is removed if it pointed at one of them. Returns the
// folders that were set aside. NotFound when there is no such checkpoint.
absl::StatusOr<std::vector<std::string>> RewindCheckpoints(const std::string& run_dir,
                                                           int64_t env_steps);

// All complete checkpoints of a run, oldest first; empty when there are none. Their content is not
// verified.
absl::StatusOr<std::vector<CheckpointPlace>> ListCheckpoints(const std::string& run_dir);

// The checkpoint folder that `path` means. A checkpoint folder or a link to one means itself. A run
// folder or its checkpoints/ means `latest`, or the newest one if that link is missing. NotFound
// says what was looked for.
absl::StatusOr<std::string> FindCheckpoint(const std::string& path);

// Reads the checkpoint that `path` means (see FindCheckpoint), after checking every file against
// its recorded size and CRC-32C. With `only`, the named files, state and config alone are checked
// and read (evaluation needs no replay). DataLoss names the damaged file, what is wrong with it,
// and the newest other checkpoint of the run that is intact, if there is one.
absl::StatusOr<LoadedCheckpoint> ReadCheckpoint(const std::string& path,
                                                absl::Span<const std::string> only = {});

// The newest intact checkpoint beside the checkpoint `folder` of a run; nullopt if none.
std::optional<std::string> FindOtherIntact(const std::string& folder);

// Checks every file of the checkpoint folder against its recorded size and CRC-32C without keeping
// the content. DataLoss names the damaged file and what is wrong.
absl::Status VerifyCheckpoint(const std::string& folder);

}  // namespace lzero

#endif  // LZERO_RUN_CHECKPOINT_STORE_H_
