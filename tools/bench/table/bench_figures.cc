#include "tools/bench/table/bench_figures.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_format.h"
#include "lzero/base/check.h"
#include "nlohmann/json.hpp"
#include "tools/bench/table/machine_peaks.h"
#include "tools/verbs/support/source_commit.h"

namespace lzero {

BenchConditions BeginConditions(const std::string& gpu) {
  BenchConditions conditions;
  conditions.commit = SourceCommit();
  conditions.load_before = LoadAverage();
  conditions.cpu = CpuName();
  conditions.gpu = gpu;
  return conditions;
}

std::string ConditionsJson(const BenchConditions& conditions) {
  nlohmann::ordered_json members = {
      {"cpu", conditions.cpu},
      {"commit", conditions.commit},
      {"load", {Rounded(conditions.load_before), Rounded(conditions.load_after)}}};
  if (!conditions.gpu.empty()) members["gpu"] = conditions.gpu;
  const std::string object = members.dump();
  return object.substr(1, object.size() - 2);
}

BenchTimes TimesOf(std::vector<double> times) {
  LZ_CHECK(!times.empty(), "a case without a round");
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

double Rounded(double value) {
  return std::strtod(absl::StrFormat("%.5g", value).c_str(), nullptr);
}

}  // namespace lzero
