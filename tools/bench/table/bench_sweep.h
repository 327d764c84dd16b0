// What the cases of every benchmark share: lists swept against each other, and checks of what a
// list holds. No torch, no clock.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_SWEEP_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_SWEEP_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace lzero {

// Replaces every case by one for each of `values`; no values: the cases stay.
template <typename T, typename Case>
void Sweep(const std::vector<T>& values, T Case::*field, std::vector<Case>* cases) {
  if (values.empty()) return;
  std::vector<Case> swept;
  for (const Case& each : *cases) {
    for (const T& value : values) {
      swept.push_back(each);
      swept.back().*field = value;
    }
  }
  *cases = std::move(swept);
}

// InvalidArgument unless `name` is one of `allowed`.
absl::Status CheckName(const char* option, const std::string& name,
                       const std::vector<std::string>& allowed);

// InvalidArgument unless 1 <= value <= most.
absl::Status CheckRange(const char* option, int64_t value, int64_t most);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_SWEEP_H_
