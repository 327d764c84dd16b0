#include "lzero/tensor/host_memory.h"

#include <malloc.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "c10/core/Allocator.h"
#include "c10/core/CPUAllocator.h"

namespace lzero {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kMostKept = size_t{1} << 31;  // beyond it memory is given back
constexpr size_t kHeaderSize = kAlignment;     // before every block

// What stands before a block.
struct Header {
  size_t block_size;  // with the header
};

// The size of the block for this many bytes: steps of an eighth of the power of two below, so that
// tensors of nearly the same size share blocks.
size_t BlockSize(size_t num_bytes) {
  const size_t size = num_bytes + kHeaderSize;
  size_t step = kAlignment;
  while (step * 16 <= size) step *= 2;
  return (size + step - 1) / step * step;
}

class KeepingAllocator : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t num_bytes) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (num_bytes == 0) return {nullptr, nullptr, &Free, cpu};
    const size_t size = BlockSize(num_bytes);
    void* block = TakeKept(size);
    if (block == nullptr) block = FromSystem(size);
    if (block == nullptr) {
      Release();
      block = FromSystem(size);
    }
    // Its error is the one that is known.
    if (block == nullptr) return c10::GetDefaultCPUAllocator()->allocate(num_bytes);
    static_cast<Header*>(block)->block_size = size;
    void* begin = static_cast<char*>(block) + kHeaderSize;
    return {begin, begin, &Free, cpu};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &Free; }

  void copy_data(void* to, const void* from, size_t num_bytes) const override {
    default_copy_data(to, from, num_bytes);
  }

  size_t kept_bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return kept_bytes_;
  }

  void Release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [size, blocks] : kept_) {
      for (void* block : blocks) std::free(block);
    }
    kept_.clear();
    kept_bytes_ = 0;
  }

 private:
  static void Free(void* begin);

  static void* FromSystem(size_t size) {
    void* block = nullptr;
    return posix_memalign(&block, kAlignment, size) == 0 ? block : nullptr;
  }

  // A kept block of exactly this size, or null.
  void* TakeKept(size_t size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = kept_.find(size);
    if (found == kept_.end() || found->second.empty()) return nullptr;
    void* block = found->second.back();
    found->second.pop_back();
    kept_bytes_ -= size;
    return block;
  }

  void Keep(void* block, size_t size) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (kept_bytes_ + size <= kMostKept) {
        kept_[size].push_back(block);
        kept_bytes_ += size;
        return;
      }
    }
    std::free(block);
  }

  mutable std::mutex mutex_;
  std::map<size_t, std::vector<void*>> kept_;  // by block size, guarded by mutex_
  size_t kept_bytes_ = 0;                      // guarded by mutex_
};

// Lives as long as the process: tensors may be freed at its very end.
KeepingAllocator& TheAllocator() {
  static auto* const allocator = new KeepingAllocator();
  return *allocator;
}

void KeepingAllocator::Free(void* begin) {
  if (begin == nullptr) return;
  void* block = static_cast<char*>(begin) - kHeaderSize;
  TheAllocator().Keep(block, static_cast<Header*>(block)->block_size);
}

}  // namespace

void KeepTensorMemory() {
  static const bool installed = [] {
    c10::SetCPUAllocator(&TheAllocator(), /*priority=*/1);
    return true;
  }();
  static_cast<void>(installed);
}

int64_t KeptTensorBytes() { return static_cast<int64_t>(TheAllocator().kept_bytes()); }

void ReleaseTensorMemory() {
  TheAllocator().Release();
  malloc_trim(0);
}

}  // namespace lzero
