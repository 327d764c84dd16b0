#include "lzero/family/muzero/packed/packed_muzero.h"
#include "lzero/family/packed/families.h"
#include "lzero/family/packed/latent_family.h"

namespace lzero {

const ModelFamily& MuZeroFamily() {
  static const ModelFamily kFamily = [] {
    ModelFamily family = LatentFamily();
    family.engine_bytes = [](const auto& options, auto&) { return PackedMuZeroBytes(options); };
    family.make_engine = [](const auto& options, auto&) { return MakePackedMuZero(options); };
    return family;
  }();
  return kFamily;
}

}  // namespace lzero
