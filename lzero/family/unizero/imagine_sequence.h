// What the UniZero world model imagines beside what really happened: its part of open_loop.h. No
// gradients; a forward pass for each imagined token, so not at every update.
#ifndef LZERO_FAMILY_UNIZERO_IMAGINE_SEQUENCE_H_
#define LZERO_FAMILY_UNIZERO_IMAGINE_SEQUENCE_H_

#include <cstdint>

#include "lzero/family/unizero/world_model.h"
#include "lzero/model/batch_tensors.h"
#include "lzero/model/open_loop.h"

namespace lzero {

// Imagines H = `num_horizons` steps for each of N samples: tensors as in Imagined, float32, without
// gradient. From the context and the first observation on, every latent is the predicted one, as in
// a search; the actions are the real ones.
Imagined ImagineSequence(const WorldModel& model, const BatchTensors& batch, int64_t num_horizons);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_IMAGINE_SEQUENCE_H_
