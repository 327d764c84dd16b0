// A reward for what a run has seen rarely: weight / sqrt(n) for the n-th sight of an observation,
// by all environments of a collector together [Bellemare et al. 2016; Strehl and Littman 2008],
// and with `once` only at an episode's first sight of it, so that no episode lives on going to and
// fro [Zhang et al. 2021, NovelD]. For tasks whose own reward no search finds by chance.
// Observations count as the same where a checksum of their bytes is. One thread.
#ifndef LZERO_WORKER_COUNT_BONUS_H_
#define LZERO_WORKER_COUNT_BONUS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/base/named_array.h"

namespace lzero {

class CountBonus {
 public:
  // env.count_bonus and count_bonus_once; with weight 0 nothing is counted.
  CountBonus(double weight, bool once, int num_envs);

  // An episode of `env` begins with `observation` [obs], which is counted.
  void Begin(EnvId env, absl::Span<const float> observation);
  // Counts the observation that a step led to and returns its reward.
  double Add(EnvId env, absl::Span<const float> observation);

  // State for a checkpoint: "bonus.*". A checkpoint without these arrays has counted nothing.
  // InvalidArgument (nothing changed) for counts that no run can have.
  void Export(std::vector<NamedArray>* arrays) const;
  absl::Status Import(absl::Span<const NamedArray> arrays);

 private:
  const double weight_;
  const bool once_;
  absl::flat_hash_map<uint32_t, int64_t> counts_;
  std::vector<absl::flat_hash_set<uint32_t>> seen_;  // by the episode of each environment
};

}  // namespace lzero

#endif  // LZERO_WORKER_COUNT_BONUS_H_
