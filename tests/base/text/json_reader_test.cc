// What is read, every complaint in full, and texts that are refused whole.
#include "lzero/base/text/json_reader.h"

#include <functional>
#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::json_reader_test {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

std::string Refusal(absl::string_view text) {
  const absl::Status status = JsonReader::Parse(text, {"here"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(status.message());
}

// The complaint about `text` after `read`.
std::string ComplaintOf(absl::string_view text,
                        const std::function<void(const JsonReader&)>& read) {
  const auto json = JsonReader::Parse(text, {"here"});
  EXPECT_TRUE(json.ok()) << json.status();
  read(*json);
  return std::string(json->status().message());
}

// The complaint about the field x, read as a T.
template <typename T>
std::string FieldComplaint(const std::string& value, const JsonLimits& limits = {}) {
  return ComplaintOf("{\"x\":" + value + "}", [&](const JsonReader& json) {
    T out{};
    json.Read("x", &out, limits);
  });
}

template <typename T>
T Field(const std::string& value, const JsonLimits& limits = {}) {
  T out{};
  const auto json = JsonReader::Parse("{\"x\":" + value + "}", {"here"});
  json->Read("x", &out, limits);
  EXPECT_TRUE(json->status().ok()) << json->status();
  return out;
}

TEST(JsonReaderTest, ReadsFieldsOfEveryType) {
  EXPECT_TRUE(Field<bool>("true"));
  EXPECT_EQ(Field<std::string>("\"a\\u00e9\""), "a\xc3\xa9");
  EXPECT_EQ(Field<int32_t>("-2147483648"), INT32_MIN);
  EXPECT_EQ(Field<int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(Field<uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(Field<double>("3"), 3.0);
  EXPECT_EQ(Field<double>("1e308"), 1e308);
  EXPECT_EQ(Field<float>("0.1"), 0.1f);
  EXPECT_EQ(Field<float>("3.4028235e38"), std::numeric_limits<float>::max())
      << "as NumPy prints it";
  EXPECT_THAT(Field<std::vector<int32_t>>("[3,-1]"), ElementsAre(3, -1));
  EXPECT_THAT(Field<std::vector<std::vector<int32_t>>>("[[],[7]]", {.size = 2}),
              ElementsAre(ElementsAre(), ElementsAre(7)));
  EXPECT_THAT(Field<std::vector<std::optional<double>>>("[null,0.5]"),
              ElementsAre(std::nullopt, 0.5));
  EXPECT_EQ(Field<std::optional<int64_t>>("4"), 4);
  EXPECT_EQ(Field<std::optional<double>>("null"), std::nullopt);
}

TEST(JsonReaderTest, SaysWhereWhatAndWhatIsAllowed) {
  EXPECT_EQ(FieldComplaint<bool>("1"), "here: x is 1; allowed: true or false");
  EXPECT_EQ(FieldComplaint<std::string>("null"), "here: x is null; allowed: a text");
  EXPECT_EQ(FieldComplaint<double>("\"1\""), "here: x is \"1\"; allowed: a number");
  EXPECT_EQ(FieldComplaint<double>("-3e30", {.largest = 1e30}),
            "here: x is -3e+30; allowed: a number, at most 1e+30 in size");
  EXPECT_EQ(FieldComplaint<float>("1e39"), "here: x is 1e+39; allowed: a 32-bit number");
  EXPECT_EQ(FieldComplaint<std::vector<double>>("[1,true]"),
            "here: x[1] is true; allowed: a number");
  EXPECT_EQ(FieldComplaint<std::vector<double>>("7"), "here: x is 7; allowed: a list");
  EXPECT_EQ(FieldComplaint<std::vector<double>>("[7]", {.size = 2, .note = ", or null"}),
            "here: x is [7]; allowed: a list of 2 entries, or null");
  EXPECT_EQ(FieldComplaint<std::optional<double>>("\"\""),
            "here: x is \"\"; allowed: a number or null");
  EXPECT_EQ(ComplaintOf("{}",
                        [](const JsonReader& json) {
                          std::optional<double> out;
                          json.Read("x", &out);
                        }),
            "here: x is missing; allowed: a number or null");
}

TEST(JsonReaderTest, WholeNumbersHaveARange) {
  EXPECT_EQ(FieldComplaint<int64_t>("1.0"), "here: x is 1.0; allowed: a whole number");
  EXPECT_EQ(FieldComplaint<int64_t>("9223372036854775808"),
            "here: x is 9223372036854775808; allowed: a whole number");
  EXPECT_EQ(FieldComplaint<uint64_t>("-1"), "here: x is -1; allowed: a whole number of 0 or more");
  EXPECT_EQ(FieldComplaint<uint64_t>("18446744073709551616"),
            "here: x is 1.8446744073709552e+19; allowed: a whole number of 0 or more");
  EXPECT_EQ(FieldComplaint<int64_t>("2", {.low = 3}),
            "here: x is 2; allowed: a whole number of 3 or more");
  EXPECT_EQ(FieldComplaint<int64_t>("10", {.low = 3, .high = 9}),
            "here: x is 10; allowed: a whole number, 3 to 9");
  EXPECT_EQ(FieldComplaint<int32_t>("2147483648", {.low = 0}),
            "here: x is 2147483648; allowed: a whole number, 0 to 2147483647");
  EXPECT_EQ(FieldComplaint<int32_t>("5", {.low = 4, .high = 4, .note = " here"}),
            "here: x is 5; allowed: 4 here");
  EXPECT_EQ(Field<int64_t>("9", {.low = 3, .high = 9}), 9);
}

TEST(JsonReaderTest, NamesThePlaceInTheDocument) {
  const char* text = R"({"a":{"b.c":[{},{"d":1}]},"e":[1],"s":{"t":2,"l":[]}})";
  const auto complaint = [&](const std::function<void(const JsonReader&)>& read) {
    return ComplaintOf(text, read);
  };
  std::string out;
  EXPECT_EQ(complaint([&](const JsonReader& json) {
              json.Object("a").Objects("b.c")[1].Read("d", &out);
            }),
            "here: a[\"b.c\"][1].d is 1; allowed: a text");
  EXPECT_EQ(complaint([&](const JsonReader& json) {
              json.Object("a").Objects("b.c")[0].Read("d", &out);
            }),
            "here: a[\"b.c\"][0].d is missing; allowed: a text");
  EXPECT_EQ(complaint([](const JsonReader& json) { json.Object("e"); }),
            "here: e is [1]; allowed: an object");
  EXPECT_EQ(complaint([](const JsonReader& json) { EXPECT_TRUE(json.Objects("e").empty()); }),
            "here: e[0] is 1; allowed: an object");
  EXPECT_EQ(complaint([](const JsonReader& json) { EXPECT_TRUE(json.Objects("a").empty()); }),
            "here: a is {\"b.c\":[{},{\"d\":1}]}; allowed: a list of objects");
  EXPECT_EQ(complaint([](const JsonReader& json) { json.Object("s").Wrong("t", "3"); }),
            "here: s.t is 2; allowed: 3");
  EXPECT_EQ(complaint([&](const JsonReader& json) { json.Object("s").ReadAsText("l", &out); }),
            "here: s.l is []; allowed: a single value");
  EXPECT_EQ(complaint([](const JsonReader& json) { json.Object("s").Fail("is odd"); }),
            "here: is odd");
}

TEST(JsonReaderTest, KeepsTheFirstComplaint) {
  EXPECT_EQ(ComplaintOf(R"({"a":1,"b":2})",
                        [](const JsonReader& json) {
                          std::string out = "as it was";
                          json.Read("a", &out);
                          json.Object("c").Read("d", &out);
                          json.Fail("later");
                          EXPECT_EQ(out, "as it was");
                        }),
            "here: a is 1; allowed: a text");
}

TEST(JsonReaderTest, FieldsMayBeMissing) {
  const auto json = JsonReader::Parse(R"({"n":null,"x":3,"text":"a","half":0.5})", {"here"});
  int64_t out = 9;
  json->MaybeRead("n", &out);
  json->MaybeRead("none", &out);
  EXPECT_EQ(out, 9);
  json->MaybeRead("x", &out);
  EXPECT_EQ(out, 3);
  EXPECT_FALSE(json->Has("n") || json->Has("none"));
  EXPECT_TRUE(json->Has("x"));
  EXPECT_THAT(json->Names(), ElementsAre("half", "n", "text", "x"));
  std::string text;
  for (const char* name : {"text", "half", "n"}) {
    std::string part;
    json->ReadAsText(name, &part);
    text += part + " ";
  }
  EXPECT_EQ(text, "a 0.5 null ");
  EXPECT_TRUE(json->status().ok());
}

TEST(JsonReaderTest, RefusesWhatIsNoObject) {
  EXPECT_EQ(Refusal("[1]"), "here: the document is [1]; allowed: an object");
  EXPECT_EQ(Refusal(""), "here: broken JSON at byte 1, in ''");
  EXPECT_EQ(Refusal("hello"), "here: broken JSON at byte 1, in 'hello'");
  EXPECT_EQ(Refusal("{\"a\" 1}"), "here: broken JSON at byte 6, in '{\"a\" 1}'");
  EXPECT_EQ(Refusal("{\"a\":1}x"), "here: broken JSON at byte 8, in '{\"a\":1}x'");
  EXPECT_EQ(Refusal("{\"a\":\"" + std::string(99, 'b') + "\xff\n\"}"),
            "here: broken JSON at byte 106, in '" + std::string(29, 'b') + "\\ufffd\\n\"}'");
  EXPECT_THAT(Refusal("{\"a\":1e999}"), StartsWith("here: broken JSON at byte 10")) << "not finite";
  EXPECT_THAT(Refusal("{\"a\":NaN}"), StartsWith("here: broken JSON at byte 6"));
  EXPECT_EQ(Refusal(R"({"a":1,"a":1})"), "here: the document holds the name \"a\" twice");
  EXPECT_EQ(Refusal(R"({"a":[1,{"b":2,"b":3}]})"), "here: a[1] holds the name \"b\" twice");
  EXPECT_EQ(JsonReader::Parse("3", {"path", absl::StatusCode::kDataLoss}).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(JsonReaderTest, RefusesDeepNesting) {
  const auto nested = [](size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(JsonReader::Parse(nested(15), {"here"}).ok());
  for (const size_t depth : {16u, 1u << 20}) {
    EXPECT_EQ(Refusal(nested(depth)), "here: nested too deep: more than 16 lists and objects");
  }
  EXPECT_THAT(Refusal(std::string(1 << 20, '[')), StartsWith("here: nested too deep"));
}

TEST(JsonReaderTest, LongValuesAreCut) {
  EXPECT_EQ(FieldComplaint<bool>("\"" + std::string(500, 'x') + "\""),
            "here: x is \"" + std::string(56, 'x') + "...; allowed: true or false");
}

TEST(JsonReaderTest, TellsJsonOfAnyKind) {
  for (const char* text : {"3", "\"a\"", "[1]", "{}", "null"}) EXPECT_TRUE(IsJson(text)) << text;
  for (const char* text : {"", "a", "[1", "{\"a\":1,\"a\":1}"}) EXPECT_FALSE(IsJson(text)) << text;
  EXPECT_FALSE(IsJson(std::string(17, '[') + std::string(17, ']')));
}

}  // namespace
}  // namespace lzero::json_reader_test
