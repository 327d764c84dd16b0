#include "lzero/base/nearest.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace lzero {
namespace {

constexpr size_t kLongestName = 100;  // that could be a slip; comparing takes its square

}  // namespace

int EditDistance(absl::string_view a, absl::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int> distance((a.size() + 1) * width);
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j < width; ++j) {
      int& best = distance[i * width + j];
      if (i == 0 || j == 0) {
        best = static_cast<int>(i + j);
        continue;
      }
      best = distance[(i - 1) * width + j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      best = std::min(best, distance[(i - 1) * width + j] + 1);
      best = std::min(best, distance[i * width + j - 1] + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        best = std::min(best, distance[(i - 2) * width + j - 2] + 1);
      }
    }
  }
  return distance.back();
}

std::string NearestName(absl::string_view given, absl::Span<const std::string> names) {
  std::string nearest;
  if (given.size() > kLongestName) return nearest;
  int best = 1 + std::max<int>(2, static_cast<int>(given.size()) / 3);
  for (const std::string& name : names) {
    const int distance = EditDistance(given, name);
    if (distance < best && distance < static_cast<int>(name.size())) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string DidYouMean(absl::string_view given, absl::Span<const std::string> names) {
  const std::string nearest = NearestName(given, names);
  return nearest.empty() ? "" : absl::StrCat("; did you mean '", nearest, "'?");
}

}  // namespace lzero
