// Which packages of environments an interpreter has, for `lzero doctor`. Starts it; blocks for a
// moment.
#ifndef LZERO_ENV_PYTHON_PYTHON_PACKAGES_H_
#define LZERO_ENV_PYTHON_PYTHON_PACKAGES_H_

#include <string>

#include "absl/status/statusor.h"

namespace lzero {

// "gymnasium 1.4.0, ale-py 0.12.1": those that are installed, gymnasium first; "" when none is. An
// error when `python` cannot be run or does not answer in time.
absl::StatusOr<std::string> PythonPackages(const std::string& python);

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_PYTHON_PACKAGES_H_
