// `lzero train` and `lzero resume`: from a config or a run folder to a trained agent. Progress goes
// to stderr and the log, the closing summary to stdout.
#ifndef LZERO_TOOLS_VERBS_TRAIN_VERB_H_
#define LZERO_TOOLS_VERBS_TRAIN_VERB_H_

#include <string>
#include <vector>

namespace lzero {

struct TrainOptions {
  std::string config_path;
  std::vector<std::string> overrides;     // "key.path=value"
  std::string run_dir;                    // "": runs/<env>/<name>-s<seed>-<utc>
  bool dry_run = false;                   // print the plan and stop
  std::vector<std::string> command_line;  // for the manifest
};

// Exit codes: 0 ok, 1 failure, 2 config error, 130 interrupted after a checkpoint.
int Train(const TrainOptions& options);

// Continues the run that `path` means: a run folder from its latest checkpoint, or a checkpoint of
// a run from there, newer ones being set aside (see RewindCheckpoints). `overrides` may change what
// a run may change (stop, evaluate, checkpoint, inference.num_threads, train.num_threads).
int Resume(const std::string& path, const std::vector<std::string>& overrides);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_TRAIN_VERB_H_
