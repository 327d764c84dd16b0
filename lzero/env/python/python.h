// The Python that runs environments: which one it is, what it runs, what it has, and what to tell a
// user whose Python lacks a package.
#ifndef LZERO_ENV_PYTHON_PYTHON_H_
#define LZERO_ENV_PYTHON_PYTHON_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/env/python/worker_messages.h"

namespace lzero {

// The interpreter of `setting` (env.python). For "auto": LZERO_PYTHON of the environment, else the
// one that tools/setup.sh --python-envs made beside a built source tree, else python3.
std::string PythonInterpreter(const std::string& setting);

// The text of worker.py, which is part of the program: no file has to be found when it runs.
absl::string_view WorkerScript();

// The packages of environments that `python` has, for `lzero doctor`: "gymnasium 1.4.0, ale-py
// 0.12.1", gymnasium first; "" for none. Starts it; blocks for a moment. An error when it cannot be
// run or does not answer in time.
absl::StatusOr<std::string> PythonPackages(const std::string& python);

// The status of a worker that refused to make `id`, with the command that installs what is missing,
// and with Python's traceback where the error is not a plain refusal.
absl::Status ExplainRefusal(const std::string& python, const std::string& id,
                            const absl::Status& status, const WorkerRefusal& refusal);

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_PYTHON_H_
