#include "lzero/worker/count_bonus.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr char kKeys[] = "bonus.keys", kCounts[] = "bonus.counts", kSeen[] = "bonus.seen";

uint32_t KeyOf(absl::Span<const float> observation) {
  return Crc32c({reinterpret_cast<const char*>(observation.data()),
                 observation.size() * sizeof(observation[0])});
}

bool IsKey(int64_t key) { return key >= 0 && key <= std::numeric_limits<uint32_t>::max(); }

}  // namespace

CountBonus::CountBonus(double weight, bool once, int num_envs)
    : weight_(weight), once_(once), seen_(static_cast<size_t>(num_envs)) {}

void CountBonus::Begin(EnvId env, absl::Span<const float> observation) {
  if (weight_ == 0.0) return;
  const uint32_t key = KeyOf(observation);
  ++counts_[key];
  seen_[env.value] = {key};
}

double CountBonus::Add(EnvId env, absl::Span<const float> observation) {
  if (weight_ == 0.0) return 0.0;
  const uint32_t key = KeyOf(observation);
  const int64_t count = ++counts_[key];
  const bool is_first = !once_ || seen_[env.value].insert(key).second;
  return is_first ? weight_ / std::sqrt(static_cast<double>(count)) : 0.0;
}

void CountBonus::Export(std::vector<NamedArray>* arrays) const {
  if (weight_ == 0.0) return;
  std::vector<std::pair<uint32_t, int64_t>> sorted(counts_.begin(), counts_.end());
  std::ranges::sort(sorted);
  std::vector<int64_t> keys, counts;
  for (const auto& [key, count] : sorted) {
    keys.push_back(key);
    counts.push_back(count);
  }
  arrays->push_back(MakeNamedArray<int64_t>(kKeys, keys));
  arrays->push_back(MakeNamedArray<int64_t>(kCounts, counts));
  for (size_t env = 0; env < seen_.size(); ++env) {
    std::vector<int64_t> seen(seen_[env].begin(), seen_[env].end());
    std::ranges::sort(seen);
    arrays->push_back(MakeNamedArray<int64_t>(absl::StrCat(kSeen, env), seen));
  }
}

absl::Status CountBonus::Import(absl::Span<const NamedArray> arrays) {
  absl::flat_hash_map<uint32_t, int64_t> counts;
  std::vector<absl::flat_hash_set<uint32_t>> seen(seen_.size());
  if (weight_ != 0.0 && FindArray(arrays, kKeys) != nullptr) {
    LZ_ASSIGN_OR_RETURN(const auto keys, ReadArray<int64_t>(arrays, kKeys));
    LZ_ASSIGN_OR_RETURN(const auto numbers, ReadArray<int64_t>(arrays, kCounts));
    if (keys.size() != numbers.size() || !std::ranges::all_of(keys, IsKey) ||
        std::ranges::any_of(numbers, [](int64_t count) { return count < 1; })) {
      return absl::InvalidArgumentError(
          absl::StrCat(kKeys, " and ", kCounts, " count nothing that was seen"));
    }
    for (size_t i = 0; i < keys.size(); ++i) counts[static_cast<uint32_t>(keys[i])] = numbers[i];
    for (size_t env = 0; env < seen.size(); ++env) {
      LZ_ASSIGN_OR_RETURN(const auto found, ReadArray<int64_t>(arrays, absl::StrCat(kSeen, env)));
      for (const int64_t key : found) {
        if (!IsKey(key) || !counts.contains(static_cast<uint32_t>(key))) {
          return absl::InvalidArgumentError(
              absl::StrCat(kSeen, env, " has what ", kKeys, " has not"));
        }
        seen[env].insert(static_cast<uint32_t>(key));
      }
    }
  }
  counts_ = std::move(counts);
  seen_ = std::move(seen);
  return absl::OkStatus();
}

}  // namespace lzero
