// Warns of a model that no longer tells observations apart, or whose training diverges, from a line
// of metrics. Pure functions; any thread.
#ifndef LZERO_TRAIN_COLLAPSE_H_
#define LZERO_TRAIN_COLLAPSE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "lzero/train/learner.h"

namespace lzero {

// A sentence when the spread of the latents of a batch (latent/spread) is less than 0.005 of their
// norm (latent/norm) after 1,000 updates or more. Nothing before, while a fresh network may tell
// little apart, when they are healthy, or when the line has no latents. Where the two numbers come
// from: experiments/2026-11-23_diagnostics.
std::optional<std::string> CollapseWarning(const MetricMap& metrics, int64_t updates);

// A sentence when loss/value or loss/reward, each a cross-entropy, is above 50: what happens has a
// probability of less than e^-50. That of a fresh network is the logarithm of the atoms, 3 to 7.
std::optional<std::string> DivergenceWarning(const MetricMap& metrics);

}  // namespace lzero

#endif  // LZERO_TRAIN_COLLAPSE_H_
