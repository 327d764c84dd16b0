#include "lzero/run/progress.h"

#include <unistd.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace lzero {
namespace {

constexpr double kWatchedSeconds = 2.0;
constexpr double kLoggedSeconds = 10.0;

Progress::Rates RatesBetween(const ProgressCounts& from, const ProgressCounts& to, double seconds) {
  const double span = std::fmax(seconds, 1e-9);
  return {static_cast<double>(to.env_steps - from.env_steps) / span,
          static_cast<double>(to.updates - from.updates) / span,
          static_cast<double>(to.simulations - from.simulations) / span};
}

}  // namespace

// Targets below 10 are told apart by hundredths: 0.95, 0.98.
std::string FormatReturn(double value) {
  const double rounded = std::round(100.0 * value) / 100.0 + 0.0;  // no -0.00
  return std::fabs(value) < 10.0 ? absl::StrFormat("%.2f", rounded)
                                 : absl::StrFormat("%.1f", value);
}

std::vector<std::pair<std::string, double>> ProgressTimes::Shares() const {
  std::vector<std::pair<std::string, double>> shares = {
      {"env", env},     {"tree", tree},           {"network", network},  {"copy", copy},
      {"learn", learn}, {"reanalyze", reanalyze}, {"evaluate", evaluate}};
  double sum = 0.0;
  for (const auto& [name, seconds] : shares) sum += seconds;
  for (auto& [name, seconds] : shares) seconds = sum > 0.0 ? seconds / sum : 0.0;
  return shares;
}

void Progress::Start(const ProgressCounts& counts, double now) {
  start_time_ = last_time_ = now;
  start_counts_ = last_counts_ = counts;
}

bool Progress::IsDue(double now) const {
  return now - last_time_ >=
         (is_first_ ? std::fmin(kWatchedSeconds, interval_seconds_) : interval_seconds_);
}

Progress::Rates Progress::Mark(const ProgressCounts& counts, double now) {
  is_first_ = false;
  const Rates rates = RatesBetween(last_counts_, counts, now - last_time_);
  last_time_ = now;
  last_counts_ = counts;
  return rates;
}

std::optional<Progress::Rates> Progress::SessionRates(const ProgressCounts& counts,
                                                      double now) const {
  if (counts == start_counts_) return std::nullopt;
  return RatesBetween(start_counts_, counts, now - start_time_);
}

std::optional<double> Progress::EtaSeconds(std::optional<double> fraction, double now) const {
  if (!fraction.has_value() || *fraction <= start_fraction_) return std::nullopt;
  const double pace = (now - start_time_) / (*fraction - start_fraction_);
  return std::fmax(0.0, 1.0 - *fraction) * pace;
}

std::string Progress::Line(const ProgressCounts& counts, const Rates& rates,
                           std::optional<int64_t> max_env_steps, std::optional<double> fraction,
                           std::optional<double> collect_return, const std::string& evaluated,
                           const ProgressTimes& times, double now) const {
  std::string line = absl::StrCat("env steps ", FormatCount(counts.env_steps));
  if (max_env_steps.has_value()) absl::StrAppend(&line, "/", FormatCount(*max_env_steps));
  if (collect_return.has_value())
    absl::StrAppend(&line, " | return ", FormatReturn(*collect_return));
  if (!evaluated.empty()) absl::StrAppend(&line, " | ", evaluated);
  absl::StrAppend(&line, " | ", FormatCount(std::llround(rates.env_steps_per_s)), " env steps/s, ",
                  FormatCount(std::llround(rates.sims_per_s)), " sims/s, ",
                  FormatCount(std::llround(rates.updates_per_s)), " updates/s");
  if (const auto eta = EtaSeconds(fraction, now)) {
    absl::StrAppend(&line, " | ETA ", FormatSeconds(*eta));
  }
  const char* separator = " | ";
  for (const auto& [name, share] : times.Shares()) {
    if (share < 0.005) continue;
    absl::StrAppendFormat(&line, "%s%s %.0f%%", separator, name == "copy" ? "copy+store" : name,
                          100.0 * share);
    separator = " ";
  }
  return line;
}

double ProgressSeconds() { return isatty(STDERR_FILENO) != 0 ? kWatchedSeconds : kLoggedSeconds; }

std::string FormatSeconds(double seconds) {
  const int64_t whole = std::llround(seconds);
  if (whole < 3600) return absl::StrFormat("%d:%02d", whole / 60, whole % 60);
  return absl::StrFormat("%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string FormatCount(int64_t count) {
  const std::string digits = absl::StrCat(count < 0 ? -count : count);
  std::string grouped = count < 0 ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

}  // namespace lzero
