#include "tools/bench/table/bench_sweep.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/nearest.h"

namespace lzero {

absl::Status CheckName(const char* option, const std::string& name,
                       const std::vector<std::string>& allowed) {
  if (std::count(allowed.begin(), allowed.end(), name) > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(option, " ", name, ": this build has ",
                                                 absl::StrJoin(allowed, ", "),
                                                 DidYouMean(name, allowed)));
}

absl::Status CheckRange(const char* option, int64_t value, int64_t most) {
  if (value >= 1 && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(option, " ", value, ": allowed are 1 .. ", most));
}

}  // namespace lzero
