// The model families, each made in its own folder. They live as long as the program.
#ifndef LZERO_FAMILY_FAMILIES_H_
#define LZERO_FAMILY_FAMILIES_H_

#include "lzero/family/model_family.h"

namespace lzero {

// A network for policy and value, and a search that plays its steps in environments of its own: for
// environments that can be saved and draw no random numbers.
const ModelFamily& AlphaZeroFamily();
// Recurrent latent dynamics, no memory beyond the latent state: the baseline that shows what
// UniZero's transformer buys.
const ModelFamily& MuZeroFamily();
// MuZero with chance nodes, for environments whose chance outcomes can be told apart.
const ModelFamily& StochasticMuZeroFamily();
// A transformer world model that is searched through cached contexts.
const ModelFamily& UniZeroFamily();

}  // namespace lzero

#endif  // LZERO_FAMILY_FAMILIES_H_
