// The text of worker.py, which is part of the program: no file has to be found when it runs.
#ifndef LZERO_ENV_PYTHON_WORKER_SCRIPT_H_
#define LZERO_ENV_PYTHON_WORKER_SCRIPT_H_

#include "absl/strings/string_view.h"

namespace lzero {

absl::string_view WorkerScript();

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_WORKER_SCRIPT_H_
