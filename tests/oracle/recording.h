// Runs the Python script that records what an oracle compares with.
#ifndef LZERO_TESTS_ORACLE_RECORDING_H_
#define LZERO_TESTS_ORACLE_RECORDING_H_

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"

namespace lzero::oracle {

// The exit status of `python script folder`, each a path without quotation marks.
inline int Record(const std::string& python, const std::string& script, const std::string& folder) {
  const std::string command = absl::StrCat("'", python, "' -B '", script, "' '", folder, "'");
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace lzero::oracle

#endif  // LZERO_TESTS_ORACLE_RECORDING_H_
