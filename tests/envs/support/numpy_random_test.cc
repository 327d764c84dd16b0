#include "envs/support/numpy_random.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace lzero::numpy_random_test {
namespace {

// Every number below was printed by NumPy 2.4.6 (numpy.random.Generator(numpy.random.PCG64(seed))).
struct Reference {
  uint64_t seed;
  std::array<uint64_t, 4> seed_state;  // SeedSequence(seed).generate_state(4, uint64)
  std::array<uint64_t, 3> raw;         // bit_generator.random_raw(3)
  std::array<double, 3> random;        // random(3)
  std::array<double, 4> uniform;       // uniform(-0.05, 0.05, 4)
  std::array<int64_t, 8> ten;          // integers(0, 10), eight times
  // integers(0, 5), random(), integers(3, 9), integers(0, 2**40), integers(0, 7),
  // integers(-3, 2**32 - 3), integers(0, 2**32 + 1), integers(0, 1), integers(0, 9) in one stream
  std::array<int64_t, 8> mixed;
  double mixed_random;
};

const std::vector<Reference> kReferences = {
    {0u,
     {0xdb2cd7e7b0f478be, 0xabf4641a2c71ba49, 0x20c6ed6d9d7b8d41, 0x2c4099de223c39d4},
     {0xa30febcfd9c2825f, 0x4510bdf882d9d721, 0x0a7d3da94ecde8b8},
     {0.6369616873214543, 0.2697867137638703, 0.04097352393619469},
     {0.013696168732145436, -0.02302132862361297, -0.045902647606380534, -0.04834723644714709},
     {8, 6, 5, 2, 3, 0, 0, 0},
     {4, 6, 45050865998, 0, 70985651, 3492969080, 0, 5},
     0.2697867137638703},
    {1u,
     {0x672d8ee56d6791ff, 0x8ae19ca14eb1072c, 0x4915796d1322fc4a, 0xd0cc2bdcaba049bd},
     {0x8306bdf37922e4ff, 0xf35196bbc152a866, 0x24e7a4f608ec18cd},
     {0.5118216247002567, 0.9504636963259353, 0.14415961271963373},
     {0.0011821624700256717, 0.045046369632593536, -0.03558403872803663, 0.04486494471372439},
     {4, 5, 7, 9, 0, 1, 8, 9},
     {2, 6, 158505170440, 5, 4074418347, 1339305888, 0, 7},
     0.9504636963259353},
    {11u,
     {0x367e754172d24763, 0x289d5074abaac1fc, 0x02fc5603fff038e1, 0xd8000b4940c339a5},
     {0x20e9fa102240cc4e, 0x7fd0ac8acc0d7a67, 0x99fbcbde970c647c},
     {0.12857020276919962, 0.49927786244011496, 0.6014983576233575},
     {-0.03714297972308004, -7.221375598850249e-05, 0.010149835762335746, -0.04713109916280555},
     {1, 1, 7, 4, 5, 6, 7, 0},
     {0, 3, 661354438295, 4, 123218349, 635337695, 0, 3},
     0.49927786244011496},
    {42u,
     {0x9f1e2e6dcd540ab7, 0xd57873dc79fb94b6, 0x7d282a1b64d420b7, 0x336579714692d5ff},
     {0xc621fbcd16d92688, 0x705a5661a791ffc1, 0xdbcd12c26eda1624},
     {0.7739560485559633, 0.4388784397520523, 0.8585979199113825},
     {0.027395604855596334, -0.006112156024794771, 0.03585979199113824, 0.019736802905936393},
     {0, 7, 6, 4, 4, 8, 0, 6},
     {0, 7, 944038396526, 0, 2995172875, 404488629, 0, 4},
     0.4388784397520523},
    {123456789u,
     {0x52f2396d4e66315e, 0x9bd9bd4308fb907e, 0x1883d99c7552ea9a, 0x6a530759b1c92e6c},
     {0x07182e9ce6a6f13c, 0xe81d7ead95d3cecd, 0xe1a3020c572e02b9},
     {0.02771273928251694, 0.9067000554840227, 0.8813935546997342},
     {-0.04722872607174831, 0.04067000554840226, 0.03813935546997342, 0.012489727542090864},
     {9, 0, 5, 9, 3, 8, 2, 6},
     {4, 3, 969102462039, 2, 2683913358, 3396094254, 0, 1},
     0.9067000554840227},
    {4294967295u,
     {0x2a05c5e276c1fe08, 0x2032e40fc20e8198, 0xed4ac06d787f4396, 0x56896cb4f3db80fd},
     {0x407f5fa930d8fd9f, 0x3814b22eb9684802, 0x498b7dcee8d8dc95},
     {0.2519435680449965, 0.21906579628685663, 0.28728472043517017},
     {-0.02480564319550035, -0.028093420371314338, -0.021271527956482985, 0.011898130253268316},
     {1, 2, 7, 2, 9, 2, 2, 6},
     {0, 4, 315872890600, 1, 2658504448, 4015847212, 0, 1},
     0.21906579628685663},
    {4294967296u,
     {0x50ff846cec53f444, 0x7a4918dbe8278562, 0x3bff9f6c362e2b19, 0xbdb177539a0654e3},
     {0xe3c5ebe285ac1625, 0x8ea09968fe31dbcc, 0xcd084ff84d8de9be},
     {0.8897387912781343, 0.5571380502062263, 0.8009080868919721},
     {0.03897387912781343, 0.005713805020622631, 0.03009080868919721, 0.04565138174753386},
     {5, 8, 9, 5, 3, 8, 2, 9},
     {2, 8, 880607754317, 1, 4108195561, 251750195, 0, 0},
     0.5571380502062263},
    {9223372036854788153u,
     {0x889ec48f7ae53509, 0x26bb4c7be5ab3a49, 0x6dc73b76aa842b98, 0xae5b85cbdd13fec1},
     {0x7e82ff06e5a17e1c, 0x9375de147f211adb, 0x0aee1bf0359cb9d2},
     {0.4941863433683745, 0.5760172653236889, 0.04269575705039841},
     {-0.0005813656631625461, 0.007601726532368888, -0.04573042429496016, 0.03639690438686173},
     {8, 4, 4, 5, 2, 0, 1, 8},
     {4, 5, 46944481333, 1, 3710718785, 1863648322, 0, 0},
     0.5760172653236889},
    {18446744073709551615u,
     {0xaebca151928cad0d, 0x119c30448638dc7a, 0x1bbb155659e642a7, 0xa76b11e3e8c4a8f6},
     {0xae163a7a8c47568f, 0xd86659f5f3382359, 0x01e52b195bc2d24a},
     {0.6800266789616931, 0.8453117585624743, 0.007403081599260064},
     {0.018002667896169305, 0.03453117585624743, -0.049259691840074, 0.039456812643914735},
     {5, 6, 9, 8, 3, 0, 1, 8},
     {2, 7, 8139774299, 0, 3842140844, 553901464, 0, 2},
     0.8453117585624743},
};

TEST(NumpyRandomTest, SeedSequenceGivesNumpysWords) {
  for (const Reference& reference : kReferences) {
    EXPECT_EQ(NumpySeedState(reference.seed), reference.seed_state) << reference.seed;
  }
}

TEST(NumpyRandomTest, RawBitsAreNumpys) {
  for (const Reference& reference : kReferences) {
    NumpyRandom random(reference.seed);
    for (const uint64_t expected : reference.raw) EXPECT_EQ(random.NextUint64(), expected);
  }
}

TEST(NumpyRandomTest, DoublesAreNumpys) {
  for (const Reference& reference : kReferences) {
    NumpyRandom random(reference.seed);
    for (const double expected : reference.random) EXPECT_EQ(random.Random(), expected);
    NumpyRandom uniform(reference.seed);
    for (const double expected : reference.uniform) {
      EXPECT_EQ(uniform.Uniform(-0.05, 0.05), expected);
    }
  }
}

TEST(NumpyRandomTest, SmallIntegersUseBothHalvesOfAWord) {
  for (const Reference& reference : kReferences) {
    NumpyRandom random(reference.seed);
    for (const int64_t expected : reference.ten) EXPECT_EQ(random.Integers(0, 10), expected);
  }
}

TEST(NumpyRandomTest, TheKeptHalfWordSurvivesOtherDraws) {
  for (const Reference& reference : kReferences) {
    NumpyRandom random(reference.seed);
    EXPECT_EQ(random.Integers(0, 5), reference.mixed[0]);
    EXPECT_EQ(random.Random(), reference.mixed_random);
    EXPECT_EQ(random.Integers(3, 9), reference.mixed[1]);
    EXPECT_EQ(random.Integers(0, int64_t{1} << 40), reference.mixed[2]);
    EXPECT_EQ(random.Integers(0, 7), reference.mixed[3]);
    EXPECT_EQ(random.Integers(-3, (int64_t{1} << 32) - 3), reference.mixed[4]);
    EXPECT_EQ(random.Integers(0, (int64_t{1} << 32) + 1), reference.mixed[5]);
    EXPECT_EQ(random.Integers(0, 1), reference.mixed[6]);
    EXPECT_EQ(random.Integers(0, 9), reference.mixed[7]);
  }
}

// Ranges in which a quarter of the draws is rejected; default_rng(7).
TEST(NumpyRandomTest, RejectedDrawsAreNumpys) {
  NumpyRandom narrow(7);
  for (const int64_t expected : {int64_t{3043751912}, int64_t{2013573438}, int64_t{2203897839},
                                 int64_t{1862810377}, int64_t{2498658503}, int64_t{2685377905}}) {
    EXPECT_EQ(narrow.Integers(0, 3 * (int64_t{1} << 30)), expected);
  }
  NumpyRandom full(7);
  for (const int64_t expected :
       {int64_t{4058335883}, int64_t{2684764585}, int64_t{2938530453}, int64_t{3853503932}}) {
    EXPECT_EQ(full.Integers(0, int64_t{1} << 32), expected);
  }
  NumpyRandom wide(7);
  for (const int64_t expected :
       {int64_t{6206502512207226871}, int64_t{5365828278596935044}, int64_t{1557877273993399992},
        int64_t{2076408988992585337}, int64_t{6042831315724521139}, int64_t{5680871422486561426}}) {
    EXPECT_EQ(wide.Integers(0, 3 * (int64_t{1} << 61)), expected);
  }
}

TEST(NumpyRandomDeathTest, AnEmptyRangeIsOurBug) {
  NumpyRandom random(0);
  EXPECT_DEATH(random.Integers(3, 3), "empty range 3 .. 3");
}

}  // namespace
}  // namespace lzero::numpy_random_test
