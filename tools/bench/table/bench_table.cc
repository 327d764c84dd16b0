#include "tools/bench/table/bench_table.h"

#include <algorithm>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/nearest.h"
#include "lzero/base/status_macros.h"
#include "tools/bench/table/machine_peaks.h"
#include "tools/verbs/support/source_commit.h"
#include "tools/verbs/support/usage_error.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

using BenchTexts = std::vector<std::string>;

BenchTexts BenchList(const std::string& text, char separator) {
  return absl::StrSplit(text, separator, absl::SkipEmpty());
}

// The preset in force that sets this axis; nullptr: none.
const BenchPreset* PresetOf(const BenchTable& table, const BenchGiven& given,
                            const BenchAxis& axis) {
  const auto device = given.find("device");
  const std::string name = device == given.end() ? "cpu" : device->second[0];
  const auto is_given = [&](const std::string& option) { return given.count(option) > 0; };
  for (const BenchPreset& preset : table.presets) {
    if ((preset.device.empty() || preset.device == name) &&
        absl::c_linear_search(BenchList(preset.axes, ' '), axis.name) &&
        !absl::c_any_of(BenchList(preset.unless, ' '), is_given)) {
      return &preset;
    }
  }
  return nullptr;
}

absl::StatusOr<BenchValue> ParseBenchText(const BenchTable& table, const BenchAxis& axis,
                                          const std::string& text) {
  const BenchTexts allowed = BenchList(axis.allowed, ',');
  std::string error;
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
  int64_t number = 0;
  if (axis.most == 0) return text;
  LZ_CHECK(absl::SimpleAtoi(text, &number), text);
  return number;
}

// Replaces every case by one for each row: a text for each of `names`.
absl::Status SweepRows(const BenchTable& table, const BenchTexts& names,
                       const std::vector<BenchTexts>& rows, std::vector<BenchCase>* cases) {
  std::vector<BenchCase> swept;
  for (const BenchCase& each : *cases) {
    for (const BenchTexts& row : rows) {
      LZ_CHECK(row.size() == names.size(), "a row of ", names[0]);
      swept.push_back(each);
      for (size_t i = 0; i < row.size(); ++i) {
        const auto axis = absl::c_find_if(
            table.axes, [&](const BenchAxis& other) { return other.name == names[i]; });
        LZ_ASSIGN_OR_RETURN(BenchValue value, ParseBenchText(table, *axis, row[i]));
        swept.back().Set(names[i], std::move(value));
      }
    }
  }
  *cases = std::move(swept);
  return absl::OkStatus();
}

struct MeasuredCase {
  BenchCase bench;
  BenchSubject subject;
  std::vector<double> seconds = {};
  BenchPeaks peaks = {};  // the best of all rounds
};

// What a peak of the CPU depends on: threads, bytes that are read, numbers.
using PeakKey = std::tuple<int64_t, int64_t, bool>;

PeakKey PeakKeyOf(const MeasuredCase& measured) {
  const bool has_dtype = measured.bench.Has("dtype");
  return {measured.bench.Int("threads"), measured.subject.work.weight_bytes,
          has_dtype && measured.bench.Word("dtype") == "bf16"};
}

BenchPeaks MeasureCpuPeaks(const PeakKey& key) {
  const auto& [threads, bytes, is_bf16] = key;
  return {is_bf16 ? MeasurePeakBf16Gflops(threads) : MeasurePeakGflops(threads),
          bytes > 0 ? MeasureReadGbs(bytes, threads) : 0.0};
}

double UnitsPerSecond(const BenchTable& table) {
  return absl::StartsWith(table.unit, "ns") ? 1e9 : absl::StartsWith(table.unit, "us") ? 1e6 : 1e3;
}

BenchCase ResultOf(const BenchTable& table, int64_t rounds, MeasuredCase& measured) {
  BenchCase result = {{"bench", table.verb}};
  if (!table.kind.empty()) result.Set("kind", table.kind);
  result.Add(measured.bench);
  if (table.rounds > 0) result.Set("rounds", rounds);
  std::vector<double>& seconds = measured.seconds;
  if (!table.unit.empty()) {
    LZ_CHECK(!seconds.empty(), "a case without a time");
    absl::c_sort(seconds);
    result.Set(table.unit + "_min", seconds.front() * UnitsPerSecond(table));
    result.Set(table.unit + "_median", seconds[seconds.size() / 2] * UnitsPerSecond(table));
  }
  if (measured.subject.metrics) result.Add(measured.subject.metrics());
  const auto add_speed = [&](const std::string& name, int64_t count, double peak) {
    if (count == 0) return;
    result.Set(name, 1e-9 * static_cast<double>(count) / seconds.front());
    result.Set("peak_" + name, peak);
  };
  add_speed("gflops", measured.subject.work.flops, measured.peaks.gflops);
  add_speed("gbs", measured.subject.work.read_bytes, measured.peaks.gbs);
  return result;
}

}  // namespace

const BenchValue* BenchCase::Find(absl::string_view name) const {
  const auto found =
      absl::c_find_if(members_, [&](const auto& each) { return each.first == name; });
  return found == members_.end() ? nullptr : &found->second;
}

int64_t BenchCase::Int(absl::string_view name) const {
  LZ_CHECK(Has(name), name);
  return std::get<int64_t>(*Find(name));
}

std::string BenchCase::Word(absl::string_view name) const {
  LZ_CHECK(Has(name), name);
  const auto* number = std::get_if<int64_t>(Find(name));
  return number != nullptr ? absl::StrCat(*number) : std::get<std::string>(*Find(name));
}

void BenchCase::Set(absl::string_view name, BenchValue value) {
  const auto found =
      absl::c_find_if(members_, [&](const auto& each) { return each.first == name; });
  if (found != members_.end()) {
    found->second = std::move(value);
  } else {
    members_.emplace_back(std::string(name), std::move(value));
  }
}

void BenchCase::Add(const BenchCase& other) {
  for (const auto& [name, value] : other.members_) Set(name, value);
}

absl::StatusOr<std::vector<BenchCase>> SweepCases(const BenchTable& table,
                                                  const BenchGiven& given) {
  std::vector<BenchCase> cases(1);
  for (const BenchAxis& axis : table.axes) cases[0].Set(axis.name, std::string());
  for (const BenchAxis& axis : table.axes) {
    std::vector<BenchTexts> rows;
    const BenchPreset* preset = PresetOf(table, given, axis);
    const BenchTexts names = BenchList(preset != nullptr ? preset->axes : axis.name, ' ');
    if (preset != nullptr && names[0] == axis.name) {  // whose first axis it is
      for (const std::string& row : preset->rows) rows.push_back(BenchList(row, ' '));
      LZ_RETURN_IF_ERROR(SweepRows(table, names, rows, &cases));
    }
    const auto list = given.find(axis.option());
    if (list == given.end() && preset != nullptr) continue;
    BenchTexts texts = list == given.end() ? BenchList(axis.defaults, ',') : list->second;
    if (axis.counts_up) {
      LZ_ASSIGN_OR_RETURN(const BenchValue last, ParseBenchText(table, axis, texts.back()));
      texts.clear();
      for (int64_t i = 1; i <= std::get<int64_t>(last); ++i) texts.push_back(absl::StrCat(i));
    }
    if (texts.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("bench ", table.verb, ": --", axis.option(), " is needed: ", axis.help));
    }
    rows.clear();
    for (const std::string& text : texts) rows.push_back({text});
    LZ_RETURN_IF_ERROR(SweepRows(table, {axis.name}, rows, &cases));
  }
  if (table.is_left_out && !absl::c_all_of(cases, table.is_left_out)) {
    std::erase_if(cases, table.is_left_out);
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
    const auto list = given.find(axis.option());
    if (list == given.end() && PresetOf(table, given, axis) == nullptr &&
        !absl::StrContains(axis.defaults, ',')) {
      continue;
    }
    arguments.push_back("--" + axis.option());
    arguments.push_back(axis.counts_up ? list->second.back() : bench.Word(axis.name));
  }
  return arguments;
}

absl::StatusOr<std::vector<BenchCase>> MeasureCases(const BenchTable& table,
                                                    const std::vector<BenchCase>& cases,
                                                    int64_t rounds, const BenchMachine& machine) {
  const double load_before = LoadAverage();
  ProgressClock progress;
  // Prepare.
  std::vector<MeasuredCase> measured;
  for (const BenchCase& bench : cases) {
    LZ_ASSIGN_OR_RETURN(BenchSubject subject, table.prepare(bench));
    measured.push_back({bench, std::move(subject)});
    if (progress.IsDue()) LZ_LOG_INFO("prepared ", measured.size(), "/", cases.size(), " cases");
  }
  // Measure in rounds, peaks first.
  if (table.rounds == 0) rounds = 1;
  for (int64_t round = 1; round <= rounds; ++round) {
    std::map<PeakKey, BenchPeaks> peaks;  // of this round, each measured once
    for (size_t i = 0; i < measured.size(); ++i) {
      MeasuredCase& each = measured[i];
      if (each.subject.work.flops > 0) {
        const PeakKey key = machine.measure_peaks ? PeakKey() : PeakKeyOf(each);
        if (peaks.count(key) == 0) {
          LZ_ASSIGN_OR_RETURN(
              peaks[key], machine.measure_peaks ? machine.measure_peaks() : MeasureCpuPeaks(key));
        }
        each.peaks.gflops = std::max(each.peaks.gflops, peaks[key].gflops);
        each.peaks.gbs = std::max(each.peaks.gbs, peaks[key].gbs);
      }
      LZ_RETURN_IF_ERROR(each.subject.run_round(&each.seconds));
      if (!progress.IsDue()) continue;
      LZ_LOG_INFO("round ", round, "/", rounds, ", case ", i + 1, "/", measured.size());
    }
  }
  // Report.
  std::vector<BenchCase> results;
  const std::vector<double> load = {load_before, LoadAverage()};
  for (MeasuredCase& each : measured) {
    results.push_back(ResultOf(table, rounds, each));
    results.back().Add({{"cpu", CpuName()}, {"commit", SourceCommit()}, {"load", load}});
    if (!machine.gpu.empty()) results.back().Set("gpu", machine.gpu);
  }
  return results;
}

}  // namespace lzero
