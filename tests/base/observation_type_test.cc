#include "lzero/base/observation_type.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::observation_type_test {
namespace {

TEST(ObservationTypeTest, NamesAndSizes) {
  EXPECT_EQ(std::string(ObservationTypeName(ObservationType::kFloat32)), "float32");
  EXPECT_EQ(std::string(ObservationTypeName(ObservationType::kUint8)), "uint8");
  EXPECT_EQ(ObservationTypeSize(ObservationType::kFloat32), 4);
  EXPECT_EQ(ObservationTypeSize(ObservationType::kUint8), 1);
}

TEST(ObservationTypeTest, AByteIsA255thOfItsNumber) {
  for (int k = 0; k < 256; ++k) {
    const auto byte = static_cast<uint8_t>(k);
    float fraction = -1.0f;
    BytesToFractions({&byte, 1}, &fraction);
    EXPECT_EQ(fraction, static_cast<float>(k) / 255.0f) << k;
  }
}

TEST(ObservationTypeTest, EveryByteComesBack) {
  std::vector<uint8_t> bytes(256), back(256);
  for (int k = 0; k < 256; ++k) bytes[k] = static_cast<uint8_t>(255 - k);
  std::vector<float> fractions(256);
  BytesToFractions(bytes, fractions.data());
  for (int k = 0; k < 256; ++k) EXPECT_EQ(fractions[k], static_cast<float>(255 - k) / 255.0f) << k;
  EXPECT_EQ(FractionsToBytes(fractions, back.data()), -1);
  EXPECT_EQ(back, bytes);
  EXPECT_TRUE(AreFractionsOf(fractions, bytes.data()));
  EXPECT_TRUE(AreFractionsOf({}, nullptr));
  ++bytes[200];
  EXPECT_FALSE(AreFractionsOf(fractions, bytes.data()));
}

TEST(ObservationTypeTest, NothingElseIsTaken) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const float third = 85.0f / 255.0f;
  for (const float wrong :
       {0.5f, -1.0f / 255.0f, 256.0f / 255.0f, 1e30f, -1e30f, nan, infinity, -infinity, 1e-9f,
        std::nextafter(third, 1.0f), std::nextafter(third, 0.0f), std::nextafter(1.0f, 2.0f)}) {
    const std::vector<float> fractions = {0.0f, 1.0f, third, wrong, 1.0f, wrong};
    std::vector<uint8_t> bytes(6);
    EXPECT_EQ(FractionsToBytes(fractions, bytes.data()), 3) << wrong;
    for (int k = 0; k < 256; ++k) {
      const uint8_t byte = static_cast<uint8_t>(k);
      EXPECT_FALSE(AreFractionsOf({wrong}, &byte)) << wrong << " is not " << k << " / 255";
    }
  }
  EXPECT_EQ(FractionsToBytes({}, nullptr), -1);
}

}  // namespace
}  // namespace lzero::observation_type_test
