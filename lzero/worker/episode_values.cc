#include "lzero/worker/episode_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

namespace lzero {

void EpisodeValues::Add(float root_value, float reward, int to_play) {
  root_values_.push_back(root_value);
  rewards_.push_back(reward);
  players_.push_back(to_play);
}

ValueSums& ValueSums::operator+=(const ValueSums& other) {
  count += other.count;
  error += other.error;
  value += other.value;
  followed += other.followed;
  squared_value += other.squared_value;
  squared_followed += other.squared_followed;
  product += other.product;
  return *this;
}

double ValueSums::Bias() const {
  return count == 0 ? 0.0 : (value - followed) / static_cast<double>(count);
}

double ValueSums::MeanError() const {
  return count == 0 ? 0.0 : error / static_cast<double>(count);
}

double ValueSums::Correlation() const {
  const double n = static_cast<double>(count);
  const double value_spread = squared_value - value * value / std::max(n, 1.0);
  const double followed_spread = squared_followed - followed * followed / std::max(n, 1.0);
  // What rounding leaves of equal numbers does not count.
  constexpr double kNothing = 1e-9;
  if (value_spread <= kNothing * squared_value || followed_spread <= kNothing * squared_followed) {
    return 0.0;
  }
  const double shared = product - value * followed / n;
  return std::clamp(shared / std::sqrt(value_spread * followed_spread), -1.0, 1.0);
}

std::vector<ValueAndReturn> Calibration(std::vector<ValueAndReturn> steps, size_t num_groups) {
  std::stable_sort(
      steps.begin(), steps.end(),
      [](const ValueAndReturn& a, const ValueAndReturn& b) { return a.value < b.value; });
  std::vector<ValueAndReturn> means(std::min(num_groups, steps.size()));
  for (size_t group = 0; group < means.size(); ++group) {
    const size_t begin = group * steps.size() / means.size();
    const size_t end = (group + 1) * steps.size() / means.size();
    const auto count = static_cast<double>(end - begin);
    for (size_t i = begin; i < end; ++i) {
      means[group].value += steps[i].value / count;
      means[group].followed += steps[i].followed / count;
    }
  }
  return means;
}

ValueSums EpisodeValues::Compare(double discount, bool terminated,
                                 std::vector<ValueAndReturn>* compared) const {
  ValueSums sums;
  if (rewards_.empty()) return sums;
  const size_t num_compared = terminated ? rewards_.size() : rewards_.size() - 1;
  // From the view of the player of the step after.
  double later_return = terminated ? 0.0 : root_values_.back();
  for (size_t t = num_compared; t > 0; --t) {
    const bool same_player = t == rewards_.size() || players_[t] == players_[t - 1];
    later_return = rewards_[t - 1] + discount * (same_player ? later_return : -later_return);
    const double value = root_values_[t - 1];
    if (compared != nullptr) compared->push_back({value, later_return});
    sums += {1,
             std::abs(value - later_return),
             value,
             later_return,
             value * value,
             later_return * later_return,
             value * later_return};
  }
  return sums;
}

void EpisodeValues::Export(const std::string& prefix, std::vector<NamedArray>* arrays) const {
  arrays->push_back(MakeNamedArray<float>(prefix + "root_values", root_values_));
  arrays->push_back(MakeNamedArray<float>(prefix + "rewards", rewards_));
  arrays->push_back(MakeNamedArray<int32_t>(prefix + "players", players_));
}

absl::Status EpisodeValues::Import(const std::string& prefix, absl::Span<const NamedArray> arrays) {
  Begin();
  if (FindArray(arrays, prefix + "root_values") == nullptr) return absl::OkStatus();
  LZ_ASSIGN_OR_RETURN(auto root_values, ReadArray<float>(arrays, prefix + "root_values"));
  LZ_ASSIGN_OR_RETURN(auto rewards, ReadArray<float>(arrays, prefix + "rewards"));
  LZ_ASSIGN_OR_RETURN(auto players, ReadArray<int32_t>(arrays, prefix + "players"));
  if (rewards.size() != root_values.size() || players.size() != root_values.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the values of ", prefix, " do not fit: ", root_values.size(),
                     " root values, ", rewards.size(), " rewards, ", players.size(), " players"));
  }
  root_values_ = std::move(root_values);
  rewards_ = std::move(rewards);
  players_ = std::move(players);
  return absl::OkStatus();
}

}  // namespace lzero
