// What families of recurrent latent models share (MuZero, Stochastic MuZero): rules, sizes, words.
#ifndef LZERO_FAMILY_PACKED_LATENT_FAMILY_H_
#define LZERO_FAMILY_PACKED_LATENT_FAMILY_H_

#include "lzero/family/packed/model_family.h"

namespace lzero {

// A family without network and engine. It refuses context steps, which a latent state cannot take
// in, runners that it lacks, and SimNorm groups that do not divide the latent state.
ModelFamily LatentFamily();

}  // namespace lzero

#endif  // LZERO_FAMILY_PACKED_LATENT_FAMILY_H_
