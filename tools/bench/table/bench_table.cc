#include "tools/bench/table/bench_table.h"

#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lzero/base/check.h"
#include "lzero/base/nearest.h"
#include "lzero/base/status_macros.h"
#include "tools/verbs/support/usage_error.h"

namespace lzero {
namespace {

using BenchTexts = std::vector<std::string>;

const BenchValue* FindBenchValue(const std::vector<BenchCase::Member>& members,
                                 absl::string_view name) {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

BenchTexts BenchList(const std::string& text, char separator) {
  return absl::StrSplit(text, separator, absl::SkipEmpty());
}

bool IsGiven(const BenchGiven& given, const std::string& name) { return given.count(name) > 0; }

// The preset in force that sets this axis; nullptr: none.
const BenchPreset* PresetOf(const BenchTable& table, const BenchGiven& given,
                            const BenchAxis& axis) {
  const auto device = given.find("device");
  for (const BenchPreset& preset : table.presets) {
    const bool is_for_it = preset.device.empty() ||
                           preset.device == (device == given.end() ? "cpu" : device->second[0]);
    const bool is_replaced =
        absl::c_any_of(BenchList(preset.unless, ' '),
                       [&](const std::string& name) { return IsGiven(given, name); });
    if (!is_for_it || is_replaced) continue;
    if (absl::c_linear_search(BenchList(preset.axes, ' '), axis.name)) return &preset;
  }
  return nullptr;
}

// The values that one text stands for: itself, or 1 .. N.
absl::StatusOr<std::vector<BenchValue>> ParseBenchText(const BenchTable& table,
                                                       const BenchAxis& axis,
                                                       const std::string& text) {
  std::string error;
  const BenchTexts allowed = BenchList(axis.allowed, ',');
  if (axis.most > 0) {
    error = IntegerError(text, axis.least, axis.most);
  } else if (!allowed.empty() && !absl::c_linear_search(allowed, text)) {
    error = absl::StrCat("got '", text, "', allowed: ", absl::StrJoin(allowed, ", "),
                         DidYouMean(text, allowed));
  }
  if (!error.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("bench ", table.verb, ": --", axis.option(), ": ", error));
  }
  if (axis.most == 0) return std::vector<BenchValue>{text};
  int64_t number = 0;
  LZ_CHECK(absl::SimpleAtoi(text, &number), text);
  std::vector<BenchValue> values;
  for (int64_t i = axis.counts_up ? 1 : number; i <= number; ++i) values.push_back(i);
  return values;
}

// Replaces every case by one for each row: a value for each of `axes`.
void SweepRows(const BenchTexts& axes, const std::vector<std::vector<BenchValue>>& rows,
               std::vector<BenchCase>* cases) {
  std::vector<BenchCase> swept;
  for (const BenchCase& each : *cases) {
    for (const std::vector<BenchValue>& row : rows) {
      LZ_CHECK(row.size() == axes.size(), "a row of ", axes[0]);
      swept.push_back(each);
      for (size_t i = 0; i < axes.size(); ++i) swept.back().Set(axes[i], row[i]);
    }
  }
  *cases = std::move(swept);
}

absl::Status SweepPreset(const BenchTable& table, const BenchPreset& preset,
                         std::vector<BenchCase>* cases) {
  const BenchTexts axes = BenchList(preset.axes, ' ');
  std::vector<std::vector<BenchValue>> rows;
  for (const std::string& row : preset.rows) {
    const BenchTexts texts = BenchList(row, ' ');
    rows.emplace_back();
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto axis = absl::c_find_if(
          table.axes, [&](const BenchAxis& each) { return each.name == axes.at(i); });
      LZ_ASSIGN_OR_RETURN(const auto values, ParseBenchText(table, *axis, texts[i]));
      rows.back().push_back(values[0]);
    }
  }
  SweepRows(axes, rows, cases);
  return absl::OkStatus();
}

}  // namespace

int64_t BenchCase::Int(absl::string_view name) const {
  const BenchValue* value = FindBenchValue(members_, name);
  LZ_CHECK(value != nullptr, name);
  return std::get<int64_t>(*value);
}

const std::string& BenchCase::Text(absl::string_view name) const {
  const BenchValue* value = FindBenchValue(members_, name);
  LZ_CHECK(value != nullptr, name);
  return std::get<std::string>(*value);
}

std::string BenchCase::Word(absl::string_view name) const {
  const BenchValue* value = FindBenchValue(members_, name);
  LZ_CHECK(value != nullptr, name);
  const auto* number = std::get_if<int64_t>(value);
  return number != nullptr ? absl::StrCat(*number) : std::get<std::string>(*value);
}

bool BenchCase::Has(absl::string_view name) const {
  return FindBenchValue(members_, name) != nullptr;
}

void BenchCase::Set(absl::string_view name, BenchValue value) {
  const auto member =
      absl::c_find_if(members_, [&](const Member& each) { return each.first == name; });
  if (member != members_.end()) {
    member->second = std::move(value);
  } else {
    members_.emplace_back(std::string(name), std::move(value));
  }
}

absl::StatusOr<std::vector<BenchCase>> SweepCases(const BenchTable& table,
                                                  const BenchGiven& given) {
  std::vector<BenchCase> cases(1);
  for (const BenchAxis& axis : table.axes) cases[0].Set(axis.name, std::string());
  std::set<const BenchPreset*> swept;
  for (const BenchAxis& axis : table.axes) {
    const BenchPreset* preset = PresetOf(table, given, axis);
    if (preset != nullptr && swept.insert(preset).second) {
      LZ_RETURN_IF_ERROR(SweepPreset(table, *preset, &cases));
    }
    const auto list = given.find(axis.option());
    if (list == given.end() && preset != nullptr) continue;
    std::vector<std::vector<BenchValue>> rows;
    for (const std::string& text :
         list == given.end() ? BenchList(axis.defaults, ',') : list->second) {
      LZ_ASSIGN_OR_RETURN(const auto values, ParseBenchText(table, axis, text));
      for (const BenchValue& value : values) rows.push_back({value});
    }
    SweepRows({axis.name}, rows, &cases);
  }
  if (table.is_left_out && !absl::c_all_of(cases, table.is_left_out)) {
    cases.erase(std::remove_if(cases.begin(), cases.end(), table.is_left_out), cases.end());
  }
  for (const BenchCase& bench : cases) {
    if (table.check) LZ_RETURN_IF_ERROR(table.check(bench));
  }
  return cases;
}

std::vector<std::string> ArgumentsOf(const BenchTable& table, const BenchGiven& given,
                                     const BenchCase& bench) {
  BenchTexts arguments = {"bench", table.verb};
  for (const BenchAxis& axis : table.axes) {
    const bool is_list = BenchList(axis.defaults, ',').size() > 1;
    if (!IsGiven(given, axis.option()) && PresetOf(table, given, axis) == nullptr && !is_list) {
      continue;
    }
    arguments.push_back("--" + axis.option());
    if (axis.counts_up) {
      arguments.push_back(IsGiven(given, axis.option()) ? given.at(axis.option()).back()
                                                        : axis.defaults);
    } else {
      arguments.push_back(bench.Word(axis.name));
    }
  }
  return arguments;
}

}  // namespace lzero
