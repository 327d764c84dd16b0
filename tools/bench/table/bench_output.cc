#include "tools/bench/table/bench_output.h"

#include <cstdio>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using OrderedJson = nlohmann::ordered_json;

bool EndsWithAny(const std::string& key, std::initializer_list<const char*> endings) {
  for (const char* ending : endings) {
    if (absl::EndsWith(key, ending)) return true;
  }
  return false;
}

bool IsMeasured(const std::string& key) {
  static const std::set<std::string> kNames = {"gflops",    "gbs",    "commit", "load",
                                               "cpu",       "gpu",    "rounds", "mean_depth",
                                               "signature", "updates"};
  return kNames.count(key) > 0 || absl::StartsWith(key, "peak_") ||
         EndsWithAny(key, {"_min", "_median", "_share", "_ratio", "_mib", "_us", "_ms"});
}

// A time, memory, growth, or how far a runner is from eager: less is better.
bool IsCompared(const std::string& key) {
  return EndsWithAny(key,
                     {"_min", "_median", "_ms", "_mib", "_error_ratio", "last_to_first_ratio"});
}

// "us_min 36.0 -> 18.0 (2.00x)" for each compared figure that both have.
std::string Ratios(const OrderedJson& now, const OrderedJson& before) {
  std::string text;
  for (const auto& [key, value] : now.items()) {
    if (!IsCompared(key) || !value.is_number()) continue;
    if (!before.contains(key) || !before[key].is_number()) continue;
    const double earlier = before[key].get<double>(), later = value.get<double>();
    absl::StrAppendFormat(&text, "%s%s %.5g -> %.5g (%.2fx)", text.empty() ? "" : ", ", key,
                          earlier, later, earlier == later ? 1.0 : earlier / later);
  }
  return text;
}

// "step runner packed embed 64 ..." for people.
std::string Words(const OrderedJson& identity) {
  std::string text;
  for (const auto& [key, value] : identity.items()) {
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    absl::StrAppend(&text, text.empty() ? "" : " ", key == "bench" ? "" : key + " ", shown);
  }
  return text;
}

OrderedJson IdentityOf(const OrderedJson& object) {
  OrderedJson identity = OrderedJson::object();
  for (const auto& [key, value] : object.items()) {
    const bool is_default = key == "device" && value == "cpu";  // older runs did not name it
    if (!IsMeasured(key) && !is_default) identity[key] = value;
  }
  return identity;
}

}  // namespace

std::string BenchIdentity(const std::string& object) {
  return IdentityOf(OrderedJson::parse(object)).dump();
}

absl::StatusOr<BenchBaseline> BenchBaseline::Load(const std::string& path,
                                                  const std::string& verb) {
  BenchBaseline baseline;
  if (path.empty()) return baseline;
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  int64_t line_number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (!absl::StartsWith(line, "{")) continue;
    const OrderedJson object = OrderedJson::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object() || !object.contains("bench")) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", line_number, ": no object of a benchmark"));
    }
    if (object["bench"] != verb) continue;
    baseline.objects_[IdentityOf(object).dump()] = std::string(line);
  }
  if (baseline.objects_.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": no line of bench ", verb, "; save one with: lzero bench ", verb, " ... > FILE"));
  }
  baseline.is_given_ = true;
  return baseline;
}

std::vector<std::string> BenchBaseline::Compare(const std::vector<std::string>& objects) const {
  std::vector<std::string> lines;
  if (!is_given_) return lines;
  int64_t num_new = 0;
  for (const std::string& object : objects) {
    const OrderedJson now = OrderedJson::parse(object), identity = IdentityOf(now);
    const auto before = objects_.find(identity.dump());
    if (before == objects_.end()) {
      ++num_new;
      continue;
    }
    lines.push_back(
        absl::StrCat(Words(identity), ": ", Ratios(now, OrderedJson::parse(before->second))));
  }
  if (num_new > 0) lines.push_back(absl::StrCat(num_new, " cases have no line in the baseline"));
  return lines;
}

void BenchProgress::Show(const std::string& text) {
  constexpr double kSeconds = 2.0;
  if (MonotonicSeconds() - last_time_ < kSeconds) return;
  last_time_ = MonotonicSeconds();
  LZ_LOG_INFO(text);
}

void PrintBench(const std::vector<std::string>& objects, const std::string& table,
                const BenchBaseline& baseline, const BenchOutputOptions& options) {
  for (const std::string& object : objects) std::printf("%s\n", object.c_str());
  if (!options.json_only) std::printf("%s", table.c_str());
  const std::vector<std::string> comparison = baseline.Compare(objects);
  if (comparison.empty()) return;
  std::printf("against %s, above 1x is less now:\n", options.against.c_str());
  for (const std::string& line : comparison) std::printf("%s\n", line.c_str());
}

}  // namespace lzero
