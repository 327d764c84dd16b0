#include "tools/bench/table/search_differences.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace lzero {
namespace {

// Once NaN it stays so.
void KeepLargest(double error, double* largest) {
  if (std::isnan(error) || error > *largest) *largest = error;
}

double ShareOf(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void SearchDifferences::Add(const SearchResult& got, const SearchResult& expected) {
  const auto num_actions = static_cast<size_t>(expected.num_actions);
  for (size_t b = 0; b < static_cast<size_t>(expected.num_roots); ++b) {
    const double value = expected.network_values[b];
    if (std::isfinite(value)) largest_value_ = std::max(largest_value_, std::abs(value));
    KeepLargest(std::abs(got.network_values[b] - value), &value_error_);
    KeepLargest(std::abs(double{got.root_values[b]} - expected.root_values[b]), &search_error_);
    int64_t moved = 0;
    for (size_t a = 0; a < num_actions; ++a) {
      const int32_t visits = expected.visit_counts[b * num_actions + a];
      moved += std::abs(got.visit_counts[b * num_actions + a] - visits);
      num_visits_ += visits;
    }
    ++num_roots_;
    num_changed_roots_ += moved > 0;
    num_moved_visits_ += moved / 2;  // each left one action and came to another
    num_changed_actions_ += got.best_actions[b] != expected.best_actions[b];
  }
}

BenchCase SearchDifferences::Metrics() const {
  return {{"value_error_ratio", value_error_ / largest_value_},
          {"search_value_error_ratio", search_error_ / largest_value_},
          {"changed_roots_share", ShareOf(num_changed_roots_, num_roots_)},
          {"moved_visits_share", ShareOf(num_moved_visits_, num_visits_)},
          {"changed_actions_share", ShareOf(num_changed_actions_, num_roots_)}};
}

}  // namespace lzero
