// What a line of metrics says of a model that has stopped telling observations apart. A pure
// function; any thread.
#ifndef LZERO_TRAIN_COLLAPSE_H_
#define LZERO_TRAIN_COLLAPSE_H_

#include <optional>
#include <string>

#include "lzero/train/learner.h"

namespace lzero {

// A sentence when the spread of the latents of a batch (latent/spread) is less than a thousandth of
// their norm (latent/norm); healthy ones spread at a tenth of it and more. Nothing when they are
// healthy, or the line has no latents.
std::optional<std::string> CollapseWarning(const MetricMap& metrics);

}  // namespace lzero

#endif  // LZERO_TRAIN_COLLAPSE_H_
