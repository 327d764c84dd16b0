#include "tools/bench/table/bench_parity_report.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace lzero {
namespace {

// Once NaN it stays so.
void KeepLargest(double error, double* largest) {
  if (std::isnan(error) || error > *largest) *largest = error;
}

double Share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// Null where it is not finite.
std::string Figure(double value, int digits) {
  return std::isfinite(value) ? absl::StrFormat("%.*g", digits, value) : "null";
}

}  // namespace

void AddDifferences(const SearchResult& got, const SearchResult& expected,
                    ParityDifferences* sums) {
  const auto num_actions = static_cast<size_t>(expected.num_actions);
  for (size_t b = 0; b < static_cast<size_t>(expected.num_roots); ++b) {
    const double value = expected.network_values[b];
    if (std::isfinite(value)) sums->largest_value = std::max(sums->largest_value, std::abs(value));
    KeepLargest(std::abs(got.network_values[b] - value), &sums->value_error);
    KeepLargest(std::abs(double{got.root_values[b]} - expected.root_values[b]),
                &sums->search_error);
    int64_t moved = 0;
    for (size_t a = 0; a < num_actions; ++a) {
      const int32_t visits = expected.visit_counts[b * num_actions + a];
      moved += std::abs(got.visit_counts[b * num_actions + a] - visits);
      sums->num_visits += visits;
    }
    ++sums->num_roots;
    sums->num_changed_roots += moved > 0;
    sums->num_moved_visits += moved / 2;  // each left one action and came to another
    sums->num_changed_actions += got.best_actions[b] != expected.best_actions[b];
  }
}

std::string ParityJson(const std::string& engine_case, int64_t searches,
                       const ParityDifferences& sums, const BenchConditions& conditions) {
  return absl::StrCat(
      "{\"bench\":\"parity\",", engine_case, ",\"searches\":", searches,
      ",\"value_error_ratio\":", Figure(sums.value_error / sums.largest_value, 3),
      ",\"search_value_error_ratio\":", Figure(sums.search_error / sums.largest_value, 3),
      ",\"changed_roots_share\":", Figure(Share(sums.num_changed_roots, sums.num_roots), 4),
      ",\"moved_visits_share\":", Figure(Share(sums.num_moved_visits, sums.num_visits), 4),
      ",\"changed_actions_share\":", Figure(Share(sums.num_changed_actions, sums.num_roots), 4),
      ",", ConditionsJson(conditions), "}");
}

std::string ParityLine(const std::string& runner, const std::string& dtype,
                       const ParityDifferences& sums) {
  return absl::StrFormat(
      "%s %s: values of roots %.2g apart, those of searches %.2g (relative to the largest); of %d "
      "roots %.1f %% have other visit counts, %.2f %% of all visits moved, %.1f %% of the best "
      "actions changed\n",
      runner, dtype, sums.value_error / sums.largest_value, sums.search_error / sums.largest_value,
      sums.num_roots, 100.0 * Share(sums.num_changed_roots, sums.num_roots),
      100.0 * Share(sums.num_moved_visits, sums.num_visits),
      100.0 * Share(sums.num_changed_actions, sums.num_roots));
}

}  // namespace lzero
