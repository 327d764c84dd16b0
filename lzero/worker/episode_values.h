// The root values, rewards and players of one running episode, to tell at its end how far the
// values were from what really followed. Not a value target. One thread.
#ifndef LZERO_WORKER_EPISODE_VALUES_H_
#define LZERO_WORKER_EPISODE_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/base/named_array.h"

namespace lzero {

// Sums over steps of root values v and of the discounted returns g that really followed, for how
// well the one is calibrated against the other.
struct ValueSums {
  int64_t count = 0;
  double error = 0.0;  // |v - g|
  double value = 0.0, followed = 0.0;
  double squared_value = 0.0, squared_followed = 0.0, product = 0.0;

  ValueSums& operator+=(const ValueSums& other);
  // Mean of v - g: above 0 when values promise too much. 0 without steps.
  double Bias() const;
  double MeanError() const;  // of |v - g|; 0 without steps
  // Correlation of v and g, -1 .. 1; 0 where one of them does not vary.
  double Correlation() const;
};

// A root value and the discounted return that followed; or means of them.
struct ValueAndReturn {
  double value = 0.0, followed = 0.0;
};

// `steps` by their values, in `num_groups` groups of about equal number, or in one for each step
// where there are fewer: the means of each group. Values that can be trusted are as large as the
// returns.
std::vector<ValueAndReturn> Calibration(std::vector<ValueAndReturn> steps, size_t num_groups);

class EpisodeValues {
 public:
  // A new episode begins.
  void Begin() { *this = {}; }
  // Player `to_play` moved after a search with this root value and got this reward, both from his
  // view.
  void Add(float root_value, float reward, int to_play);

  int64_t num_steps() const { return static_cast<int64_t>(root_values_.size()); }
  // Compares all root values, t, with sum_i sign_i discount^i r_{t+i}, i to the end of the episode,
  // sign_i = +1 where the player of step t moves at step t + i, else -1. Where an episode was cut
  // short (`terminated` false), its last root value stands for what would have followed, and is
  // compared with nothing. What is compared is added to `compared`, where that is not null.
  ValueSums Compare(double discount, bool terminated,
                    std::vector<ValueAndReturn>* compared = nullptr) const;

  // State for a checkpoint, names begin with `prefix`. A state without these arrays, which is older
  // than they are, leaves the episode empty. InvalidArgument when they contradict each other.
  void Export(const std::string& prefix, std::vector<NamedArray>* arrays) const;
  absl::Status Import(const std::string& prefix, absl::Span<const NamedArray> arrays);

 private:
  std::vector<float> root_values_;
  std::vector<float> rewards_;
  std::vector<int32_t> players_;
};

}  // namespace lzero

#endif  // LZERO_WORKER_EPISODE_VALUES_H_
