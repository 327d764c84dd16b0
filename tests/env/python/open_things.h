// What a process has open, for tests that nothing is left behind: descriptors, children, mappings.
// Reads /proc. Not a test.
#ifndef LZERO_TESTS_ENV_PYTHON_OPEN_THINGS_H_
#define LZERO_TESTS_ENV_PYTHON_OPEN_THINGS_H_

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace lzero {

inline std::vector<std::string> EntriesOf(const std::string& folder) {
  std::vector<std::string> names;
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.') names.push_back(entry->d_name);
  }
  closedir(directory);
  return names;
}

// One more than there are, for the folder that is being read.
inline int NumDescriptors(const std::string& process = "self") {
  return static_cast<int>(EntriesOf(absl::StrCat("/proc/", process, "/fd")).size());
}

// The children of this process that have not ended, and those that nobody waited for.
inline std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  for (const std::string& name : EntriesOf("/proc")) {
    const pid_t pid = static_cast<pid_t>(std::atol(name.c_str()));
    std::ifstream file(absl::StrCat("/proc/", name, "/stat"));
    std::string line;
    if (pid <= 0 || !std::getline(file, line)) continue;
    // pid (name) state parent ...; the name may hold anything.
    const size_t end = line.rfind(')');
    if (end != line.npos && end + 4 < line.size() &&
        std::atol(line.c_str() + end + 4) == getpid()) {
      children.push_back(pid);
    }
  }
  return children;
}

// False for one that has ended and was not waited for.
inline bool IsRunning(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string line;
  if (!std::getline(file, line)) return false;
  const size_t end = line.rfind(')');
  return end != line.npos && end + 2 < line.size() && line[end + 2] != 'Z';
}

// Mappings of `process` that name `text`.
inline int NumMappings(const std::string& text, const std::string& process = "self") {
  std::ifstream file(absl::StrCat("/proc/", process, "/maps"));
  int count = 0;
  for (std::string line; std::getline(file, line);) count += line.find(text) != line.npos ? 1 : 0;
  return count;
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENV_PYTHON_OPEN_THINGS_H_
