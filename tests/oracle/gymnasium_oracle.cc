// Oracle test: gymnasium_oracle SCRIPT FOLDER runs tools/record_gymnasium_traces.py (with python3,
// or the interpreter that LZERO_PYTHON names), then replays what it recorded. Exit code 77, "not
// run", when that Python has no gymnasium.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "envs/register_all.h"
#include "lzero/base/files.h"
#include "tools/envs_verb.h"

namespace {

std::string Quoted(absl::string_view text) { return absl::StrCat("'", text, "'"); }

int Record(const std::string& script, const std::string& folder) {
  const char* python = std::getenv("LZERO_PYTHON");
  const std::string command = absl::StrCat(Quoted(python != nullptr ? python : "python3"), " ",
                                           Quoted(script), " ", Quoted(folder));
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// Short random episodes must agree from their seeds to their ends; balanced ones drift apart.
bool AgreesWhole(absl::string_view name) { return !absl::StrContains(name, "balance"); }

int ReplayAll(const std::string& folder) {
  lzero::EnvRegistry registry;
  lzero::RegisterAllEnvs(registry);
  const lzero::Console console{std::cout, std::cerr};
  const auto names = lzero::ListDirectory(folder);
  if (!names.ok() || names->empty()) {
    std::cerr << "no trace in " << folder << "\n";
    return 1;
  }
  int worst = 0;
  for (const std::string& name : *names) {
    lzero::EnvsReplayOptions options;
    options.target.id = "cartpole";
    options.trace_path = lzero::JoinPath(folder, name);
    std::cout << name << ": ";
    worst = std::max(worst, lzero::EnvsReplay(registry, options, console));
    if (!AgreesWhole(name)) continue;
    options.whole = true;
    std::cout << name << ", whole: ";
    worst = std::max(worst, lzero::EnvsReplay(registry, options, console));
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: gymnasium_oracle SCRIPT FOLDER\n";
    return 2;
  }
  (void)lzero::RemoveTree(argv[2]);
  const int recorded = Record(argv[1], argv[2]);
  return recorded != 0 ? recorded : ReplayAll(argv[2]);
}
