// Which Python runs environments, and what to tell a user whose Python lacks a package.
#ifndef LZERO_ENV_PYTHON_PYTHON_H_
#define LZERO_ENV_PYTHON_PYTHON_H_

#include <string>

#include "absl/status/status.h"
#include "lzero/env/python/worker_messages.h"

namespace lzero {

// The interpreter of `setting` (env.python). For "auto": LZERO_PYTHON of the environment, else the
// one that tools/setup.sh --python-envs made beside a built source tree, else python3.
std::string PythonInterpreter(const std::string& setting);

// The status of a worker that refused to make `id`, with the command that installs what is missing,
// and with Python's traceback where the error is not a plain refusal.
absl::Status ExplainRefusal(const std::string& python, const std::string& id,
                            const absl::Status& status, const WorkerRefusal& refusal);

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_PYTHON_H_
