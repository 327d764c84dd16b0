#include "lzero/config/model/support_range.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace lzero {

absl::StatusOr<std::optional<SupportRange>> ParseSupportRange(
    const std::map<std::string, std::string>& entries) {
  if (entries.empty()) return std::optional<SupportRange>();
  SupportRange range;
  const auto number = [&](const char* name, double* value) {
    const auto found = entries.find(name);
    return found != entries.end() && absl::SimpleAtod(found->second, value) &&
           std::isfinite(*value);
  };
  const auto bins = entries.find("bins");
  const bool is_whole = entries.size() == 3 && number("min", &range.min) &&
                        number("max", &range.max) && bins != entries.end() &&
                        absl::SimpleAtoi(bins->second, &range.bins);
  if (!is_whole || range.min >= range.max || range.bins < 2 ||
      range.bins > SupportRange::kMostBins) {
    return absl::InvalidArgumentError(
        absl::StrCat("must be {} or {min: A, max: B, bins: N}, numbers A < B and N from 2 to ",
                     SupportRange::kMostBins));
  }
  return range;
}

}  // namespace lzero
