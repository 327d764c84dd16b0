// What a sweep is, and how its folder keeps that: FOLDER/sweep.json. It decides whether a folder
// may be gone on with. The runs in it are not looked at. Called by the main thread; blocks on the
// disk.
#ifndef LZERO_TOOLS_VERBS_SWEEP_SWEEP_FOLDER_H_
#define LZERO_TOOLS_VERBS_SWEEP_SWEEP_FOLDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "tools/verbs/sweep/sweep_grid.h"

namespace lzero {

struct SweepIdentity {
  std::string name;         // of the config, without folder and ending
  ExperimentConfig config;  // of the first combination; its seed means nothing
  std::vector<SweepAxis> axes;
  std::vector<int64_t> seeds;  // in increasing order
  std::string program;         // version and commit that began it; not compared
  std::string command;         // that goes on with it; not compared
};

// sweep.json as text, and back; `path` stands for it in messages. DataLoss when it is damaged.
std::string SweepJson(const SweepIdentity& sweep);
absl::StatusOr<SweepIdentity> ParseSweepJson(const std::string& json, const std::string& path);

// The sweep in the folder `path`; NotFound when it has no sweep.json.
absl::StatusOr<SweepIdentity> ReadSweep(const std::string& path);

// In what `wanted` differs from the sweep that `stored` is, a clause each; empty when it goes on
// with it. More seeds are no difference.
std::vector<std::string> SweepDifferences(const SweepIdentity& stored, const SweepIdentity& wanted);

// The sweep in the folder `path` that `wanted` goes on with; nullopt for a new or an empty folder.
// FailedPrecondition when the folder is taken by something else or by another sweep: says what
// differs. Makes nothing.
absl::StatusOr<std::optional<SweepIdentity>> CheckSweepFolder(const std::string& path,
                                                              const SweepIdentity& wanted);

// Writes sweep.json and the config that its runs are started with, and returns the path of that.
// The folder must exist.
absl::StatusOr<std::string> WriteSweep(const std::string& path, const SweepIdentity& sweep);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SWEEP_SWEEP_FOLDER_H_
