// A symmetry of an environment: a relabelling of observation elements, actions and chance outcomes
// under which it plays the same. An environment declares its symmetries; replay draws one for each
// sample, so that one game teaches all its images [AlphaGo Zero, Silver et al. 2017]. Plain data
// and pure functions, any thread.
#ifndef LZERO_BASE_SYMMETRY_H_
#define LZERO_BASE_SYMMETRY_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"

namespace lzero {

struct Symmetry {
  // [observation size] element i of the image is element observation_source[i] of the original.
  std::vector<int32_t> observation_source;
  // [num_actions] action a of the original is action action_image[a] of the image.
  std::vector<int32_t> action_image;
  // [num_chance_outcomes] likewise of chance outcomes; empty where there are none.
  std::vector<int32_t> chance_image = {};
};

// What is wrong with `symmetry` (sizes, or not a permutation); empty when it is right.
std::string SymmetryProblem(const Symmetry& symmetry, int64_t observation_size, int64_t num_actions,
                            int64_t num_chance_outcomes = 0);

// to[i] = from[observation_source[i]]. Same sizes, different memory.
template <typename T>
void MapObservation(const Symmetry& symmetry, std::type_identity_t<absl::Span<const T>> from,
                    absl::Span<T> to) {
  for (size_t i = 0; i < from.size(); ++i) {
    to[i] = from[static_cast<size_t>(symmetry.observation_source[i])];
  }
}

// to[action_image[a]] = from[a], for a number held for each action. Same sizes, different memory.
template <typename T>
void MapActionValues(const Symmetry& symmetry, absl::Span<const T> from, absl::Span<T> to) {
  for (size_t action = 0; action < from.size(); ++action) {
    to[static_cast<size_t>(symmetry.action_image[action])] = from[action];
  }
}

}  // namespace lzero

#endif  // LZERO_BASE_SYMMETRY_H_
