#include "gtest/gtest.h"
#include "lzero/family/alphazero/packed/alphazero_engine.h"
#include "tests/family/packed_engine_parity.h"

namespace lzero::packed_alphazero_test {
namespace {

using packed_engine_parity::Case;
using enum EncoderKind;

class PackedAlphaZero : public testing::TestWithParam<Case> {};

TEST_P(PackedAlphaZero, GivesTheNumbersOfTheEagerOne) {
  packed_engine_parity::ExpectNumbersOfEager(GetParam());
}

TEST_P(PackedAlphaZero, ThreadsChangeNoBit) {
  packed_engine_parity::ExpectThreadsChangeNoBit(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, PackedAlphaZero,
                         testing::Values(Case{"Vector", Family::kAlphaZero, kVector, {3, 3, 3}},
                                         Case{"Board", Family::kAlphaZero, kBoard, {3, 3, 3}},
                                         Case{"BoardCells",
                                              Family::kAlphaZero,
                                              kBoard,
                                              {3, 3, 3},
                                              16,
                                              0,
                                              LatentNorm::kSimNorm,
                                              true,
                                              {9, 1, 2, 3, 4, 14, 6, 7, -1}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace lzero::packed_alphazero_test
