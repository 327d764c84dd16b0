#include "lzero/base/rng.h"

#include <cmath>

#include "lzero/base/check.h"

namespace lzero {
namespace {

// FNV-1a over the name gives the counter, Philox mixes it with seed and index.
uint64_t HashName(absl::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace

uint64_t StreamKey(uint64_t seed, absl::string_view name, uint64_t index) {
  const PhiloxWords words = ComputePhilox(seed, HashName(name), index);
  return static_cast<uint64_t>(words.word[0]) << 32 | words.word[1];
}

void RandomStream::set_state(const State& state) {
  state_ = state;
  block_index_ = ~uint64_t{0};
}

uint32_t RandomStream::NextUint32() {
  const uint64_t block = state_.position / 4;
  if (block != block_index_) {
    block_ = ComputePhilox(state_.key, block, 0);
    block_index_ = block;
  }
  return block_.word[state_.position++ % 4];
}

uint64_t RandomStream::NextUint64() {
  const uint64_t high = NextUint32();
  return high << 32 | NextUint32();
}

double RandomStream::Uniform() {
  const uint32_t high = NextUint32();
  return ToUnitInterval(high, NextUint32());
}

int64_t RandomStream::UniformInt(int64_t limit) {
  LZ_CHECK(limit > 0, "got ", limit);
  const uint64_t range = static_cast<uint64_t>(limit);
  // Rejection keeps it exactly uniform: values below 2^64 mod range are drawn again.
  const uint64_t threshold = (0 - range) % range;
  while (true) {
    const uint64_t value = NextUint64();
    if (value >= threshold) return static_cast<int64_t>(value % range);
  }
}

double RandomStream::Normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
  return radius * std::cos(2.0 * M_PI * Uniform());
}

double RandomStream::Gamma(double shape) {
  LZ_CHECK(shape > 0, "got ", shape);
  if (shape < 1.0) {
    const double boosted = Gamma(shape + 1.0);
    return boosted * std::pow(1.0 - Uniform(), 1.0 / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = Normal();
    const double t = 1.0 + c * x;
    if (t <= 0.0) continue;
    const double v = t * t * t;
    if (std::log(1.0 - Uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

double RandomStream::Gumbel() {
  // 1 - u lies in (0, 1], and the largest value below 1 keeps both logarithms finite.
  const double u = std::fmin(1.0 - Uniform(), 1.0 - 0x1.0p-53);
  return -std::log(-std::log(u));
}

void RandomStream::Dirichlet(double alpha, absl::Span<double> out) {
  double sum = 0.0;
  for (double& value : out) sum += value = Gamma(alpha);
  if (sum <= 0.0) {  // every sample underflowed (tiny alpha): one corner of the simplex
    out[UniformInt(static_cast<int64_t>(out.size()))] = sum = 1.0;
  }
  for (double& value : out) value /= sum;
}

int RandomStream::Categorical(absl::Span<const double> weights) {
  double sum = 0.0;
  for (const double weight : weights) sum += weight;
  LZ_CHECK(sum > 0.0, "weights sum to ", sum);
  double rest = Uniform() * sum;
  int last_positive = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    last_positive = static_cast<int>(i);
    rest -= weights[i];
    if (rest < 0.0) return last_positive;
  }
  return last_positive;  // rounding left a rest of almost nothing
}

}  // namespace lzero
