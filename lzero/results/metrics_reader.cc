#include "lzero/results/metrics_reader.h"

#include <fcntl.h>

#include <charconv>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

constexpr absl::string_view kStepsKey = "\"env_steps\":";
constexpr size_t kChunkBytes = size_t{4} << 20;
constexpr size_t kNoField = ~size_t{0};

// Takes lines apart as MetricsWriter writes them. Lines repeat the same few sequences of names, so
// each name remembers which one followed it last.
class LineParser {
 public:
  LineParser(const std::function<bool(absl::string_view)>& is_wanted, RunMetrics* metrics)
      : is_wanted_(is_wanted), metrics_(metrics) {}

  // Adds the numbers of one line; false: it is no line of metrics.
  bool Parse(absl::string_view line) {
    if (!ParseAsWritten(line) && !ParseAsJson(line)) return false;
    for (const auto& [series, value] : found_) {
      series->env_steps.push_back(env_steps_);
      series->values.push_back(value);
    }
    return true;
  }

 private:
  struct Field {
    std::string text;                // "loss/value": with its quotes and colon
    MetricSeries* series = nullptr;  // null: not wanted
    size_t next = kNoField;
  };

  static bool ReadNumber(const char** at, const char* end, double* value) {
    const auto [rest, error] = std::from_chars(*at, end, *value);
    *at = rest;
    return error == std::errc();
  }

  // The field whose key begins at `at`; kNoField if none does.
  size_t FieldAt(size_t* guess, const char* at, const char* end) {
    const absl::string_view rest(at, static_cast<size_t>(end - at));
    if (*guess != kNoField && absl::StartsWith(rest, fields_[*guess].text)) return *guess;
    const size_t quote = rest.substr(0, 1) == "\"" ? rest.find('"', 1) : rest.npos;
    if (quote == rest.npos || rest.substr(quote + 1, 1) != ":") return kNoField;
    const absl::string_view name = rest.substr(1, quote - 1);
    if (absl::StrContains(name, '\\')) return kNoField;
    const size_t field = FieldOf(std::string(name));
    *guess = field;
    return field;
  }

  size_t FieldOf(const std::string& name) {
    const auto [place, is_first] = places_.try_emplace(name, fields_.size());
    if (is_first) {
      MetricSeries* series = is_wanted_(name) ? &(*metrics_)[name] : nullptr;
      fields_.push_back({absl::StrCat("\"", name, "\":"), series});
    }
    return place->second;
  }

  bool ParseAsWritten(absl::string_view line) {
    found_.clear();
    if (!absl::StartsWith(line, "{") || !absl::EndsWith(line, "}")) return false;
    line = line.substr(1);
    const char* at = line.data();
    const char* end = at + line.size() - 1;  // the bracket
    if (!absl::StartsWith(line, kStepsKey)) return false;
    at += kStepsKey.size();
    if (!ReadNumber(&at, end, &env_steps_)) return false;
    size_t* guess = &first_;
    while (at != end) {
      if (*at++ != ',') return false;
      const size_t index = FieldAt(guess, at, end);
      if (index == kNoField) return false;
      at += fields_[index].text.size();
      if (fields_[index].series == nullptr) {
        const void* comma = std::memchr(at, ',', static_cast<size_t>(end - at));
        at = comma == nullptr ? end : static_cast<const char*>(comma);
      } else if (absl::StartsWith(absl::string_view(at, static_cast<size_t>(end - at)), "null")) {
        at += 4;
      } else {
        double value = 0.0;
        if (!ReadNumber(&at, end, &value)) return false;
        found_.emplace_back(fields_[index].series, value);
      }
      guess = &fields_[index].next;
    }
    return true;
  }

  // Any other JSON, of which the numbers are taken.
  bool ParseAsJson(absl::string_view line) {
    found_.clear();
    const auto json = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
    if (!json.is_object() || !json.contains("env_steps") || !json["env_steps"].is_number()) {
      return false;
    }
    env_steps_ = json["env_steps"].get<double>();
    for (const auto& [name, value] : json.items()) {
      if (!value.is_number() || name == "env_steps") continue;
      MetricSeries* series = fields_[FieldOf(name)].series;
      if (series != nullptr) found_.emplace_back(series, value.get<double>());
    }
    return true;
  }

  const std::function<bool(absl::string_view)>& is_wanted_;
  RunMetrics* metrics_;
  std::deque<Field> fields_;  // which stay where they are, for `guess`
  std::unordered_map<std::string, size_t> places_;
  size_t first_ = kNoField;
  double env_steps_ = 0.0;                               // of the line
  std::vector<std::pair<MetricSeries*, double>> found_;  // in the line
};

}  // namespace

absl::StatusOr<RunMetrics> ReadMetrics(const std::string& run_dir,
                                       const std::function<bool(absl::string_view)>& is_wanted) {
  const std::string path = JoinPath(run_dir, "metrics.jsonl");
  LZ_ASSIGN_OR_RETURN(const OpenFile file, OpenFile::Open(path, O_RDONLY));
  RunMetrics metrics;
  LineParser parser(is_wanted, &metrics);
  std::vector<char> buffer(kChunkBytes);
  size_t held = 0;  // bytes of a line that goes on in the next chunk
  int64_t number = 0;
  while (true) {
    LZ_ASSIGN_OR_RETURN(const size_t got, file.Read(absl::MakeSpan(buffer).subspan(held)));
    if (got == 0) break;
    absl::string_view text(buffer.data(), held + got);
    for (size_t length = text.find('\n'); length != text.npos; length = text.find('\n')) {
      ++number;
      if (!parser.Parse(text.substr(0, length))) {
        return DamagedFile(
            absl::StrCat(path, ":", number),
            absl::StrCat("is no line of metrics; got ", QuotedForMessage(text.substr(0, length))));
      }
      text.remove_prefix(length + 1);
    }
    held = text.size();
    std::memmove(buffer.data(), text.data(), held);
    if (held == buffer.size()) buffer.resize(2 * held);
  }
  return metrics;
}

}  // namespace lzero
