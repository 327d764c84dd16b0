#include "envs/support/numpy_legacy_random.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace lzero::numpy_legacy_random_test {
namespace {

// Every number below was printed by NumPy 2.4.6 (numpy.random.RandomState(seed)).
struct Reference {
  uint32_t seed;
  std::array<uint32_t, 3> raw;    // randint(0, 2**32, 3, dtype=uint32)
  std::array<double, 3> random;   // rand(3)
  std::array<int64_t, 8> ten;     // randint(0, 10), eight times
  std::array<int64_t, 8> speeds;  // randint(1, 6, 8)
  // randint(0, 5), rand(), randint(1), randint(-3, 2**32 - 3), randint(1, 9),
  // randint(0, 3 * 2**30), randint(2) in one stream
  std::array<int64_t, 6> mixed;
  double mixed_random;
  // randint(1000), rand() after rand(1000)
  int64_t late;
  double late_random;
};

const std::vector<Reference> kReferences = {
    {0u,
     {2357136044u, 2546248239u, 3071714933u},
     {0.5488135039273248, 0.7151893663724195, 0.6027633760716439},
     {5, 0, 3, 3, 7, 9, 3, 5},
     {5, 1, 4, 4, 4, 2, 4, 3},
     {4, 0, 3626093757, 4, 2340255427, 1},
     0.5928446182250183,
     81,
     0.9202717543398119},
    {1u,
     {1791095845u, 4282876139u, 3093770124u},
     {0.417022004702574, 0.7203244934421581, 0.00011437481734488664},
     {5, 8, 9, 5, 0, 0, 1, 7},
     {4, 5, 1, 2, 4, 1, 1, 2},
     {3, 0, 491260, 2, 1298508491, 1},
     0.7203244934421581,
     61,
     0.47858022071292505},
    {42u,
     {1608637542u, 3421126067u, 4083286876u},
     {0.3745401188473625, 0.9507143064099162, 0.7319939418114051},
     {6, 3, 7, 4, 6, 9, 2, 6},
     {4, 5, 3, 5, 5, 2, 3, 3},
     {3, 0, 3143890023, 8, 2571218620, 0},
     0.9507143064099162,
     814,
     0.0867052118621836},
    {123456789u,
     {2288500408u, 4254805660u, 2294099250u},
     {0.532833024789759, 0.5341366008904166, 0.509553035526467},
     {8, 2, 9, 7, 4, 3, 4, 0},
     {1, 5, 3, 2, 3, 5, 3, 5},
     {0, 0, 56498134, 3, 3108979485, 0},
     0.9906491379002973,
     626,
     0.3649385010438234},
    {4294967295u,
     {419326371u, 479346978u, 3918654476u},
     {0.0976320289940138, 0.9123828453026218, 0.78903530185164},
     {3, 2, 7, 4, 0, 6, 9, 0},
     {4, 3, 5, 5, 1, 3, 2, 1},
     {3, 0, 2416749636, 5, 2260532800, 0},
     0.11160667175339789,
     671,
     0.4900614678879215},
};

TEST(NumpyLegacyRandomTest, RawBitsAndDoublesAreNumpys) {
  for (const Reference& reference : kReferences) {
    NumpyLegacyRandom raw(reference.seed);
    for (const uint32_t expected : reference.raw) EXPECT_EQ(raw.NextUint32(), expected);
    NumpyLegacyRandom random(reference.seed);
    for (const double expected : reference.random) EXPECT_EQ(random.Random(), expected);
  }
}

TEST(NumpyLegacyRandomTest, IntegersAreNumpys) {
  for (const Reference& reference : kReferences) {
    NumpyLegacyRandom random(reference.seed);
    for (const int64_t expected : reference.ten) EXPECT_EQ(random.Randint(0, 10), expected);
    NumpyLegacyRandom speeds(reference.seed);
    for (const int64_t expected : reference.speeds) EXPECT_EQ(speeds.Randint(1, 6), expected);
    NumpyLegacyRandom mixed(reference.seed);
    EXPECT_EQ(mixed.Randint(0, 5), reference.mixed[0]);
    EXPECT_EQ(mixed.Random(), reference.mixed_random);
    EXPECT_EQ(mixed.Randint(0, 1), reference.mixed[1]);  // draws nothing
    EXPECT_EQ(mixed.Randint(-3, (int64_t{1} << 32) - 3), reference.mixed[2]);
    EXPECT_EQ(mixed.Randint(1, 9), reference.mixed[3]);
    EXPECT_EQ(mixed.Randint(0, 3 * (int64_t{1} << 30)), reference.mixed[4]);
    EXPECT_EQ(mixed.Randint(0, 2), reference.mixed[5]);
  }
}

TEST(NumpyLegacyRandomTest, GoesOnFromAState) {
  for (const Reference& reference : kReferences) {
    NumpyLegacyRandom random(reference.seed);
    for (int i = 0; i < 1000; ++i) random.Random();
    EXPECT_EQ(random.state().num_words, 2000u);
    NumpyLegacyRandom other(7);
    other.set_state(random.state());
    EXPECT_EQ(other.Randint(0, 1000), reference.late);
    EXPECT_EQ(other.Random(), reference.late_random);
  }
}

TEST(NumpyLegacyRandomDeathTest, AnEmptyRangeAndOneTooWideAreOurBug) {
  NumpyLegacyRandom random(0);
  EXPECT_DEATH(random.Randint(3, 3), "range 3 .. 3");
  EXPECT_DEATH(random.Randint(0, (int64_t{1} << 32) + 1), "range 0 .. 4294967297");
}

}  // namespace
}  // namespace lzero::numpy_legacy_random_test
