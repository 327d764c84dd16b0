#include "tools/bench/table/bench_turns.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "nlohmann/json.hpp"
#include "tools/bench/table/bench_report.h"

namespace lzero {
namespace {

constexpr int64_t kTurns = 3;
constexpr int64_t kRoundsOfTurn = 5;  // the fewest that any build takes

using BenchWords = std::vector<std::string>;
using LinesOfTurns = std::vector<std::vector<std::string>>;  // [turn][case of a command line]

absl::StatusOr<std::vector<std::string>> RunProgram(const BenchTable& table,
                                                    const std::string& program,
                                                    const BenchWords& arguments) {
  const std::string command_line = absl::StrCat(program, " ", absl::StrJoin(arguments, " "));
  std::string command;
  const auto quote = [](const std::string& word) {
    return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "' ");
  };
  for (const std::string& word : arguments) command += quote(word);
  FILE* pipe = popen(absl::StrCat(quote(program), command, "</dev/null 2>&1").c_str(), "r");
  if (pipe == nullptr) return SystemError("cannot run", program);
  std::string printed;
  char part[4096];
  while (const size_t count = std::fread(part, 1, sizeof(part), pipe)) printed.append(part, count);
  const int end = pclose(pipe);
  if (WIFEXITED(end) && WEXITSTATUS(end) == 0) return FindBenchLines(table, printed, command_line);
  const BenchWords lines = absl::StrSplit(printed, '\n', absl::SkipWhitespace());
  return absl::FailedPreconditionError(
      absl::StrCat(command_line, ": ended with ",
                   WIFEXITED(end) ? absl::StrCat("exit code ", WEXITSTATUS(end)) : "a signal",
                   "; it said ", lines.empty() ? "nothing" : absl::StrCat("'", lines.back(), "'")));
}

// Both programs must have measured the same.
absl::Status CheckSameCases(const BenchTable& table, const BenchWords& now,
                            const BenchWords& before, const std::string& other) {
  const auto identities = [&](const BenchWords& lines) {
    return absl::StrJoin(lines, " ", [&](std::string* out, const std::string& line) {
      absl::StrAppend(out, BenchIdentity(table, line));
    });
  };
  if (identities(now) == identities(before)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      other, ": has other cases: ", identities(before), "; asked for: ", identities(now)));
}

// One line a case of all its turns.
void MergeTurns(const LinesOfTurns& turns, std::vector<std::string>* merged) {
  for (size_t i = 0; i < turns[0].size(); ++i) {
    auto line = nlohmann::ordered_json::parse(turns.back()[i]);
    for (auto& [name, value] : line.items()) {
      if (!IsComparedMember(name) || !value.is_number()) continue;
      std::vector<double> values;
      for (const std::vector<std::string>& turn : turns) {
        const auto object = nlohmann::ordered_json::parse(turn[i]);
        if (object.value(name, nlohmann::ordered_json()).is_number())
          values.push_back(object[name]);
      }
      std::sort(values.begin(), values.end());
      value = absl::EndsWith(name, "_min") ? values.front() : values[values.size() / 2];
    }
    merged->push_back(line.dump());
  }
}

}  // namespace

absl::StatusOr<BenchTurns> MeasureInTurn(const BenchTable& table, const BenchGiven& given,
                                         const std::vector<BenchCase>& cases, int64_t rounds,
                                         const std::string& own, const std::string& other) {
  int64_t num_turns = 1;
  if (table.rounds > 0) {
    num_turns = std::max(kTurns, (rounds + kRoundsOfTurn - 1) / kRoundsOfTurn);
  }
  std::vector<BenchWords> command_lines;  // each once: one of them may measure several cases
  for (const BenchCase& bench : cases) {
    BenchWords arguments = ArgumentsOf(table, given, bench);
    arguments.push_back("--json");
    if (table.rounds > 0) {
      arguments.insert(arguments.end(), {"--rounds", absl::StrCat(kRoundsOfTurn)});
    }
    if (command_lines.empty() || command_lines.back() != arguments) {
      command_lines.push_back(arguments);
    }
  }
  BenchTurns result;
  for (size_t i = 0; i < command_lines.size(); ++i) {
    LinesOfTurns now, before;
    for (int64_t turn = 0; turn < num_turns; ++turn) {
      LZ_LOG_INFO("in turn: ", absl::StrJoin(command_lines[i], " "), ", ", i + 1, "/",
                  command_lines.size(), ", turn ", turn + 1, "/", num_turns);
      std::pair<const std::string*, LinesOfTurns*> order[] = {{&other, &before}, {&own, &now}};
      if (turn % 2 == 1) std::swap(order[0], order[1]);
      for (const auto& [program, lines] : order) {
        LZ_ASSIGN_OR_RETURN(auto printed, RunProgram(table, *program, command_lines[i]));
        lines->push_back(std::move(printed));
      }
      LZ_RETURN_IF_ERROR(CheckSameCases(table, now.back(), before.back(), other));
    }
    MergeTurns(now, &result.now);
    MergeTurns(before, &result.before);
  }
  return result;
}

bool IsProgram(const std::string& path) {
  return access(path.c_str(), X_OK) == 0 && !IsDirectory(path);
}

}  // namespace lzero
