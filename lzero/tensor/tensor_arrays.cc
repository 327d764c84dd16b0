#include "lzero/tensor/tensor_arrays.h"

#include <cstring>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

std::string Describe(at::ScalarType type, at::IntArrayRef shape) {
  return absl::StrCat(c10::toString(type), " [", absl::StrJoin(shape, ", "), "]");
}

std::string Describe(const NamedArray& array) {
  return Describe(ToScalarType(array.type), array.shape);
}

bool Fits(const at::Tensor& tensor, const NamedArray& array) {
  return tensor.sizes() == at::IntArrayRef(array.shape) &&
         tensor.scalar_type() == ToScalarType(array.type);
}

// A tensor over the array's own bytes; the array must outlive it.
at::Tensor View(const NamedArray& array) {
  LZ_CHECK(
      static_cast<int64_t>(array.bytes.size()) == array.num_elements() * ArrayTypeSize(array.type),
      "array '", array.name, "'");
  return at::from_blob(const_cast<char*>(array.bytes.data()), array.shape,
                       at::TensorOptions().dtype(ToScalarType(array.type)));
}

}  // namespace

absl::StatusOr<ArrayType> ToArrayType(at::ScalarType type) {
  for (const ArrayType candidate :
       {ArrayType::kF32, ArrayType::kF64, ArrayType::kI64, ArrayType::kI32, ArrayType::kU8,
        ArrayType::kU64, ArrayType::kU32}) {
    if (ToScalarType(candidate) == type) return candidate;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("tensors of type ", c10::toString(type), " have no place in a checkpoint"));
}

at::ScalarType ToScalarType(ArrayType type) {
  switch (type) {
    case ArrayType::kF32:
      return at::kFloat;
    case ArrayType::kF64:
      return at::kDouble;
    case ArrayType::kI64:
      return at::kLong;
    case ArrayType::kI32:
      return at::kInt;
    case ArrayType::kU8:
      return at::kByte;
    case ArrayType::kU64:
      return at::kUInt64;
    case ArrayType::kU32:
      return at::kUInt32;
  }
  LZ_CHECK(false, "array type ", static_cast<int>(type));
}

NamedArray ToNamedArray(std::string name, const at::Tensor& tensor) {
  const absl::StatusOr<ArrayType> type = ToArrayType(tensor.scalar_type());
  LZ_CHECK(type.ok(), name, ": ", type.status().message());
  const at::Tensor flat = tensor.detach().to(at::kCPU).contiguous();
  NamedArray array{std::move(name), *type, tensor.sizes().vec(), {}};
  array.bytes.assign(static_cast<const char*>(flat.const_data_ptr()), flat.nbytes());
  return array;
}

at::Tensor ToTensor(const NamedArray& array) { return View(array).clone(); }

absl::Status CopyInto(at::Tensor tensor, const NamedArray& array) {
  if (!Fits(tensor, array)) {
    return absl::InvalidArgumentError(absl::StrCat("tensor '", array.name, "': expected ",
                                                   Describe(tensor.scalar_type(), tensor.sizes()),
                                                   ", got ", Describe(array)));
  }
  const torch::NoGradGuard no_grad;
  tensor.copy_(View(array));
  return absl::OkStatus();
}

std::vector<std::string> ListDifferences(absl::Span<const NamedTensor> tensors,
                                         absl::Span<const NamedArray> arrays) {
  absl::flat_hash_map<absl::string_view, const NamedArray*> by_name;
  for (const NamedArray& array : arrays) by_name[array.name] = &array;
  std::vector<std::string> lines;
  absl::flat_hash_set<absl::string_view> expected;
  for (const auto& [name, tensor] : tensors) {
    expected.insert(name);
    const std::string description = Describe(tensor.scalar_type(), tensor.sizes());
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      lines.push_back(absl::StrCat(name, ": missing, expected ", description));
    } else if (!Fits(tensor, *found->second)) {
      lines.push_back(
          absl::StrCat(name, ": expected ", description, ", got ", Describe(*found->second)));
    }
  }
  for (const NamedArray& array : arrays) {
    if (!expected.contains(array.name)) {
      lines.push_back(absl::StrCat(array.name, ": not expected, got ", Describe(array)));
    }
  }
  return lines;
}

absl::Status CompareAll(absl::Span<const NamedTensor> tensors,
                        absl::Span<const NamedArray> arrays) {
  const std::vector<std::string> lines = ListDifferences(tensors, arrays);
  if (lines.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the saved tensors do not fit, ", lines.size(),
                                                 " of them:\n  ", absl::StrJoin(lines, "\n  ")));
}

absl::Status CopyAllInto(absl::Span<const NamedTensor> tensors,
                         absl::Span<const NamedArray> arrays) {
  LZ_RETURN_IF_ERROR(CompareAll(tensors, arrays));
  absl::flat_hash_map<absl::string_view, const NamedArray*> by_name;
  for (const NamedArray& array : arrays) by_name[array.name] = &array;
  for (const auto& [name, tensor] : tensors) {
    LZ_RETURN_IF_ERROR(CopyInto(tensor, *by_name.at(name)));
  }
  return absl::OkStatus();
}

}  // namespace lzero
