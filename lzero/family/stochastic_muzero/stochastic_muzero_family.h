// Stochastic MuZero behind ModelFamily: MuZero with chance nodes, for environments whose chance
// outcomes can be told apart.
#ifndef LZERO_FAMILY_STOCHASTIC_MUZERO_STOCHASTIC_MUZERO_FAMILY_H_
#define LZERO_FAMILY_STOCHASTIC_MUZERO_STOCHASTIC_MUZERO_FAMILY_H_

#include "lzero/family/model_family.h"

namespace lzero {

const ModelFamily& StochasticMuZeroFamily();

}  // namespace lzero

#endif  // LZERO_FAMILY_STOCHASTIC_MUZERO_STOCHASTIC_MUZERO_FAMILY_H_
