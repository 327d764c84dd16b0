// The format byte by byte, every complaint about a damaged file, and the fuzz corpus.
#include "lzero/run/safetensors.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "tests/run/test_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

namespace lzero::safetensors_test {
namespace {

using ::testing::HasSubstr;

// A file put together without the code under test: length, header as given, data.
std::string FileOf(const std::string& header, const std::string& values) {
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size() & 0xff);
  bytes[1] = static_cast<char>(header.size() >> 8);
  return bytes + header + values;
}

std::string EntryOf(const std::string& name, const std::string& type, const std::string& shape,
                    const std::string& offsets) {
  return absl::StrCat("\"", name, "\":{\"dtype\":\"", type, "\",\"shape\":", shape,
                      ",\"data_offsets\":", offsets, "}");
}

// Small pieces, one larger than what is written at once, and arrays beside them.
TEST(SafetensorsTest, ArraysInPartsAreWrittenLikeWholeOnes) {
  const std::string large(size_t{3} << 20, 'x');
  NamedArray parts{"p", ArrayType::kU8, {static_cast<int64_t>(large.size()) + 6}, {}};
  parts.parts = [&large](const ByteSink& sink) {
    sink("abc");
    sink(large);
    sink("");
    for (const char* piece : {"d", "ef"}) sink(piece);
  };
  NamedArray whole{"p", ArrayType::kU8, parts.shape, "abc" + large + "def"};
  const NamedArray other = MakeNamedArray<float>("w", {1.0f, 2.0f});
  const std::string expected = SerializeSafetensors({whole, other});
  EXPECT_EQ(SerializeSafetensors({parts, other}), expected);
  const TestFolder folder;
  const auto written = WriteSafetensors(folder.path() + "/parts", {parts, other});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(ReadFile(folder.path() + "/parts").value(), expected);
  EXPECT_EQ(written->size, expected.size());
  const auto again = WriteSafetensors(folder.path() + "/whole", {whole, other});
  EXPECT_EQ(written->crc32c, again->crc32c);
}

TEST(SafetensorsDeathTest, PartsMustFillTheShape) {
  NamedArray parts{"p", ArrayType::kU8, {3}, {}};
  parts.parts = [](const ByteSink& sink) { sink("ab"); };
  EXPECT_DEATH(SerializeSafetensors({parts}), "the parts of 'p' are 2 bytes");
}

TEST(SafetensorsTest, WritesTheFormatByteByByte) {
  const float values[] = {1.0f, -2.0f};
  const std::string bytes = SerializeSafetensors({MakeNamedArray<float>("w", values, {2, 1})});
  const std::string header = R"({"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})";
  ASSERT_EQ(header.size(), 56u);  // a multiple of 8: no padding
  const std::string numbers("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8);
  EXPECT_EQ(bytes, FileOf(header, numbers));
}

TEST(SafetensorsTest, PadsTheHeaderWithSpaces) {
  const uint8_t values[] = {7};
  const std::string bytes = SerializeSafetensors({MakeNamedArray<uint8_t>("abc", values)});
  const std::string header = R"({"abc":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  ASSERT_EQ(header.size(), 55u);
  EXPECT_EQ(bytes, FileOf(header + " ", "\x07"));
}

TEST(SafetensorsTest, LaysOutLargeElementsFirstSoThatAllAreAligned) {
  const uint8_t bytes[] = {1, 2, 3};
  const float floats[] = {4.0f};
  const int64_t integers[] = {5};
  const auto content = ParseSafetensors(
      SerializeSafetensors({MakeNamedArray<uint8_t>("u", bytes), MakeNamedArray<float>("f", floats),
                            MakeNamedArray<int64_t>("i", integers)}),
      "file");
  ASSERT_TRUE(content.ok()) << content.status();
  ASSERT_EQ(content->arrays.size(), 3u);
  EXPECT_EQ(content->arrays[0].name, "i");
  EXPECT_EQ(content->arrays[1].name, "f");
  EXPECT_EQ(content->arrays[2].name, "u");
}

TEST(SafetensorsTest, ReadsBackEveryTypeScalarsAndEmptyArrays) {
  const float f32[] = {0.5f};
  const double f64[] = {1.5, -1e300};
  const int64_t i64[] = {INT64_MIN, 1};
  const int32_t i32[] = {-7};
  const uint8_t u8[] = {255, 0, 1};
  const uint64_t u64[] = {UINT64_MAX};
  const uint32_t u32[] = {UINT32_MAX};
  NamedArray scalar = MakeNamedArray<float>("scalar", f32);
  scalar.shape = {};
  NamedArray empty{"empty", ArrayType::kI32, {3, 0}, ""};
  const std::vector<NamedArray> arrays = {MakeNamedArray<float>("f32", f32),
                                          MakeNamedArray<double>("f64", f64, {1, 2}),
                                          MakeNamedArray<int64_t>("i64", i64),
                                          MakeNamedArray<int32_t>("i32", i32),
                                          MakeNamedArray<uint8_t>("u8", u8),
                                          MakeNamedArray<uint64_t>("u64", u64),
                                          MakeNamedArray<uint32_t>("u32", u32),
                                          scalar,
                                          empty};
  const auto content =
      ParseSafetensors(SerializeSafetensors(arrays, {{"key", "a \"text\"\n"}}), "file");
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(content->metadata, (SafetensorsMetadata{{"key", "a \"text\"\n"}}));
  ASSERT_EQ(content->arrays.size(), arrays.size());
  for (const NamedArray& array : arrays) {
    const NamedArray* found = FindArray(content->arrays, array.name);
    ASSERT_NE(found, nullptr) << array.name;
    EXPECT_EQ(found->type, array.type) << array.name;
    EXPECT_EQ(found->shape, array.shape) << array.name;
    EXPECT_EQ(found->bytes, array.bytes) << array.name;
  }
}

TEST(SafetensorsTest, FileHoldsTheSerializedBytesAndTheirCrc) {
  const TestFolder folder;
  const std::string path = folder.path() + "/file.safetensors";
  const float values[] = {3.0f, 4.0f};
  const std::vector<NamedArray> arrays = {MakeNamedArray<float>("w", values)};
  const auto written = WriteSafetensors(path, arrays, {{"a", "b"}});
  ASSERT_TRUE(written.ok()) << written.status();
  const auto bytes = ReadFile(path);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, SerializeSafetensors(arrays, {{"a", "b"}}));
  EXPECT_EQ(written->size, bytes->size());
  EXPECT_EQ(written->crc32c, Crc32c(*bytes));
  const auto content = ReadSafetensors(path);
  ASSERT_TRUE(content.ok()) << content.status();
  EXPECT_EQ(content->arrays[0].bytes, arrays[0].bytes);
  EXPECT_EQ(content->metadata.at("a"), "b");
}

TEST(SafetensorsTest, ReportsPathsThatCannotBeUsed) {
  const TestFolder folder;
  const std::string missing = folder.path() + "/no/such/file.safetensors";
  EXPECT_TRUE(absl::IsNotFound(ReadSafetensors(missing).status()));
  EXPECT_THAT(std::string(ReadSafetensors(missing).status().message()), HasSubstr(missing));
  EXPECT_TRUE(absl::IsNotFound(WriteSafetensors(missing, {}).status()));
  EXPECT_THAT(std::string(ReadSafetensors(folder.path()).status().message()),
              HasSubstr("is not a file"));
}

struct DamagedCase {
  const char* what;
  std::string bytes;
  std::string message;
};

std::vector<DamagedCase> DamagedCases() {
  const std::string four(4, 'x'), eight(8, 'x');
  const std::string good = EntryOf("w", "F32", "[1]", "[0,4]");
  std::string huge(8, '\0');
  huge[6] = 1;
  return {
      {"empty", "", "truncated: 0 bytes, a safetensors file begins with 8"},
      {"half a length", std::string(5, '\0'), "truncated: 5 bytes"},
      {"huge header", huge + "{}", "a header of 281474976710656 bytes (at most 100000000)"},
      {"short header", std::string("\x40\0\0\0\0\0\0\0", 8) + "{}",
       "truncated: a header of 64 bytes in a file of 10 bytes"},
      {"no JSON", FileOf("{\"w\":", ""), "header: broken JSON at byte 6, in '{\"w\":'"},
      {"JSON array", FileOf("[]", ""), "header: the document is []; allowed: an object"},
      {"bad UTF-8", FileOf("{\"\xff\":1}", ""), "header: broken JSON at byte 3"},
      {"duplicate name", FileOf("{" + good + "," + good + "}", four),
       "header: the document holds the name \"w\" twice"},
      {"duplicate key", FileOf(R"({"w":{"dtype":"F32","dtype":"F32"}})", ""),
       "header: w holds the name \"dtype\" twice"},
      {"entry is a number", FileOf(R"({"w":1})", ""), "header: w is 1; allowed: an object"},
      {"no dtype", FileOf(R"({"w":{"shape":[1],"data_offsets":[0,4]}})", four),
       "header: w.dtype is missing; allowed: a text"},
      {"unknown dtype", FileOf("{" + EntryOf("w", "BF16", "[2]", "[0,4]") + "}", four),
       "tensor 'w': element type 'BF16' is not one of F32 F64 I64 I32 U8 U64 U32"},
      {"no shape", FileOf(R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", four),
       "header: w.shape is missing; allowed: a list"},
      {"negative length", FileOf("{" + EntryOf("w", "F32", "[-1]", "[0,4]") + "}", four),
       "header: w.shape[0] is -1; allowed: a whole number of 0 or more"},
      {"fractional length", FileOf("{" + EntryOf("w", "F32", "[1.5]", "[0,4]") + "}", four),
       "header: w.shape[0] is 1.5; allowed: a whole number of 0 or more"},
      {"three offsets", FileOf("{" + EntryOf("w", "F32", "[1]", "[0,4,8]") + "}", four),
       "header: w.data_offsets is [0,4,8]; allowed: a list of 2 entries"},
      {"offsets out of range", FileOf("{" + EntryOf("w", "F32", "[2]", "[0,8]") + "}", four),
       "tensor 'w': data_offsets [0, 8] lie outside of the 4 bytes of data in the file"},
      {"offsets reversed", FileOf("{" + EntryOf("w", "F32", "[1]", "[4,0]") + "}", four),
       "tensor 'w': data_offsets [4, 0] lie outside"},
      {"wrong size", FileOf("{" + EntryOf("w", "F32", "[3]", "[0,4]") + "}", four),
       "tensor 'w': shape [3] of F32 needs 12 bytes, data_offsets [0, 4] hold 4"},
      {"size overflows",
       FileOf("{" + EntryOf("w", "U8", "[4611686018427387904,4,0]", "[0,0]") + "}", ""),
       "needs more than 2^63 bytes"},
      {"overlap",
       FileOf("{" + good + "," + EntryOf("v", "F32", "[1]", "[2,6]") + "}", std::string(6, 'x')),
       "tensor 'v': begins at byte 2 of the data, inside the tensor that ends at 4"},
      {"hole", FileOf("{" + EntryOf("w", "F32", "[1]", "[4,8]") + "}", eight),
       "tensor 'w': begins at byte 4 of the data, after a hole behind the tensor that ends at 0"},
      {"data left over", FileOf("{" + good + "}", eight),
       "the tensors cover 4 of the 8 bytes of data"},
      {"metadata is a list", FileOf(R"({"__metadata__":[]})", ""),
       "header: __metadata__ is []; allowed: an object"},
      {"metadata holds a number", FileOf(R"({"__metadata__":{"a":1}})", ""),
       "header: __metadata__.a is 1; allowed: a text"},
  };
}

TEST(SafetensorsTest, NamesWhatIsWrongWithADamagedFile) {
  const TestFolder folder;
  const std::string path = folder.path() + "/damaged.safetensors";
  for (const DamagedCase& damaged : DamagedCases()) {
    SCOPED_TRACE(damaged.what);
    const absl::Status parsed = ParseSafetensors(damaged.bytes, path).status();
    EXPECT_TRUE(absl::IsDataLoss(parsed)) << parsed;
    EXPECT_THAT(std::string(parsed.message()), HasSubstr(damaged.message));
    EXPECT_THAT(std::string(parsed.message()), HasSubstr(path));
    ASSERT_TRUE(WriteFileAtomic(path, damaged.bytes).ok());
    EXPECT_EQ(ReadSafetensors(path).status(), parsed);
  }
}

TEST(SafetensorsTest, RefusesEveryTruncation) {
  const float values[] = {1.0f, 2.0f};
  const std::string bytes = SerializeSafetensors({MakeNamedArray<float>("w", values)});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(absl::IsDataLoss(ParseSafetensors(bytes.substr(0, size), "file").status())) << size;
  }
}

TEST(SafetensorsDeathTest, CallerMustGiveConsistentArrays) {
  const float values[] = {1.0f};
  const NamedArray good = MakeNamedArray<float>("w", values);
  NamedArray wrong_size = good;
  wrong_size.shape = {2};
  EXPECT_DEATH(SerializeSafetensors({good, good}), "two arrays are named 'w'");
  EXPECT_DEATH(SerializeSafetensors({wrong_size}), "array 'w' holds 4 bytes, shape \\[2\\] of F32");
  EXPECT_DEATH(SerializeSafetensors({MakeNamedArray<float>("__metadata__", values)}),
               "name '__metadata__'");
}

TEST(SafetensorsTest, FuzzCorpusPasses) {
  const std::string folder = JoinPath(LZ_TEST_DATA, "fuzz/corpus/safetensors");
  const auto names = ListDirectory(folder);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_GE(names->size(), 8u);
  int num_valid = 0;
  for (const std::string& name : *names) {
    SCOPED_TRACE(name);
    const auto bytes = ReadFile(JoinPath(folder, name));
    ASSERT_TRUE(bytes.ok());
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size());
    const bool valid = ParseSafetensors(*bytes, name).ok();
    EXPECT_EQ(valid, name.starts_with("valid_"));
    num_valid += valid;
  }
  EXPECT_GE(num_valid, 3);
}

// A short fuzz run on every test run: single-byte changes of a valid file.
TEST(SafetensorsTest, EverySingleByteChangeIsSurvived) {
  const float values[] = {1.0f};
  const uint8_t more[] = {9};
  const std::string bytes = SerializeSafetensors(
      {MakeNamedArray<float>("w", values), MakeNamedArray<uint8_t>("v", more)}, {{"k", "v"}});
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char change : {'\x01', '\x02', '\x10', '\x80'}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ change);
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(changed.data()), changed.size());
    }
  }
}

}  // namespace
}  // namespace lzero::safetensors_test
