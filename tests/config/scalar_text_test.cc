#include "lzero/config/scalar_text.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::scalar_text_test {
namespace {

TEST(ParseInt, ReadsPlainDecimalIntegers) {
  EXPECT_EQ(*ParseInt("0"), 0);
  EXPECT_EQ(*ParseInt("-7"), -7);
  EXPECT_EQ(*ParseInt("+12"), 12);
  EXPECT_EQ(*ParseInt("9223372036854775807"), std::numeric_limits<int64_t>::max());
}

TEST(ParseInt, RefusesEverythingElse) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"", "not an integer"},
      {"-", "not an integer"},
      {"+-5", "not an integer"},
      {" 5", "not an integer"},
      {"5 ", "not an integer"},
      {"0x10", "not an integer"},
      {"0o17", "not an integer"},
      {"010", "an integer with leading zeros; did you mean '10'?"},
      {"-007", "an integer with leading zeros; did you mean '-7'?"},
      {"1e3", "not an integer; did you mean '1000'?"},
      {"5.0", "not an integer; did you mean '5'?"},
      {"2.5", "not an integer"},
      {"1_000", "not an integer; did you mean '1000'?"},
      {"20,000", "not an integer; did you mean '20000'?"},
      {"1:30", "not an integer"},
      {"nan", "not an integer"},
      {"9223372036854775808", "too large for a 64-bit integer"},
      {"99999999999999999999999", "too large for a 64-bit integer"},
  };
  for (const auto& test : cases) {
    const auto parsed = ParseInt(test.text);
    ASSERT_FALSE(parsed.ok()) << test.text;
    EXPECT_EQ(std::string(parsed.status().message()), test.message) << test.text;
  }
}

TEST(ParseFloat, ReadsDecimalNumbers) {
  EXPECT_EQ(*ParseFloat("5"), 5.0);
  EXPECT_EQ(*ParseFloat("1.0e-3"), 0.001);
  EXPECT_EQ(*ParseFloat("1E3"), 1000.0);
  EXPECT_EQ(*ParseFloat("-.5"), -0.5);
  EXPECT_EQ(*ParseFloat("2."), 2.0);
  EXPECT_TRUE(std::signbit(*ParseFloat("-0")));
}

TEST(ParseFloat, RefusesEverythingElse) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"", "not a number"},
      {".", "not a number"},
      {"e5", "not a number"},
      {"1e", "not a number"},
      {"1e+", "not a number"},
      {"off", "not a number"},
      {".inf", "not a number"},
      {"inf", "not a number"},
      {"NaN", "not a number"},
      {"0x1p3", "not a number"},
      {"1.5f", "not a number"},
      {"1_000.5", "not a number; did you mean '1000.5'?"},
      {"00.5", "a number with leading zeros; did you mean '0.5'?"},
      {"1e999", "too large or too small for a 64-bit float"},
      {"1e-999", "too large or too small for a 64-bit float"},
  };
  for (const auto& test : cases) {
    const auto parsed = ParseFloat(test.text);
    ASSERT_FALSE(parsed.ok()) << test.text;
    EXPECT_EQ(std::string(parsed.status().message()), test.message) << test.text;
  }
}

TEST(ParseBool, KnowsTwoWords) {
  EXPECT_TRUE(*ParseBool("true"));
  EXPECT_FALSE(*ParseBool("false"));
  for (const char* text : {"on", "yes", "True", "1", "Y"}) {
    EXPECT_EQ(std::string(ParseBool(text).status().message()),
              "not a truth value; did you mean 'true'?");
  }
  for (const char* text : {"off", "no", "FALSE", "0", "N"}) {
    EXPECT_EQ(std::string(ParseBool(text).status().message()),
              "not a truth value; did you mean 'false'?");
  }
  EXPECT_EQ(std::string(ParseBool("maybe").status().message()), "not a truth value");
}

TEST(FloatText, IsShort) {
  EXPECT_EQ(FloatText(0.0), "0");
  EXPECT_EQ(FloatText(5.0), "5");
  EXPECT_EQ(FloatText(0.997), "0.997");
  EXPECT_EQ(FloatText(1e-4), "0.0001");
  EXPECT_EQ(FloatText(-19652.0), "-19652");
  EXPECT_EQ(FloatText(1e-7), "1e-07");
  EXPECT_EQ(FloatText(1e20), "1e+20");
}

TEST(FloatText, ReadsBackToTheSameBits) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isnormal(value)) continue;
    const auto parsed = ParseFloat(FloatText(value));
    ASSERT_TRUE(parsed.ok()) << FloatText(value);
    EXPECT_EQ(std::memcmp(&*parsed, &value, sizeof(value)), 0) << FloatText(value);
  }
}

TEST(YamlText, QuotesWhatIsNotPlain) {
  EXPECT_EQ(YamlText("cartpole"), "cartpole");
  EXPECT_EQ(YamlText("gymnasium:ALE/Pong-v5"), "gymnasium:ALE/Pong-v5");
  EXPECT_EQ(YamlText(""), "\"\"");
  EXPECT_EQ(YamlText("null"), "\"null\"");
  EXPECT_EQ(YamlText("~"), "\"~\"");
  EXPECT_EQ(YamlText("a b"), "\"a b\"");
  EXPECT_EQ(YamlText("a:"), "\"a:\"");
  EXPECT_EQ(YamlText("-"), "\"-\"");
  EXPECT_EQ(YamlText("say \"\\\""), "\"say \\\"\\\\\\\"\"");
  EXPECT_EQ(YamlText("a\nb"), "\"a\\x0ab\"");
}

TEST(QuotedForMessage, EscapesAndCuts) {
  EXPECT_EQ(QuotedForMessage("abc"), "'abc'");
  EXPECT_EQ(QuotedForMessage("caf\xc3\xa9"), "'caf\xc3\xa9'");
  EXPECT_EQ(QuotedForMessage(std::string("\x01", 1)), "'\\x01'");
  EXPECT_EQ(QuotedForMessage("\xff"), "'\\xff'");
  EXPECT_EQ(QuotedForMessage(std::string(100, 'x')), "'" + std::string(60, 'x') + "...'");
}

}  // namespace
}  // namespace lzero::scalar_text_test
