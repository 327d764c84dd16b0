#include "tools/bench_figures.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_format.h"
#include "lzero/base/check.h"

namespace lzero {

BenchTimes TimesOf(std::vector<double> times) {
  LZ_CHECK(!times.empty(), "a case without a round");
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

double Rounded(double value) {
  return std::strtod(absl::StrFormat("%.5g", value).c_str(), nullptr);
}

}  // namespace lzero
