#include "envs/support/numpy_random.h"

#include "lzero/base/check.h"

namespace lzero {
namespace {

// numpy/random/bit_generator.pyx
constexpr uint32_t kInitA = 0x43b0d7e5;
constexpr uint32_t kMultA = 0x931e8875;
constexpr uint32_t kInitB = 0x8b51f9dd;
constexpr uint32_t kMultB = 0x58f38ded;
constexpr uint32_t kMixMultLeft = 0xca01f9dd;
constexpr uint32_t kMixMultRight = 0x4973f715;
constexpr int kPoolSize = 4;

constexpr unsigned __int128 kPcgMultiplier =
    static_cast<unsigned __int128>(0x2360ed051fc65da4) << 64 | 0x4385df649fccf645;

uint32_t HashMix(uint32_t value, uint32_t& hash) {
  value ^= hash;
  hash *= kMultA;
  value *= hash;
  return value ^ value >> 16;
}

uint32_t Mix(uint32_t x, uint32_t y) {
  const uint32_t result = kMixMultLeft * x - kMixMultRight * y;
  return result ^ result >> 16;
}

// The entropy of a 64-bit seed is its two 32-bit words, low first; missing words count as zero, so
// one word and two words with a zero give the same pool.
std::array<uint32_t, kPoolSize> MakePool(uint64_t seed) {
  const std::array<uint32_t, kPoolSize> entropy = {static_cast<uint32_t>(seed),
                                                   static_cast<uint32_t>(seed >> 32), 0, 0};
  std::array<uint32_t, kPoolSize> pool = {};
  uint32_t hash = kInitA;
  for (int i = 0; i < kPoolSize; ++i) pool[i] = HashMix(entropy[i], hash);
  for (int from = 0; from < kPoolSize; ++from) {
    for (int to = 0; to < kPoolSize; ++to) {
      if (from != to) pool[to] = Mix(pool[to], HashMix(pool[from], hash));
    }
  }
  return pool;
}

}  // namespace

std::array<uint64_t, 4> NumpySeedState(uint64_t seed) {
  const std::array<uint32_t, kPoolSize> pool = MakePool(seed);
  std::array<uint64_t, 4> words = {};
  uint32_t hash = kInitB;
  for (int i = 0; i < 8; ++i) {
    uint32_t value = pool[i % kPoolSize] ^ hash;
    hash *= kMultB;
    value *= hash;
    value ^= value >> 16;
    words[i / 2] |= static_cast<uint64_t>(value) << (32 * (i % 2));
  }
  return words;
}

NumpyRandom::NumpyRandom(uint64_t seed) {
  const std::array<uint64_t, 4> words = NumpySeedState(seed);
  const unsigned __int128 start = static_cast<unsigned __int128>(words[0]) << 64 | words[1];
  const unsigned __int128 stream = static_cast<unsigned __int128>(words[2]) << 64 | words[3];
  increment_ = stream << 1 | 1;
  state_ = (increment_ + start) * kPcgMultiplier + increment_;
}

uint64_t NumpyRandom::NextUint64() {
  state_ = state_ * kPcgMultiplier + increment_;
  const uint64_t folded = static_cast<uint64_t>(state_ >> 64) ^ static_cast<uint64_t>(state_);
  const int rotation = static_cast<int>(state_ >> 122);
  return folded >> rotation | folded << ((64 - rotation) & 63);
}

uint32_t NumpyRandom::NextUint32() {
  if (has_half_) {
    has_half_ = false;
    return half_;
  }
  const uint64_t word = NextUint64();
  has_half_ = true;
  half_ = static_cast<uint32_t>(word >> 32);
  return static_cast<uint32_t>(word);
}

double NumpyRandom::Random() { return static_cast<double>(NextUint64() >> 11) * 0x1.0p-53; }

double NumpyRandom::Uniform(double low, double high) {
  const double range = high - low;
  return low + range * Random();
}

int64_t NumpyRandom::Integers(int64_t low, int64_t high) {
  LZ_CHECK(low < high, "empty range ", low, " .. ", high);
  const uint64_t largest = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) - 1;
  uint64_t offset = 0;
  if (largest == 0) {
    offset = 0;  // nothing is drawn
  } else if (largest <= 0xffffffffu) {
    offset = BoundedUint32(static_cast<uint32_t>(largest));
  } else {
    offset = BoundedUint64(largest);
  }
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

uint32_t NumpyRandom::BoundedUint32(uint32_t largest) {
  if (largest == 0xffffffffu) return NextUint32();
  const uint32_t count = largest + 1;
  uint64_t product = static_cast<uint64_t>(NextUint32()) * count;
  if (static_cast<uint32_t>(product) < count) {
    const uint32_t threshold = (0xffffffffu - largest) % count;
    while (static_cast<uint32_t>(product) < threshold) {
      product = static_cast<uint64_t>(NextUint32()) * count;
    }
  }
  return static_cast<uint32_t>(product >> 32);
}

uint64_t NumpyRandom::BoundedUint64(uint64_t largest) {
  if (largest == ~uint64_t{0}) return NextUint64();
  const uint64_t count = largest + 1;
  unsigned __int128 product = static_cast<unsigned __int128>(NextUint64()) * count;
  if (static_cast<uint64_t>(product) < count) {
    const uint64_t threshold = (~uint64_t{0} - largest) % count;
    while (static_cast<uint64_t>(product) < threshold) {
      product = static_cast<unsigned __int128>(NextUint64()) * count;
    }
  }
  return static_cast<uint64_t>(product >> 64);
}

}  // namespace lzero
