#include "lzero/base/named_array.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lzero::named_array_test {
namespace {

std::vector<NamedArray> TwoArrays() {
  const std::vector<float> weights = {1.0f, -2.0f, 0.5f, 0.0f, 4.0f, 8.0f};
  const std::vector<int64_t> steps = {7};
  return {MakeNamedArray<float>("weights", weights, {2, 3}),
          MakeNamedArray<int64_t>("steps", steps)};
}

TEST(NamedArrayTest, HoldsLittleEndianBytes) {
  const std::vector<uint32_t> values = {0x04030201u, 0xffu};
  const NamedArray array = MakeNamedArray<uint32_t>("a", values);
  EXPECT_EQ(array.bytes, std::string("\x01\x02\x03\x04\xff\x00\x00\x00", 8));
  EXPECT_EQ(array.type, ArrayType::kU32);
  EXPECT_EQ(array.shape, std::vector<int64_t>{2});
  EXPECT_EQ(array.num_elements(), 2);
}

TEST(NamedArrayTest, ReadsBackWhatItHolds) {
  const std::vector<NamedArray> arrays = TwoArrays();
  EXPECT_EQ(arrays[0].num_elements(), 6);
  EXPECT_EQ(*ReadArray<float>(arrays, "weights"),
            (std::vector<float>{1.0f, -2.0f, 0.5f, 0.0f, 4.0f, 8.0f}));
  EXPECT_EQ(*ReadArray<int64_t>(arrays, "steps"), std::vector<int64_t>{7});
  EXPECT_EQ(FindArray(arrays, "steps"), &arrays[1]);
  EXPECT_EQ(FindArray(arrays, "step"), nullptr);
}

TEST(NamedArrayTest, EmptyArraysAreFine) {
  const std::vector<NamedArray> arrays = {MakeNamedArray<double>("none", {})};
  EXPECT_EQ(arrays[0].num_elements(), 0);
  EXPECT_TRUE(ReadArray<double>(arrays, "none")->empty());
}

TEST(NamedArrayTest, PartsBecomeBytes) {
  NamedArray array{"p", ArrayType::kU8, {5}, {}};
  array.parts = [](const ByteSink& sink) {
    sink("ab");
    sink("");
    sink("cde");
  };
  EXPECT_EQ(array.num_bytes(), 5);
  const std::vector<NamedArray> made = Materialize({array, MakeNamedArray<uint8_t>("q", {7})});
  EXPECT_EQ(made[0].bytes, "abcde");
  EXPECT_EQ(made[0].num_bytes(), 5);
  EXPECT_EQ(made[1].bytes, "\x07");
}

TEST(NamedArrayDeathTest, PartsMustFillTheShape) {
  NamedArray array{"p", ArrayType::kU8, {3}, {}};
  array.parts = [](const ByteSink& sink) { sink("ab"); };
  EXPECT_DEATH(Materialize({array}), "the parts of 'p' are 2 bytes");
}

TEST(NamedArrayTest, NamesWhatIsMissingOrOfAnotherType) {
  const std::vector<NamedArray> arrays = TwoArrays();
  EXPECT_EQ(ReadArray<float>(arrays, "bias").status(), absl::NotFoundError("no array 'bias'"));
  EXPECT_EQ(ReadArray<int32_t>(arrays, "weights").status(),
            absl::InvalidArgumentError("array 'weights' holds F32, expected I32"));
}

TEST(NamedArrayTest, RefusesBytesThatDoNotFillTheShape) {
  std::vector<NamedArray> arrays = TwoArrays();
  arrays[0].bytes.resize(20);
  EXPECT_EQ(ReadArray<float>(arrays, "weights").status().message(),
            "array 'weights' holds 20 bytes, which is not shape [2, 3] of F32");
  arrays[0].shape = {int64_t{1} << 61, 6};  // the product is more than 64 bits hold
  EXPECT_EQ(ReadArray<float>(arrays, "weights").status().message(),
            "array 'weights' holds 20 bytes, which is not shape [2305843009213693952, 6] of F32");
}

TEST(NamedArrayDeathTest, AShapeMustHoldTheValues) {
  const std::vector<float> values = {1.0f, 2.0f};
  EXPECT_DEATH(MakeNamedArray<float>("a", values, {3}), "array 'a': shape holds 3 elements, got 2");
}

TEST(NamedArrayTest, TypeNamesGoBothWays) {
  const struct {
    ArrayType type;
    const char* name;
    int64_t size;
  } cases[] = {{ArrayType::kF32, "F32", 4}, {ArrayType::kF64, "F64", 8},
               {ArrayType::kI64, "I64", 8}, {ArrayType::kI32, "I32", 4},
               {ArrayType::kU8, "U8", 1},   {ArrayType::kU64, "U64", 8},
               {ArrayType::kU32, "U32", 4}};
  for (const auto& expected : cases) {
    EXPECT_EQ(ArrayTypeName(expected.type), expected.name);
    EXPECT_EQ(ArrayTypeSize(expected.type), expected.size);
    EXPECT_EQ(*ParseArrayType(expected.name), expected.type);
  }
  EXPECT_EQ(ParseArrayType("BF16").status().message(),
            "element type 'BF16' is not one of F32 F64 I64 I32 U8 U64 U32");
}

}  // namespace
}  // namespace lzero::named_array_test
