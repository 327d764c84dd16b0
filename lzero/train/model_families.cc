#include "lzero/train/model_families.h"

#include "lzero/base/check.h"
#include "lzero/family/alphazero/alphazero_family.h"
#include "lzero/family/muzero/muzero_family.h"
#include "lzero/family/stochastic_muzero/stochastic_muzero_family.h"
#include "lzero/family/unizero/unizero_family.h"

namespace lzero {

const ModelFamily& FamilyOf(const ModelConfig& config) {
  switch (config.family) {
    case Family::kUniZero:
      return UniZeroFamily();
    case Family::kMuZero:
      return MuZeroFamily();
    case Family::kStochasticMuZero:
      return StochasticMuZeroFamily();
    case Family::kAlphaZero:
      return AlphaZeroFamily();
  }
  LZ_CHECK(false, "family ", static_cast<int>(config.family));
  return UniZeroFamily();
}

}  // namespace lzero
