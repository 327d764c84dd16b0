#include "lzero/tensor/tensor_arrays.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/run/safetensors.h"
#include "lzero/tensor/torch.h"

namespace lzero::tensor_arrays_test {
namespace {

using ::testing::ElementsAre;

TEST(TensorArraysTest, CopiesOutInRowMajorOrder) {
  // [[0, 1, 2], [3, 4, 5]] transposed: rows 0 3, 1 4, 2 5.
  const at::Tensor transposed = at::arange(6, at::kFloat).view({2, 3}).t();
  const NamedArray array = ToNamedArray("x", transposed.requires_grad_());
  EXPECT_EQ(array.name, "x");
  EXPECT_EQ(array.type, ArrayType::kF32);
  EXPECT_THAT(array.shape, ElementsAre(3, 2));
  const std::vector<NamedArray> arrays = {array};
  EXPECT_THAT(*ReadArray<float>(arrays, "x"), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(TensorArraysTest, ScalarsAndEmptyTensorsKeepTheirShape) {
  const NamedArray scalar = ToNamedArray("s", at::scalar_tensor(2.5, at::kDouble));
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_EQ(scalar.bytes.size(), 8u);
  EXPECT_EQ(ToTensor(scalar).item<double>(), 2.5);
  const NamedArray empty = ToNamedArray("e", at::zeros({0, 4}, at::kLong));
  EXPECT_THAT(empty.shape, ElementsAre(0, 4));
  EXPECT_EQ(ToTensor(empty).sizes(), at::IntArrayRef({0, 4}));
}

TEST(TensorArraysTest, EveryTypeSurvivesAFile) {
  std::vector<NamedArray> arrays;
  std::vector<at::Tensor> tensors;
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kLong, at::kInt, at::kByte}) {
    tensors.push_back(at::arange(4, type).view({2, 2}));
    arrays.push_back(ToNamedArray(c10::toString(type), tensors.back()));
  }
  const auto content = ParseSafetensors(SerializeSafetensors(arrays), "file");
  ASSERT_TRUE(content.ok()) << content.status();
  for (size_t i = 0; i < arrays.size(); ++i) {
    const at::Tensor back = ToTensor(*FindArray(content->arrays, arrays[i].name));
    EXPECT_EQ(back.scalar_type(), tensors[i].scalar_type());
    EXPECT_TRUE(at::equal(back, tensors[i])) << arrays[i].name;
  }
  EXPECT_EQ(ToScalarType(ArrayType::kU64), at::kUInt64);
  EXPECT_EQ(ToScalarType(ArrayType::kU32), at::kUInt32);
}

TEST(TensorArraysTest, NamesATypeThatCannotBeSaved) {
  EXPECT_EQ(*ToArrayType(at::kFloat), ArrayType::kF32);
  EXPECT_EQ(std::string(ToArrayType(at::kBFloat16).status().message()),
            "tensors of type BFloat16 have no place in a checkpoint");
}

TEST(TensorArraysTest, CopiesInPlaceWithoutAutograd) {
  at::Tensor weight = at::zeros({2, 2}).requires_grad_();
  const void* address = weight.const_data_ptr();
  const float values[] = {1.0f, 2.0f, 3.0f, 4.0f};
  ASSERT_TRUE(CopyInto(weight, MakeNamedArray<float>("w", values, {2, 2})).ok());
  EXPECT_EQ(weight.const_data_ptr(), address);
  EXPECT_EQ(weight[1][0].item<float>(), 3.0f);
  EXPECT_TRUE(weight.is_leaf());
}

TEST(TensorArraysTest, CopyIntoNamesShapesAndTypes) {
  at::Tensor weight = at::zeros({2, 2});
  const float values[] = {1.0f, 2.0f, 3.0f, 4.0f};
  const absl::Status shape = CopyInto(weight, MakeNamedArray<float>("w", values, {4}));
  EXPECT_TRUE(absl::IsInvalidArgument(shape));
  EXPECT_EQ(std::string(shape.message()), "tensor 'w': expected Float [2, 2], got Float [4]");
  const int32_t integers[] = {1, 2, 3, 4};
  EXPECT_EQ(std::string(CopyInto(weight, MakeNamedArray<int32_t>("w", integers, {2, 2})).message()),
            "tensor 'w': expected Float [2, 2], got Int [2, 2]");
  EXPECT_EQ(weight.abs().sum().item<float>(), 0.0f);
}

TEST(TensorArraysTest, ListsDifferencesTensorByTensor) {
  const std::vector<NamedTensor> tensors = {
      {"a", at::zeros({2})}, {"b", at::zeros({3, 1})}, {"c", at::zeros({})}};
  const float two[] = {5.0f, 6.0f};
  const std::vector<NamedArray> arrays = {MakeNamedArray<float>("a", two),
                                          MakeNamedArray<float>("b", two, {2, 1}),
                                          MakeNamedArray<float>("d", two)};
  EXPECT_THAT(ListDifferences(tensors, arrays),
              ElementsAre("b: expected Float [3, 1], got Float [2, 1]",
                          "c: missing, expected Float []", "d: not expected, got Float [2]"));
  const absl::Status status = CopyAllInto(tensors, arrays);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(std::string(status.message()),
            "the saved tensors do not fit, 3 of them:\n"
            "  b: expected Float [3, 1], got Float [2, 1]\n"
            "  c: missing, expected Float []\n"
            "  d: not expected, got Float [2]");
  EXPECT_EQ(tensors[0].second[0].item<float>(), 0.0f);  // "a" fits, but nothing was copied
}

TEST(TensorArraysTest, CopiesAModel) {
  torch::manual_seed(1);
  torch::nn::Linear from(3, 2), to(3, 2);
  std::vector<NamedArray> arrays;
  for (const auto& entry : from->named_parameters()) {
    arrays.push_back(ToNamedArray(entry.key(), entry.value()));
  }
  std::vector<NamedTensor> tensors;
  for (const auto& entry : to->named_parameters()) tensors.emplace_back(entry.key(), entry.value());
  EXPECT_TRUE(CompareAll(tensors, arrays).ok());
  ASSERT_TRUE(CopyAllInto(tensors, arrays).ok());
  EXPECT_TRUE(at::equal(from->weight, to->weight));
  EXPECT_TRUE(at::equal(from->bias, to->bias));
}

}  // namespace
}  // namespace lzero::tensor_arrays_test
