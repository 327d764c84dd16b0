// Zeroed memory for vector instructions: aligned to a register, large arrays to huge pages, so that
// streaming through weights does not wait for page tables. Never resized: addresses stay.
// Move-only.
#ifndef LZERO_KERNELS_PRODUCT_ALIGNED_ARRAY_H_
#define LZERO_KERNELS_PRODUCT_ALIGNED_ARRAY_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace lzero {

inline constexpr size_t kRegisterBytes = 64;  // of the widest instruction set
inline constexpr size_t kHugePageBytes = size_t{2} << 20;

template <typename T>
class AlignedArray {
 public:
  AlignedArray() = default;
  // `size` >= 0 elements. A failure is std::bad_alloc, as for std::vector.
  explicit AlignedArray(int64_t size) : size_(size) {
    const size_t bytes = Rounded(static_cast<size_t>(size) * sizeof(T), kRegisterBytes);
    if (bytes == 0) return;
    const bool huge = bytes >= kHugePageBytes;
    const std::align_val_t alignment{huge ? kHugePageBytes : kRegisterBytes};
    void* memory = ::operator new(bytes, alignment);
    memory_ = std::unique_ptr<T, Free>(static_cast<T*>(memory), Free{alignment});
    if (huge) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish, may be refused
    std::memset(memory, 0, bytes);
  }

  AlignedArray(AlignedArray&& other) noexcept { *this = std::move(other); }
  AlignedArray& operator=(AlignedArray&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  T& operator[](int64_t i) { return memory_.get()[i]; }
  const T& operator[](int64_t i) const { return memory_.get()[i]; }
  int64_t size() const { return size_; }
  int64_t bytes() const { return size_ * static_cast<int64_t>(sizeof(T)); }

 private:
  static size_t Rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }
  struct Free {
    std::align_val_t alignment{kRegisterBytes};
    void operator()(T* memory) const { ::operator delete(memory, alignment); }
  };

  std::unique_ptr<T, Free> memory_;
  int64_t size_ = 0;
};

}  // namespace lzero

#endif  // LZERO_KERNELS_PRODUCT_ALIGNED_ARRAY_H_
