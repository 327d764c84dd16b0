#include "lzero/family/muzero/packed/packed_muzero.h"

#include "gtest/gtest.h"
#include "tests/family/packed_engine_parity.h"

namespace lzero::packed_muzero_test {
namespace {

using packed_engine_parity::Case;
using enum EncoderKind;

class PackedMuZero : public testing::TestWithParam<Case> {};

TEST_P(PackedMuZero, GivesTheNumbersOfTheEagerOne) {
  packed_engine_parity::ExpectNumbersOfEager(GetParam());
}

TEST_P(PackedMuZero, ThreadsChangeNoBit) {
  packed_engine_parity::ExpectThreadsChangeNoBit(GetParam());
}

TEST_P(PackedMuZero, AllocatesNothingOnceWarm) {
  packed_engine_parity::ExpectNoAllocationOnceWarm(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    All, PackedMuZero,
    testing::Values(
        Case{"Vector", Family::kMuZero, kVector, {3}},
        Case{"Box", Family::kMuZero, kVector, {3}, 16, 2},
        Case{"SimNorm", Family::kMuZero, kVector, {3}, 16, 0, LatentNorm::kSimNorm},
        Case{"Board", Family::kMuZero, kBoard, {2, 5, 6}},
        Case{"BoardOddChannels", Family::kMuZero, kBoard, {2, 3, 3}, 10},
        Case{"BoardBox", Family::kMuZero, kBoard, {2, 4, 4}, 16, 2},
        Case{"BoardSimNorm", Family::kMuZero, kBoard, {1, 4, 4}, 16, 0, LatentNorm::kSimNorm},
        Case{"BoardCells",
             Family::kMuZero,
             kBoard,
             {2, 5, 6},
             16,
             0,
             LatentNorm::kLayerNorm,
             false,
             {3, 31, -1, 59}},
        Case{"BoardPooling",
             Family::kMuZero,
             kBoard,
             {2, 5, 6},
             16,
             0,
             LatentNorm::kLayerNorm,
             true},
        Case{"Image", Family::kMuZero, kImage, {3, 22, 18}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace lzero::packed_muzero_test
