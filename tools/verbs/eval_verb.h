// `lzero eval`: plays a checkpoint greedily and prints a table or JSON; `--grade` judges every
// position of a solved game, `--chance` a model of chance.
#ifndef LZERO_TOOLS_VERBS_EVAL_VERB_H_
#define LZERO_TOOLS_VERBS_EVAL_VERB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/verbs/support/picture_output.h"

namespace lzero {

struct EvalOptions {
  std::string path;  // run folder (its best checkpoint, else latest) or checkpoint
  int64_t episodes = 20;
  std::string seeds;                   // "A..B", instead of `episodes`
  std::optional<int64_t> simulations;  // null: as the run evaluates
  // text: environment 0 after every step; gif: its episodes, 1,000 pictures at most.
  PictureOptions picture;
  std::string picture_path;          // of the gif; "": DefaultPicturePath
  bool json = false;                 // one JSON object on stdout instead of the table
  std::optional<double> min_return;  // exit 3 when the mean return is lower
  bool grade = false;
  bool chance = false;
  int64_t threads = 1;
  std::string device;                // "": as the run; cpu, cuda
  std::vector<std::string> plugins;  // in place of the run's, if there are any
};

// Exit codes: 0 ok, 1 failure, 2 usage, 3 below min_return, 130 interrupted.
int Eval(const EvalOptions& options);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_EVAL_VERB_H_
