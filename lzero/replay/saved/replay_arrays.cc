#include "lzero/replay/saved/replay_arrays.h"

#include "absl/strings/str_join.h"

namespace lzero {

absl::StatusOr<absl::string_view> ReplayBytes(absl::Span<const NamedArray> arrays, const char* name,
                                              ArrayType type, absl::Span<const int64_t> dims) {
  const NamedArray* array = FindArray(arrays, name);
  const absl::Status status = CheckArrayType(array, name, type);
  if (!status.ok()) return InvalidReplay(status.message());
  bool same = array->shape.size() == dims.size();
  for (size_t i = 0; same && i < dims.size(); ++i) {
    same = dims[i] < 0 ? array->shape[i] >= 0 : dims[i] == array->shape[i];
  }
  if (!same) {
    return InvalidReplay("array '", name, "' has shape [", absl::StrJoin(array->shape, ", "),
                         "], expected [", absl::StrJoin(dims, ", "), "] (-1: any)");
  }
  const absl::Status filled = CheckArrayBytes(*array);
  if (!filled.ok()) return InvalidReplay(filled.message());
  return array->bytes;
}

}  // namespace lzero
