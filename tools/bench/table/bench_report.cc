#include "tools/bench/table/bench_report.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using BenchJson = nlohmann::ordered_json;
using BenchCases = std::vector<BenchCase>;
using BenchWords = std::vector<std::string>;

// More digits are noise.
double Rounded(double value) {
  const bool is_large = std::abs(value) >= 1000.0;
  const std::string text =
      is_large ? absl::StrFormat("%.2f", value) : absl::StrFormat("%.5g", value);
  return std::strtod(text.c_str(), nullptr);
}
std::vector<double> Rounded(std::vector<double> values) {
  for (double& value : values) value = Rounded(value);
  return values;
}
template <typename T>
const T& Rounded(const T& value) {
  return value;
}

// Without lists, which nothing is compared by.
BenchCase CaseOf(const BenchJson& object) {
  BenchCase measured;
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) measured.Set(name, value.get<std::string>());
    if (value.is_number_integer()) measured.Set(name, value.get<int64_t>());
    if (value.is_number_float()) measured.Set(name, value.get<double>());
    if (value.is_null()) measured.Set(name, std::numeric_limits<double>::quiet_NaN());
  }
  return measured;
}

// NaN: there is no such number.
double NumberOf(const BenchCase& measured, absl::string_view name) {
  const BenchValue* value = measured.Find(name);
  if (value == nullptr) return std::numeric_limits<double>::quiet_NaN();
  if (const auto* number = std::get_if<double>(value)) return *number;
  const auto* count = std::get_if<int64_t>(value);
  return count != nullptr ? static_cast<double>(*count) : std::numeric_limits<double>::quiet_NaN();
}

std::string ShownValue(const BenchCase& measured, absl::string_view name) {
  if (!measured.Has(name)) return "null";
  const auto* number = std::get_if<double>(measured.Find(name));
  if (number == nullptr) return measured.Word(name);
  return std::isfinite(*number) ? absl::StrFormat("%.5g", *number) : "null";
}

// What tells a case from others: the values of its axes.
BenchCase IdentityOf(const BenchTable& table, const BenchCase& measured) {
  BenchCase identity;
  if (measured.Has("kind")) identity.Set("kind", measured.Word("kind"));
  for (const BenchAxis& axis : table.axes) {
    int64_t number = 0;
    if (measured.Has(axis.name)) {
      identity.Set(axis.name, *measured.Find(axis.name));
    } else if (axis.most > 0 && absl::SimpleAtoi(axis.defaults, &number)) {
      identity.Set(axis.name, number);
    } else {
      identity.Set(axis.name, axis.defaults);
    }
  }
  return identity;
}

bool IsAxis(const BenchTable& table, absl::string_view name) {
  return absl::c_any_of(table.axes, [&](const BenchAxis& axis) { return axis.name == name; });
}

// Whether a row of the table shows it: what was measured, and axes whose values differ.
bool IsColumn(const BenchTable& table, const BenchCases& measured, absl::string_view name) {
  static constexpr absl::string_view kNever[] = {"bench",  "kind", "rounds", "cpu",
                                                 "commit", "load", "gpu"};
  if (absl::c_linear_search(kNever, name) || name == table.last_line) return false;
  return !IsAxis(table, name) || absl::c_any_of(measured, [&](const BenchCase& each) {
    return ShownValue(each, name) != ShownValue(measured[0], name);
  });
}

// Whether less is better and two runs can be compared: times, memory, errors beside eager.
bool IsCompared(absl::string_view name) {
  static constexpr absl::string_view kEndings[] = {"_min", "_median", "_ms", "_mib",
                                                   "_error_ratio"};
  return absl::c_any_of(kEndings, [&](auto ending) { return absl::EndsWith(name, ending); });
}

// "FLOPs: 53% reached". Shares of both limits are of the same time, so the larger one is of the
// limit that binds.
std::string LimitOf(const BenchCase& measured) {
  if (!measured.Has("gflops") && !measured.Has("gbs")) return "";
  const double flops = NumberOf(measured, "gflops") / NumberOf(measured, "peak_gflops");
  const double reads = NumberOf(measured, "gbs") / NumberOf(measured, "peak_gbs");
  return reads > flops ? absl::StrFormat("reads: %.0f%% reached", 100.0 * reads)
                       : absl::StrFormat("FLOPs: %.0f%% reached", 100.0 * flops);
}

// Columns as wide as their widest cell, to the right.
std::string AlignedRows(const std::vector<BenchWords>& rows) {
  std::string text;
  for (const BenchWords& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      size_t width = 0;
      for (const BenchWords& other : rows) width = std::max(width, other[i].size());
      absl::StrAppendFormat(&text, "%s%*s", i == 0 ? "" : "  ", static_cast<int>(width), row[i]);
    }
    text += '\n';
  }
  return text;
}

// "us_min 36 -> 18 (0.500x)" for each compared member that both have.
std::string RatiosOf(const BenchCase& now, const BenchCase& before) {
  BenchWords parts;
  for (const auto& [name, value] : now.members()) {
    const double later = NumberOf(now, name), earlier = NumberOf(before, name);
    if (!IsCompared(name) || std::isnan(later) || std::isnan(earlier)) continue;
    parts.push_back(absl::StrFormat("%s %.5g -> %.5g (%.3fx)", name, earlier, later,
                                    earlier == later ? 1.0 : later / earlier));
  }
  return absl::StrJoin(parts, ", ");
}

absl::StatusOr<BenchCases> RunProgram(const BenchTable& table, const std::string& program,
                                      const BenchWords& arguments) {
  const std::string command_line = absl::StrCat(program, " ", absl::StrJoin(arguments, " "));
  const auto quote = [](std::string* out, const std::string& word) {
    absl::StrAppend(out, "'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "' ");
  };
  std::string command;
  quote(&command, program);
  for (const std::string& word : arguments) quote(&command, word);
  FILE* pipe = popen(absl::StrCat(command, "</dev/null 2>&1").c_str(), "r");
  if (pipe == nullptr) return SystemError("cannot run", program);
  std::string printed;
  char part[4096];
  while (const size_t count = std::fread(part, 1, sizeof(part), pipe)) printed.append(part, count);
  const int end = pclose(pipe);
  if (WIFEXITED(end) && WEXITSTATUS(end) == 0) return ParseBenchLines(table, printed, command_line);
  const BenchWords lines = absl::StrSplit(printed, '\n', absl::SkipWhitespace());
  return absl::FailedPreconditionError(
      absl::StrCat(command_line, ": ended with ",
                   WIFEXITED(end) ? absl::StrCat("exit code ", WEXITSTATUS(end)) : "a signal",
                   "; it said ", lines.empty() ? "nothing" : absl::StrCat("'", lines.back(), "'")));
}

// Both programs must have measured the same.
absl::Status CheckSameCases(const BenchTable& table, const BenchCases& now,
                            const BenchCases& before, const std::string& other) {
  const auto identities = [&](const BenchCases& measured) {
    return absl::StrJoin(measured, " ", [&](std::string* out, const BenchCase& each) {
      out->append(BenchLine(IdentityOf(table, each)));
    });
  };
  if (identities(now) == identities(before)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      other, ": has other cases: ", identities(before), "; asked for: ", identities(now)));
}

// Appends each case of all its turns, [turn][case].
void MergeTurns(const std::vector<BenchCases>& turns, BenchCases* merged) {
  for (size_t i = 0; i < turns[0].size(); ++i) {
    merged->push_back(turns.back()[i]);
    for (const auto& [name, value] : turns.back()[i].members()) {
      std::vector<double> values;
      for (const BenchCases& turn : turns) values.push_back(NumberOf(turn[i], name));
      std::erase_if(values, [](double number) { return std::isnan(number); });
      const bool is_speed = name == "gflops" || name == "gbs";  // of the least time
      if (!(IsCompared(name) || is_speed) || values.empty()) continue;
      absl::c_sort(values);
      merged->back().Set(name, is_speed                       ? values.back()
                               : absl::EndsWith(name, "_min") ? values.front()
                                                              : values[values.size() / 2]);
    }
  }
}

}  // namespace

std::string BenchLine(const BenchCase& measured) {
  BenchJson line;
  for (const auto& [name, value] : measured.members()) {
    std::visit([&, &key = name](const auto& shown) { line[key] = Rounded(shown); }, value);
  }
  return line.dump();
}

std::string BenchTableText(const BenchTable& table, const BenchCases& measured) {
  BenchWords shared;
  std::vector<BenchWords> rows(measured.size() + 1);
  const auto add_column = [&](const std::string& name, const auto& cell_of) {
    rows[0].push_back(name);
    for (size_t i = 0; i < measured.size(); ++i) rows[i + 1].push_back(cell_of(measured[i]));
  };
  for (const BenchCase::Member& member : measured[0].members()) {
    const std::string& name = member.first;
    if (IsColumn(table, measured, name)) {
      add_column(name, [&](const BenchCase& each) { return ShownValue(each, name); });
    } else if (IsAxis(table, name)) {
      shared.push_back(absl::StrCat(name, " ", ShownValue(measured[0], name)));
    }
  }
  if (measured[0].Has("gflops")) add_column("limit that binds", LimitOf);
  std::string text =
      absl::StrCat("all cases: ", absl::StrJoin(shared, ", "), "\n", AlignedRows(rows));
  if (!table.last_line.empty()) {
    absl::StrAppend(&text, table.last_line, " ", ShownValue(measured[0], table.last_line), "\n");
  }
  return text;
}

absl::StatusOr<BenchCases> ParseBenchLines(const BenchTable& table, absl::string_view text,
                                           const std::string& source) {
  BenchCases cases;
  int64_t line_number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (!absl::StartsWith(line, "{")) continue;
    const BenchJson object = BenchJson::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object() || !object.contains("bench")) {
      return absl::InvalidArgumentError(
          absl::StrCat(source, ":", line_number, ": no object of a benchmark"));
    }
    if (object["bench"] == table.verb) cases.push_back(CaseOf(object));
  }
  if (!cases.empty()) return cases;
  return absl::InvalidArgumentError(absl::StrCat(source, ": no line of bench ", table.verb,
                                                 "; save one with: lzero bench ", table.verb,
                                                 " ... > FILE"));
}

std::vector<std::string> CompareBenchCases(const BenchTable& table, const BenchCases& now,
                                           const BenchCases& before) {
  BenchWords compared;
  int64_t num_new = 0;
  for (const BenchCase& each : now) {
    const BenchCase identity = IdentityOf(table, each);
    const auto found = std::find_if(before.rbegin(), before.rend(), [&](const BenchCase& other) {
      return IdentityOf(table, other).members() == identity.members();
    });
    if (found == before.rend()) {
      ++num_new;
      continue;
    }
    std::string text = table.verb;
    for (const BenchAxis& axis : table.axes) {
      if (!IsColumn(table, now, axis.name)) continue;
      absl::StrAppend(&text, " ", axis.name, " ", ShownValue(each, axis.name));
    }
    compared.push_back(absl::StrCat(text, ": ", RatiosOf(each, *found)));
  }
  if (num_new > 0) compared.push_back(absl::StrCat(num_new, " cases have no line in it"));
  return compared;
}

absl::StatusOr<BenchTurns> MeasureInTurn(const BenchTable& table, const BenchGiven& given,
                                         const BenchCases& cases, int64_t rounds,
                                         const std::string& own, const std::string& other) {
  constexpr int64_t kTurns = 3;
  constexpr int64_t kRoundsOfTurn = 5;  // the fewest that any build takes
  const bool has_rounds = table.rounds > 0;
  const int64_t num_turns =
      has_rounds ? std::max(kTurns, (rounds + kRoundsOfTurn - 1) / kRoundsOfTurn) : 1;
  std::vector<BenchWords> command_lines;  // each once: one of them may measure several cases
  for (const BenchCase& bench : cases) {
    command_lines.push_back(ArgumentsOf(table, given, bench));
    command_lines.back().push_back("--json");
    if (has_rounds) {
      command_lines.back().insert(command_lines.back().end(),
                                  {"--rounds", absl::StrCat(kRoundsOfTurn)});
    }
  }
  command_lines.erase(std::unique(command_lines.begin(), command_lines.end()), command_lines.end());
  // In each turn both programs, the other one first every second time.
  BenchTurns result;
  for (size_t i = 0; i < command_lines.size(); ++i) {
    std::vector<BenchCases> now, before;
    for (int64_t turn = 0; turn < num_turns; ++turn) {
      LZ_LOG_INFO("in turn: ", absl::StrJoin(command_lines[i], " "), ", ", i + 1, "/",
                  command_lines.size(), ", turn ", turn + 1, "/", num_turns);
      for (const bool is_own : {turn % 2 == 1, turn % 2 == 0}) {
        LZ_ASSIGN_OR_RETURN(BenchCases printed,
                            RunProgram(table, is_own ? own : other, command_lines[i]));
        (is_own ? now : before).push_back(std::move(printed));
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
