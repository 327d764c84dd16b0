// The lanes of token_kernels.h on the host: one, which has the whole row.
#ifndef LZERO_TESTS_SUPPORT_ONE_LANE_H_
#define LZERO_TESTS_SUPPORT_ONE_LANE_H_

#include "lzero/inference/device/step_functions.h"
#include "lzero/inference/device/token_kernels.h"

namespace lzero {

struct OneLane {
  static constexpr int kMostPairs = kMostHeadSize / 2;

  int lane() const { return 0; }
  int count() const { return 1; }
  float Sum(float x) const { return x; }
  float Max(float x) const { return x; }
  void Join() const {}
};

}  // namespace lzero

#endif  // LZERO_TESTS_SUPPORT_ONE_LANE_H_
