#include "lzero/family/families.h"
#include "lzero/family/latent_family.h"
#include "lzero/family/muzero/muzero_inference.h"
#include "lzero/family/muzero/muzero_network.h"

namespace lzero {

const ModelFamily& MuZeroFamily() {
  static const ModelFamily kFamily = [] {
    ModelFamily family = LatentFamily();
    family.make_network = MuZeroNetwork::Create;
    family.engine_bytes = [](const auto& options, auto&) { return MuZeroEngineBytes(options); };
    family.make_engine = [](const auto& options, auto&) { return MakeMuZeroEngine(options); };
    return family;
  }();
  return kFamily;
}

}  // namespace lzero
