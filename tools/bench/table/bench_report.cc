#include "tools/bench/table/bench_report.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using BenchJson = nlohmann::ordered_json;

// Null where it has none.
BenchJson MemberOf(const BenchJson& object, const std::string& name) {
  return object.value(name, BenchJson());
}

std::string ShownValue(const BenchJson& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? absl::StrFormat("%.5g", value.get<double>()) : value.dump();
}

bool IsBenchAxis(const BenchTable& table, const std::string& name) {
  return absl::c_any_of(table.axes, [&](const BenchAxis& axis) { return axis.name == name; });
}

// Whether a row of the table shows it: what was measured, and axes whose values differ.
bool IsColumn(const BenchTable& table, const std::vector<BenchJson>& objects,
              const std::string& name) {
  static const auto* const kNever =
      new std::set<std::string>{"bench", "kind", "rounds", "cpu", "commit", "load", "gpu"};
  if (kNever->count(name) > 0 || name == table.last_line) return false;
  if (!IsBenchAxis(table, name)) return true;
  return absl::c_any_of(objects, [&](const BenchJson& each) {
    return MemberOf(each, name) != MemberOf(objects[0], name);
  });
}

// "FLOPs: 53% reached"; empty without a speed. Shares of both limits are of the same time, so the
// larger one is of the limit that binds.
std::string LimitOf(const BenchJson& object) {
  if (!object.contains("gflops")) return "";
  const auto share = [&](const std::string& name) {
    if (!object.contains(name)) return 0.0;
    return object[name].get<double>() / object["peak_" + name].get<double>();
  };
  const double flops = share("gflops"), reads = share("gbs");
  return absl::StrFormat("%s: %.0f%% reached", flops >= reads ? "FLOPs" : "reads",
                         100.0 * std::max(flops, reads));
}

// Columns as wide as their widest cell, to the right.
std::string AlignedRows(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      size_t width = 0;
      for (const std::vector<std::string>& other : rows) width = std::max(width, other[i].size());
      absl::StrAppendFormat(&text, "%s%*s", i == 0 ? "" : "  ", static_cast<int>(width), row[i]);
    }
    text += '\n';
  }
  return text;
}

BenchJson IdentityOf(const BenchTable& table, const BenchJson& object) {
  BenchJson identity = BenchJson::object();
  if (object.contains("kind")) identity["kind"] = object["kind"];
  for (const BenchAxis& axis : table.axes) {
    if (object.contains(axis.name)) {
      identity[axis.name] = object[axis.name];
    } else if (axis.most > 0) {
      identity[axis.name] = BenchJson::parse(axis.defaults, nullptr, /*allow_exceptions=*/false);
    } else {
      identity[axis.name] = axis.defaults;
    }
  }
  return identity;
}

// "us_min 36 -> 18 (0.50x)" for each compared member that both have.
std::string BenchRatios(const BenchJson& now, const BenchJson& before) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : now.items()) {
    if (!IsComparedMember(name) || !value.is_number()) continue;
    if (!before.contains(name) || !before[name].is_number()) continue;
    const double earlier = before[name].get<double>(), later = value.get<double>();
    parts.push_back(absl::StrFormat("%s %.5g -> %.5g (%.3fx)", name, earlier, later,
                                    earlier == later ? 1.0 : later / earlier));
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace

std::string BenchTableText(const BenchTable& table, const std::vector<std::string>& lines) {
  std::vector<BenchJson> objects;
  for (const std::string& line : lines) objects.push_back(BenchJson::parse(line));
  std::vector<std::string> shared;
  std::vector<std::vector<std::string>> rows(objects.size() + 1);
  for (const auto& [name, first] : objects[0].items()) {
    if (IsColumn(table, objects, name)) {
      rows[0].push_back(name);
      for (size_t i = 0; i < objects.size(); ++i) {
        rows[i + 1].push_back(ShownValue(MemberOf(objects[i], name)));
      }
    } else if (IsBenchAxis(table, name)) {
      shared.push_back(absl::StrCat(name, " ", ShownValue(first)));
    }
  }
  if (objects[0].contains("gflops")) {
    rows[0].push_back("limit that binds");
    for (size_t i = 0; i < objects.size(); ++i) rows[i + 1].push_back(LimitOf(objects[i]));
  }
  std::string text =
      absl::StrCat("all cases: ", absl::StrJoin(shared, ", "), "\n", AlignedRows(rows));
  if (!table.last_line.empty()) {
    absl::StrAppend(&text, table.last_line, " ", ShownValue(MemberOf(objects[0], table.last_line)),
                    "\n");
  }
  return text;
}

absl::StatusOr<std::vector<std::string>> FindBenchLines(const BenchTable& table,
                                                        absl::string_view text,
                                                        const std::string& source) {
  std::vector<std::string> lines;
  int64_t line_number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (!absl::StartsWith(line, "{")) continue;
    const BenchJson object = BenchJson::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object() || !object.contains("bench")) {
      return absl::InvalidArgumentError(
          absl::StrCat(source, ":", line_number, ": no object of a benchmark"));
    }
    if (object["bench"] == table.verb) lines.emplace_back(line);
  }
  if (!lines.empty()) return lines;
  return absl::InvalidArgumentError(absl::StrCat(source, ": no line of bench ", table.verb,
                                                 "; save one with: lzero bench ", table.verb,
                                                 " ... > FILE"));
}

std::string BenchIdentity(const BenchTable& table, const std::string& line) {
  return IdentityOf(table, BenchJson::parse(line)).dump();
}

bool IsComparedMember(absl::string_view name) {
  return absl::c_any_of(
      std::vector<absl::string_view>{"_min", "_median", "_ms", "_mib", "_error_ratio"},
      [&](absl::string_view ending) { return absl::EndsWith(name, ending); });
}

std::vector<std::string> CompareBenchLines(const BenchTable& table,
                                           const std::vector<std::string>& lines,
                                           const std::vector<std::string>& earlier) {
  std::map<std::string, BenchJson> before;
  for (const std::string& line : earlier) {
    before[BenchIdentity(table, line)] = BenchJson::parse(line);
  }
  std::vector<BenchJson> objects;
  for (const std::string& line : lines) objects.push_back(BenchJson::parse(line));
  std::vector<std::string> compared;
  int64_t num_new = 0;
  for (const BenchJson& object : objects) {
    const auto found = before.find(IdentityOf(table, object).dump());
    if (found == before.end()) {
      ++num_new;
      continue;
    }
    std::vector<std::string> words = {table.verb};
    for (const BenchAxis& axis : table.axes) {
      if (IsColumn(table, objects, axis.name)) {
        words.push_back(absl::StrCat(axis.name, " ", ShownValue(MemberOf(object, axis.name))));
      }
    }
    compared.push_back(
        absl::StrCat(absl::StrJoin(words, " "), ": ", BenchRatios(object, found->second)));
  }
  if (num_new > 0) compared.push_back(absl::StrCat(num_new, " cases have no line in it"));
  return compared;
}

}  // namespace lzero
