#include "lzero/family/stochastic_muzero/packed/packed_stochastic_muzero.h"

#include "gtest/gtest.h"
#include "tests/family/packed_engine_parity.h"

namespace lzero::packed_stochastic_muzero_test {
namespace {

using packed_engine_parity::Case;
using enum EncoderKind;

class PackedStochasticMuZero : public testing::TestWithParam<Case> {};

TEST_P(PackedStochasticMuZero, GivesTheNumbersOfTheEagerOne) {
  packed_engine_parity::ExpectNumbersOfEager(GetParam());
}

TEST_P(PackedStochasticMuZero, ThreadsChangeNoBit) {
  packed_engine_parity::ExpectThreadsChangeNoBit(GetParam());
}

TEST_P(PackedStochasticMuZero, AllocatesNothingOnceWarm) {
  packed_engine_parity::ExpectNoAllocationOnceWarm(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    All, PackedStochasticMuZero,
    testing::Values(Case{"Vector", Family::kStochasticMuZero, kVector, {3}},
                    Case{"Board", Family::kStochasticMuZero, kBoard, {2, 4, 4}},
                    Case{"BoardSimNormPooling",
                         Family::kStochasticMuZero,
                         kBoard,
                         {1, 4, 4},
                         16,
                         0,
                         LatentNorm::kSimNorm,
                         true},
                    Case{"Image", Family::kStochasticMuZero, kImage, {3, 22, 18}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace lzero::packed_stochastic_muzero_test
