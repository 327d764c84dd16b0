// Oracle test: game_oracle PYTHON SCRIPT FOLDER runs SCRIPT with PYTHON, which records games of
// another implementation into FOLDER, then replays each: sets of legal moves before every move, and
// returns. Exit code 77, "not run", when the script says that it cannot.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "envs/register_all.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/check/trace.h"
#include "tests/oracle/recording.h"
#include "tools/verbs/plain/envs_verb.h"

namespace {

// The environment that the meta line names.
absl::StatusOr<std::string> EnvOf(const std::string& path) {
  LZ_ASSIGN_OR_RETURN(const std::string text, lzero::ReadFile(path));
  LZ_ASSIGN_OR_RETURN(const lzero::Trace trace,
                      lzero::ParseTrace(absl::string_view(text).substr(0, text.find('\n'))));
  return trace.meta.env;
}

int ReplayAll(const std::string& folder) {
  lzero::EnvRegistry registry;
  lzero::RegisterAllEnvs(registry);
  const lzero::Console console{std::cout, std::cerr};
  const auto names = lzero::ListDirectory(folder);
  if (!names.ok() || names->empty()) {
    std::cerr << "no game in " << folder << "\n";
    return 1;
  }
  int worst = 0;
  for (const std::string& name : *names) {
    lzero::EnvsReplayOptions options;
    options.trace_path = lzero::JoinPath(folder, name);
    const absl::StatusOr<std::string> env = EnvOf(options.trace_path);
    if (!env.ok()) {
      std::cerr << name << ": " << env.status() << "\n";
      return 1;
    }
    options.target.id = *env;
    std::cout << name << ": " << std::flush;
    worst = std::max(worst, lzero::EnvsReplay(registry, options, console));
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: game_oracle PYTHON SCRIPT FOLDER\n";
    return 2;
  }
  (void)lzero::RemoveTree(argv[3]);
  const int recorded = lzero::oracle::Record(argv[1], argv[2], argv[3]);
  return recorded != 0 ? recorded : ReplayAll(argv[3]);
}
