#include "lzero/train/model_families.h"

#include "lzero/base/check.h"
#include "lzero/family/families.h"

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
