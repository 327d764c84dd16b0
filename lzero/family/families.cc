#include "lzero/family/families.h"

#include <cstddef>
#include <iterator>

#include "lzero/base/check.h"

namespace lzero {

const ModelFamily& FamilyOf(const ModelConfig& config) {
#define LZ_FAMILY_FUNCTION(name, text) name##Family,
  static constexpr const ModelFamily& (*kFamilies[])() = {LZ_FAMILIES(LZ_FAMILY_FUNCTION)};
#undef LZ_FAMILY_FUNCTION
  const auto index = static_cast<size_t>(config.family);
  LZ_CHECK(index < std::size(kFamilies), "family ", index);
  return kFamilies[index]();
}

}  // namespace lzero
