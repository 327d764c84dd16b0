// The Python that runs environments: which one it is, what it runs, what it has, and what to tell a
// user whose Python lacks a package.
#ifndef LZERO_ENV_PYTHON_PYTHON_H_
#define LZERO_ENV_PYTHON_PYTHON_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/env/python/worker_messages.h"

namespace lzero {

// The interpreter of `setting` (env.python). For "auto": LZERO_PYTHON of the environment, else the
// one that tools/setup.sh --python-envs made beside a built source tree, else python3.
std::string PythonInterpreter(const std::string& setting);

// Where a run of `id` must look for its modules later, from any folder: `given`, made absolute, or
// where the program runs and PYTHONPATH if that is empty. Nothing for environments that bring no
// module of the user's, and no folder that a config cannot hold.
std::vector<std::string> KeptPythonPath(const std::string& id,
                                        const std::vector<std::string>& wrappers,
                                        const std::vector<std::string>& given);

// The text of worker.py, which is part of the program: no file has to be found when it runs.
absl::string_view WorkerScript();

// The packages of environments that `python` has, for `lzero doctor`: "gymnasium 1.4.0, ale-py
// 0.12.1", gymnasium first; "" for none. Starts it; blocks for a moment. An error when it cannot be
// run or does not answer in time.
absl::StatusOr<std::string> PythonPackages(const std::string& python);

// The status of a worker that refused to make the task, with the command that installs what is
// missing, where modules were looked for, and with Python's traceback where the error is not a
// plain refusal.
absl::Status ExplainRefusal(const std::string& python, const WorkerTask& task,
                            const absl::Status& status, const WorkerRefusal& refusal);

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_PYTHON_H_
