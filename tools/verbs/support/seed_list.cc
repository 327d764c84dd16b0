#include "tools/verbs/support/seed_list.h"

#include <cstddef>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lzero/config/scalar_text.h"
#include "tools/verbs/support/usage_error.h"

namespace lzero {
namespace {

constexpr size_t kMostSeeds = 100'000;

bool ReadSeed(const std::string& text, uint64_t* seed) {
  return SeedError(text).empty() && absl::SimpleAtoi(text, seed);
}

}  // namespace

absl::StatusOr<std::vector<uint64_t>> ParseSeedList(const std::string& text) {
  const absl::Status refused = absl::InvalidArgumentError(
      absl::StrCat("--seeds: got ", QuotedForMessage(text),
                   ", allowed: A..B with A <= B, a number, or several with commas; each seed once, "
                   "at most 100,000 seeds"));
  std::vector<uint64_t> seeds;
  std::set<uint64_t> seen;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const size_t dots = part.find("..");
    uint64_t first = 0, last = 0;
    if (!ReadSeed(part.substr(0, dots), &first)) return refused;
    last = first;
    if (dots != part.npos && !ReadSeed(part.substr(dots + 2), &last)) return refused;
    if (last < first || last - first >= kMostSeeds - seeds.size()) return refused;
    for (uint64_t i = 0; i <= last - first; ++i) {
      if (!seen.insert(first + i).second) return refused;
      seeds.push_back(first + i);
    }
  }
  return seeds;
}

}  // namespace lzero
