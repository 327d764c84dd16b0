// Oracle test: open_spiel_2048_oracle SCRIPT FOLDER runs tools/record/record_open_spiel_2048.py
// (with python3, or the interpreter that LZERO_PYTHON names), replays the games it recorded, step
// by step and whole, and compares the legal moves before every step. Exit code 77, "not run", when
// that Python has no pyspiel.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "envs/register_all.h"
#include "lzero/base/files.h"
#include "nlohmann/json.hpp"
#include "tests/oracle/recording.h"
#include "tools/verbs/plain/envs_verb.h"

namespace {

using Json = nlohmann::json;

// The number of steps before which the environment, played from the seeds, takes other moves than
// the recording calls legal; -1 when it does not follow the recording.
int64_t CountOtherMasks(const lzero::EnvRegistry& registry, const std::string& text) {
  const std::unique_ptr<lzero::Env> env = *registry.Make("2048", {});
  int64_t num_others = 0;
  std::vector<uint8_t> mask;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const Json record = Json::parse(line);
    if (record["type"] == "reset") {
      mask = env->Reset(record["seed"].get<uint64_t>()).legal_action_mask;
    } else if (record["type"] == "step") {
      std::vector<uint8_t> legal(mask.size(), 0);
      for (const int move : record["legal"]) legal[move] = 1;
      num_others += legal == mask ? 0 : 1;
      const auto step =
          env->StepWithOutcome(lzero::Action::Discrete(record["action"].get<int32_t>()),
                               record["chance"].get<int32_t>());
      if (!step.ok()) return -1;
      mask = step->legal_action_mask;
    }
  }
  return num_others;
}

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
    options.target.id = "2048";
    options.trace_path = lzero::JoinPath(folder, name);
    for (const bool whole : {false, true}) {
      options.whole = whole;
      std::cout << name << (whole ? ", whole: " : ": ");
      worst = std::max(worst, lzero::EnvsReplay(registry, options, console));
    }
    const int64_t num_others = CountOtherMasks(registry, *lzero::ReadFile(options.trace_path));
    std::cout << name << ": other legal moves before " << num_others << " steps\n";
    if (num_others != 0) worst = std::max(worst, 1);
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: open_spiel_2048_oracle SCRIPT FOLDER\n";
    return 2;
  }
  (void)lzero::RemoveTree(argv[2]);
  const char* python = std::getenv("LZERO_PYTHON");
  const int recorded =
      lzero::oracle::Record(python != nullptr ? python : "python3", argv[1], argv[2]);
  return recorded != 0 ? recorded : ReplayAll(argv[2]);
}
