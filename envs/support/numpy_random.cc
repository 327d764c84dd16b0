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

uint32_t HashMix(uint32_t value, uint32_t& hash, uint32_t multiplier = kMultA) {
  value ^= hash;
  hash *= multiplier;
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

// 0 .. largest by Lemire's method from words of `next`, half as wide as Product.
template <typename Product, typename Word, typename Next>
Word Bounded(Word largest, const Next& next) {
  constexpr Word kLargestWord = ~Word{0};
  if (largest == kLargestWord) return next();
  const Word count = largest + 1;
  Product product = static_cast<Product>(next()) * count;
  if (static_cast<Word>(product) < count) {
    const Word threshold = (kLargestWord - largest) % count;
    while (static_cast<Word>(product) < threshold) product = static_cast<Product>(next()) * count;
  }
  return static_cast<Word>(product >> (8 * sizeof(Word)));
}

}  // namespace

std::array<uint64_t, 4> NumpySeedState(uint64_t seed) {
  const std::array<uint32_t, kPoolSize> pool = MakePool(seed);
  std::array<uint64_t, 4> words = {};
  uint32_t hash = kInitB;
  for (int i = 0; i < 8; ++i) {
    const uint64_t value = HashMix(pool[i % kPoolSize], hash, kMultB);
    words[i / 2] |= value << (32 * (i % 2));
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

int64_t NumpyRandom::Integers(int64_t low, int64_t high) {
  LZ_CHECK(low < high, "empty range ", low, " .. ", high);
  const uint64_t largest = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) - 1;
  uint64_t offset = 0;
  if (largest > 0xffffffffu) {
    offset = Bounded<unsigned __int128>(largest, [this] { return NextUint64(); });
  } else if (largest > 0) {  // else nothing is drawn
    offset = Bounded<uint64_t>(static_cast<uint32_t>(largest), [this] { return NextUint32(); });
  }
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

}  // namespace lzero
