// The numbers that make up the state of a physics environment: their names and ranges, and what is
// said about a state from outside that does not fit. Not the state itself, which each environment
// keeps in its own way. Pure functions, any thread.
#ifndef LZERO_ENVS_CLASSIC_PHYSICS_STATE_H_
#define LZERO_ENVS_CLASSIC_PHYSICS_STATE_H_

#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/env/saved_state.h"

namespace lzero {

// One number of a state; both bounds are allowed, by default any finite number is.
struct PhysicsNumber {
  absl::string_view name;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

// "" when `values`, as many as `numbers`, are finite and inside their bounds; else what is wrong.
std::string PhysicsProblem(absl::Span<const PhysicsNumber> numbers,
                           absl::Span<const double> values);

// InvalidArgument unless `values` is a state of the environment `id`: as many finite numbers as
// `numbers`, inside their bounds.
absl::Status CheckPhysics(absl::string_view id, absl::Span<const PhysicsNumber> numbers,
                          absl::Span<const double> values);

// Reads a saved state that is these numbers and nothing else into `state` [numbers], which an error
// leaves as it was.
absl::Status LoadPhysics(StateReader& reader, absl::Span<const PhysicsNumber> numbers,
                         absl::Span<double> state);

// `value` rounded to float32. A function of its own because GCC 12 at -O2 takes conversions to
// float and back for nothing where two neighbours in memory are rounded.
double RoundToFloat32(double value);

}  // namespace lzero

#endif  // LZERO_ENVS_CLASSIC_PHYSICS_STATE_H_
