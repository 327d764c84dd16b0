#include "lzero/train/model_family.h"

#include "lzero/base/check.h"
#include "lzero/train/unizero_family.h"

namespace lzero {

const ModelFamily& FamilyOf(const ModelConfig& config) {
  static const UniZeroFamily unizero;
  switch (config.family) {
    case Family::kUniZero:
      return unizero;
  }
  LZ_CHECK(false, "family ", static_cast<int>(config.family));
  return unizero;
}

}  // namespace lzero
