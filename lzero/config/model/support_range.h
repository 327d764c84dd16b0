// The range of values that a config spreads atoms over: {min: -1, max: 1, bins: 3}.
#ifndef LZERO_CONFIG_MODEL_SUPPORT_RANGE_H_
#define LZERO_CONFIG_MODEL_SUPPORT_RANGE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace lzero {

struct SupportRange {
  static constexpr int64_t kMostBins = 100001;

  double min = 0.0, max = 0.0;
  int64_t bins = 0;  // atoms, those at both ends included
};

// Nothing for no entries. The message of an error is a clause: what must hold.
absl::StatusOr<std::optional<SupportRange>> ParseSupportRange(
    const std::map<std::string, std::string>& entries);

}  // namespace lzero

#endif  // LZERO_CONFIG_MODEL_SUPPORT_RANGE_H_
