// The lanes of token_kernels.h on the host: one, which has the whole row and all pairs of
// attention.
#ifndef LZERO_TESTS_SUPPORT_ONE_TOKEN_LANE_H_
#define LZERO_TESTS_SUPPORT_ONE_TOKEN_LANE_H_

#include "lzero/base/lanes/one_lane.h"
#include "lzero/inference/device/step_functions.h"
#include "lzero/inference/device/token_kernels.h"

namespace lzero {

struct OneTokenLane : OneLane {
  static constexpr int kMostPairs = kMostHeadSize / 2;
};

}  // namespace lzero

#endif  // LZERO_TESTS_SUPPORT_ONE_TOKEN_LANE_H_
