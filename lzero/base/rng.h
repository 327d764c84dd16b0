// Counter-based random numbers (Philox4x32-10 of Random123): a stream is a key and a position, so
// it is saved as two integers, and streams with different names or indices never overlap. [Salmon
// et al. 2011, Parallel random numbers: as easy as 1, 2, 3] A RandomStream belongs to one thread;
// the free functions are pure.
#ifndef LZERO_BASE_RNG_H_
#define LZERO_BASE_RNG_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/base/philox.h"

namespace lzero {

// A 64-bit key for the stream `name` of the run with this seed; `index` tells equal streams apart
// (environment number, worker number).
uint64_t StreamKey(uint64_t seed, absl::string_view name, uint64_t index = 0);

class RandomStream {
 public:
  // What a checkpoint stores. `position` counts 32-bit words drawn.
  struct State {
    uint64_t key = 0;
    uint64_t position = 0;
  };

  explicit RandomStream(uint64_t key) : state_{key, 0} {}
  RandomStream(uint64_t seed, absl::string_view name, uint64_t index = 0)
      : RandomStream(StreamKey(seed, name, index)) {}

  State state() const { return state_; }
  void set_state(const State& state);

  uint32_t NextUint32();
  uint64_t NextUint64();
  // Uniform in [0, 1) with 53 bits.
  double Uniform();
  // Uniform in 0 .. limit - 1; limit must be positive.
  int64_t UniformInt(int64_t limit);
  // Standard normal (Box-Muller; two uniforms a call, nothing kept between calls).
  double Normal();
  // Gamma(shape, 1) by Marsaglia and Tsang 2000; shape > 0.
  double Gamma(double shape);
  // Standard Gumbel: -log(-log(u)).
  double Gumbel();
  // Fills `out` with a symmetric Dirichlet(alpha) sample that sums to 1; alpha > 0.
  void Dirichlet(double alpha, absl::Span<double> out);
  // Index drawn with probability proportional to `weights` (non-negative, positive sum).
  int Categorical(absl::Span<const double> weights);

 private:
  State state_;
  PhiloxWords block_ = {};
  uint64_t block_index_ = ~uint64_t{0};
};

}  // namespace lzero

#endif  // LZERO_BASE_RNG_H_
