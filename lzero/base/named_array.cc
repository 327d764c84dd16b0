#include "lzero/base/named_array.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace lzero {
namespace {

struct TypeFacts {
  ArrayType type;
  absl::string_view name;
  int64_t size;
};

constexpr TypeFacts kTypes[] = {
    {ArrayType::kF32, "F32", 4}, {ArrayType::kF64, "F64", 8}, {ArrayType::kI64, "I64", 8},
    {ArrayType::kI32, "I32", 4}, {ArrayType::kU8, "U8", 1},   {ArrayType::kU64, "U64", 8},
    {ArrayType::kU32, "U32", 4},
};

}  // namespace

absl::string_view ArrayTypeName(ArrayType type) { return kTypes[static_cast<int>(type)].name; }

int64_t ArrayTypeSize(ArrayType type) { return kTypes[static_cast<int>(type)].size; }

absl::StatusOr<ArrayType> ParseArrayType(absl::string_view name) {
  for (const TypeFacts& facts : kTypes) {
    if (facts.name == name) return facts.type;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("element type '", name, "' is not one of F32 F64 I64 I32 U8 U64 U32"));
}

int64_t NamedArray::num_elements() const {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

int64_t NamedArray::num_bytes() const {
  if (parts == nullptr) return static_cast<int64_t>(bytes.size());
  return num_elements() * ArrayTypeSize(type);
}

void NamedArray::GiveBytes(const ByteSink& sink) const {
  if (parts == nullptr) {
    sink(bytes);
    return;
  }
  int64_t given = 0;
  parts([&](absl::string_view part) {
    given += static_cast<int64_t>(part.size());
    sink(part);
  });
  LZ_CHECK(given == num_bytes(), "the parts of '", name, "' are ", given, " bytes");
}

std::vector<NamedArray> Materialize(std::vector<NamedArray> arrays) {
  for (NamedArray& array : arrays) {
    if (array.parts == nullptr) continue;
    std::string bytes;
    bytes.reserve(static_cast<size_t>(array.num_bytes()));
    array.GiveBytes([&bytes](absl::string_view part) { bytes.append(part.data(), part.size()); });
    array.bytes = std::move(bytes);
    array.parts = nullptr;
  }
  return arrays;
}

const NamedArray* FindArray(absl::Span<const NamedArray> arrays, absl::string_view name) {
  for (const NamedArray& array : arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

absl::Status CheckArrayType(const NamedArray* array, absl::string_view name, ArrayType expected) {
  if (array == nullptr) return absl::NotFoundError(absl::StrCat("no array '", name, "'"));
  if (array->type != expected) {
    return absl::InvalidArgumentError(absl::StrCat("array '", name, "' holds ",
                                                   ArrayTypeName(array->type), ", expected ",
                                                   ArrayTypeName(expected)));
  }
  return absl::OkStatus();
}

absl::Status CheckArrayBytes(const NamedArray& array) {
  const int64_t held = static_cast<int64_t>(array.bytes.size());
  int64_t needed = ArrayTypeSize(array.type);
  for (const int64_t size : array.shape) {
    const bool too_many = size < 0 || (size > 0 && needed > held / size);
    needed = too_many ? held + 1 : needed * size;  // never overflows
  }
  if (needed != held) {
    return absl::InvalidArgumentError(
        absl::StrCat("array '", array.name, "' holds ", held, " bytes, which is not shape [",
                     absl::StrJoin(array.shape, ", "), "] of ", ArrayTypeName(array.type)));
  }
  return absl::OkStatus();
}

}  // namespace lzero
