// Between tensors and the arrays of a checkpoint: copies out, copies in place, and the comparison
// that says tensor by tensor what does not fit. Tensors keep their addresses. Nothing here knows
// files. Tensors have any shape and one of the types of ArrayType; no gradients flow. No state; a
// tensor is used by one thread at a time.
#ifndef LZERO_TENSOR_TENSOR_ARRAYS_H_
#define LZERO_TENSOR_TENSOR_ARRAYS_H_

#include <string>
#include <utility>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/named_array.h"

namespace lzero {

using NamedTensor = std::pair<std::string, at::Tensor>;

// The array type with these elements. InvalidArgument (names the type) when there is none.
absl::StatusOr<ArrayType> ToArrayType(at::ScalarType type);
at::ScalarType ToScalarType(ArrayType type);

// A copy of `tensor` as an array of its shape and type; any device, any strides. The caller must
// give one of the types of ArrayType. A copy from a device blocks.
NamedArray ToNamedArray(std::string name, const at::Tensor& tensor);

// A new contiguous CPU tensor with the shape, type and elements of `array`.
at::Tensor ToTensor(const NamedArray& array);

// Overwrites the elements of `tensor`, of the array's shape and type, in place, without autograd.
// InvalidArgument, naming the array, when shape or type differ; nothing has changed then.
absl::Status CopyInto(at::Tensor tensor, const NamedArray& array);

// One line for each tensor that is missing in `arrays`, has another shape or type there, or is only
// there; empty when everything fits.
std::vector<std::string> ListDifferences(absl::Span<const NamedTensor> tensors,
                                         absl::Span<const NamedArray> arrays);

// InvalidArgument with those lines.
absl::Status CompareAll(absl::Span<const NamedTensor> tensors, absl::Span<const NamedArray> arrays);

// CompareAll, then CopyInto for every tensor: all or nothing.
absl::Status CopyAllInto(absl::Span<const NamedTensor> tensors,
                         absl::Span<const NamedArray> arrays);

}  // namespace lzero

#endif  // LZERO_TENSOR_TENSOR_ARRAYS_H_
