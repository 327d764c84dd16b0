// A named block of numbers: what checkpoints are made of. Floors without torch export their state
// as NamedArrays; lzero/run/safetensors.h writes them to files. Plain data, no thread rule.
#ifndef LZERO_BASE_NAMED_ARRAY_H_
#define LZERO_BASE_NAMED_ARRAY_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/base/check.h"

namespace lzero {

// The element types of the safetensors format that lzero uses.
enum class ArrayType { kF32, kF64, kI64, kI32, kU8, kU64, kU32 };

absl::string_view ArrayTypeName(ArrayType type);  // "F32", "I64", ...
absl::StatusOr<ArrayType> ParseArrayType(absl::string_view name);
int64_t ArrayTypeSize(ArrayType type);  // bytes an element

using ByteSink = std::function<void(absl::string_view)>;

struct NamedArray {
  std::string name;
  ArrayType type = ArrayType::kF32;
  std::vector<int64_t> shape;
  std::string bytes;  // little-endian, row-major
  // For arrays too large for a copy, whose `bytes` is empty. Gives the sink all bytes in order,
  // piece by piece, and reads what they are made of, which must stay as it is until then.
  std::function<void(const ByteSink& sink)> parts = {};

  int64_t num_elements() const;
  int64_t num_bytes() const;  // of `bytes`, or of what `parts` has to give

  // All bytes in order, whichever of the two holds them; parts that do not fill the shape are a
  // failed check.
  void GiveBytes(const ByteSink& sink) const;
};

// The same arrays, each with its bytes.
std::vector<NamedArray> Materialize(std::vector<NamedArray> arrays);

template <typename T>
constexpr ArrayType ArrayTypeOf() {
  if constexpr (std::is_same_v<T, float>) return ArrayType::kF32;
  if constexpr (std::is_same_v<T, double>) return ArrayType::kF64;
  if constexpr (std::is_same_v<T, int64_t>) return ArrayType::kI64;
  if constexpr (std::is_same_v<T, int32_t>) return ArrayType::kI32;
  if constexpr (std::is_same_v<T, uint8_t>) return ArrayType::kU8;
  if constexpr (std::is_same_v<T, uint64_t>) return ArrayType::kU64;
  if constexpr (std::is_same_v<T, uint32_t>) return ArrayType::kU32;
}

// A copy of `values` with this shape (as many elements); an empty shape means one dimension.
template <typename T>
NamedArray MakeNamedArray(std::string name, absl::Span<const T> values,
                          std::vector<int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  NamedArray array{std::move(name), ArrayTypeOf<T>(), std::move(shape), {}};
  LZ_CHECK(array.num_elements() == static_cast<int64_t>(values.size()), "array '", array.name,
           "': shape holds ", array.num_elements(), " elements, got ", values.size());
  array.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return array;
}

// Finds `name` in `arrays` and copies its elements out. NotFound when missing; InvalidArgument when
// the element type differs (names both) or the bytes do not fill the shape.
const NamedArray* FindArray(absl::Span<const NamedArray> arrays, absl::string_view name);
absl::Status CheckArrayType(const NamedArray* array, absl::string_view name, ArrayType expected);
absl::Status CheckArrayBytes(const NamedArray& array);

template <typename T>
absl::StatusOr<std::vector<T>> ReadArray(absl::Span<const NamedArray> arrays,
                                         absl::string_view name) {
  const NamedArray* array = FindArray(arrays, name);
  absl::Status status = CheckArrayType(array, name, ArrayTypeOf<T>());
  if (status.ok()) status = CheckArrayBytes(*array);
  if (!status.ok()) return status;
  std::vector<T> values(array->bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array->bytes.data(), array->bytes.size());
  return values;
}

}  // namespace lzero

#endif  // LZERO_BASE_NAMED_ARRAY_H_
