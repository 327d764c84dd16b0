// A tensor on a device that the host fills and reads: where numbers cross between host and device,
// but for weights and what checkpoints import and export. Its address never changes, so captured
// steps may point at it. On the CPU both sides are the same memory. Belongs to one thread; copies
// block until they are complete unless their name says otherwise. No gradients.
#ifndef LZERO_TENSOR_STAGING_H_
#define LZERO_TENSOR_STAGING_H_

#include <cstdint>
#include <string>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace lzero {

class Staging {
 public:
  // Stages through `tensor`, of any shape. The caller must give a contiguous tensor of float32,
  // int64 or int32 (LZ_CHECK).
  static Staging Wrap(std::string name, at::Tensor tensor);

  // Copies `values` [rows, the other axes], of the tensor's type, over the first rows of the first
  // axis; the rest is left alone.
  // InvalidArgument, naming both, when the element type differs, the values are no whole number of
  // rows, or there are more than fit. Allocates nothing.
  template <typename T>
  absl::Status CopyIn(absl::Span<const T> values);

  // The same without waiting for the device, through pinned memory of this object that the first
  // call allocates. Everything put on the device before the next such call must be over by then.
  template <typename T>
  absl::Status CopyInAsync(absl::Span<const T> values);

  // Copies the first rows out into `values` [rows, the other axes], under the same conditions.
  template <typename T>
  absl::Status CopyOut(absl::Span<T> values) const;

  // Copies all of the tensor out without waiting for the device, into pinned memory of this object
  // that the first call allocates and `pinned` shows; on the CPU that is the tensor itself.
  absl::Status CopyOutAsync();
  template <typename T>
  absl::Span<const T> pinned() const;

  // What was wrapped.
  const at::Tensor& tensor() const { return tensor_; }
  const std::string& name() const { return name_; }

 private:
  Staging(std::string name, at::Tensor tensor);
  absl::Status CheckRows(at::ScalarType type, int64_t num_values) const;
  void MakePinned();

  std::string name_;
  at::Tensor tensor_;
  at::Tensor pinned_;  // [numel] of CopyInAsync and CopyOutAsync
  int64_t row_size_;   // elements
};

}  // namespace lzero

#endif  // LZERO_TENSOR_STAGING_H_
