#include "lzero/train/model_family.h"

#include "lzero/base/check.h"
#include "lzero/train/alphazero_family.h"
#include "lzero/train/muzero_family.h"
#include "lzero/train/stochastic_muzero_family.h"
#include "lzero/train/unizero_family.h"

namespace lzero {

const ModelFamily& FamilyOf(const ModelConfig& config) {
  static const UniZeroFamily unizero;
  static const MuZeroFamily muzero;
  static const StochasticMuZeroFamily stochastic_muzero;
  static const AlphaZeroFamily alphazero;
  switch (config.family) {
    case Family::kUniZero:
      return unizero;
    case Family::kMuZero:
      return muzero;
    case Family::kStochasticMuZero:
      return stochastic_muzero;
    case Family::kAlphaZero:
      return alphazero;
  }
  LZ_CHECK(false, "family ", static_cast<int>(config.family));
  return unizero;
}

}  // namespace lzero
