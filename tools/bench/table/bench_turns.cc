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

// Cases that one command line measures.
struct CaseGroup {
  std::vector<std::string> arguments;
  std::vector<std::string> identities;
};

using LinesOfTurns = std::vector<std::vector<std::string>>;  // [turn][case of a group]

std::vector<CaseGroup> GroupCases(const BenchTable& table, const BenchGiven& given,
                                  const std::vector<BenchCase>& cases) {
  std::vector<CaseGroup> groups;
  for (const BenchCase& bench : cases) {
    const std::vector<std::string> arguments = ArgumentsOf(table, given, bench);
    if (groups.empty() || groups.back().arguments != arguments) groups.push_back({arguments, {}});
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    if (!table.kind.empty()) object["kind"] = table.kind;
    for (const BenchAxis& axis : table.axes) {
      if (axis.most > 0) {
        object[axis.name] = bench.Int(axis.name);
      } else {
        object[axis.name] = bench.Text(axis.name);
      }
    }
    groups.back().identities.push_back(BenchIdentity(table, object.dump()));
  }
  return groups;
}

absl::StatusOr<std::vector<std::string>> RunProgram(const BenchTable& table, const CaseGroup& group,
                                                    const std::string& program) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), group.arguments.begin(), group.arguments.end());
  const std::string command_line = absl::StrJoin(words, " ");
  for (std::string& word : words) word = "'" + absl::StrReplaceAll(word, {{"'", "'\\''"}}) + "'";
  FILE* pipe = popen(absl::StrCat(absl::StrJoin(words, " "), " </dev/null 2>&1").c_str(), "r");
  if (pipe == nullptr) return SystemError("cannot run", program);
  std::string printed;
  char part[4096];
  while (const size_t count = std::fread(part, 1, sizeof(part), pipe)) printed.append(part, count);
  const int end = pclose(pipe);
  if (!WIFEXITED(end) || WEXITSTATUS(end) != 0) {
    const std::vector<std::string> lines = absl::StrSplit(printed, '\n', absl::SkipWhitespace());
    const std::string said = lines.empty() ? "nothing" : "'" + lines.back() + "'";
    return absl::FailedPreconditionError(
        absl::StrCat(command_line, ": ended with ",
                     WIFEXITED(end) ? absl::StrCat("exit code ", WEXITSTATUS(end)) : "a signal",
                     "; it said ", said));
  }
  LZ_ASSIGN_OR_RETURN(const auto lines, FindBenchLines(table, printed, command_line));
  std::vector<std::string> identities;
  for (const std::string& line : lines) identities.push_back(BenchIdentity(table, line));
  if (identities == group.identities) return lines;
  return absl::FailedPreconditionError(
      absl::StrCat(command_line, ": has other cases: ", absl::StrJoin(identities, " "),
                   "; asked for: ", absl::StrJoin(group.identities, " ")));
}

// One line a case of all its turns.
void MergeTurns(const LinesOfTurns& turns, std::vector<std::string>* merged) {
  for (size_t i = 0; i < turns[0].size(); ++i) {
    auto line = nlohmann::ordered_json::parse(turns.back()[i]);
    for (auto& [name, value] : line.items()) {
      if (!IsComparedMember(name) || !value.is_number()) continue;
      std::vector<double> values;
      for (const std::vector<std::string>& turn : turns) {
        values.push_back(nlohmann::ordered_json::parse(turn[i]).value(name, value.get<double>()));
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
  BenchTurns result;
  std::vector<CaseGroup> groups = GroupCases(table, given, cases);
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<std::string>& arguments = groups[g].arguments;
    arguments.push_back("--json");
    if (table.rounds > 0) {
      arguments.insert(arguments.end(), {"--rounds", absl::StrCat(kRoundsOfTurn)});
    }
    LinesOfTurns now, before;
    for (int64_t turn = 0; turn < num_turns; ++turn) {
      LZ_LOG_INFO("in turn: ", absl::StrJoin(arguments, " "), ", ", g + 1, "/", groups.size(),
                  ", turn ", turn + 1, "/", num_turns);
      std::pair<const std::string*, LinesOfTurns*> order[] = {{&other, &before}, {&own, &now}};
      if (turn % 2 == 1) std::swap(order[0], order[1]);
      for (const auto& [program, lines] : order) {
        LZ_ASSIGN_OR_RETURN(auto printed, RunProgram(table, groups[g], *program));
        lines->push_back(std::move(printed));
      }
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
