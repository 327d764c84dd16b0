#include "tests/support/torch/counted_allocations.h"

#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> num_allocations{0};
std::atomic<int64_t> num_live_blocks{0};

void* Allocate(std::size_t size) {
  ++num_allocations;
  ++num_live_blocks;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}

void* Allocate(std::size_t size, std::align_val_t alignment) {
  ++num_allocations;
  ++num_live_blocks;
  void* memory = nullptr;
  if (posix_memalign(&memory, static_cast<std::size_t>(alignment), size) != 0) std::abort();
  return memory;
}

void Release(void* memory) {
  if (memory != nullptr) --num_live_blocks;
  std::free(memory);
}

class CountingAllocator : public c10::Allocator {
 public:
  CountingAllocator() : wrapped_(c10::GetCPUAllocator()) {}
  at::DataPtr allocate(size_t size) override {
    ++num_allocations;
    return wrapped_->allocate(size);
  }
  c10::DeleterFnPtr raw_deleter() const override { return wrapped_->raw_deleter(); }
  void copy_data(void* to, const void* from, size_t count) const override {
    wrapped_->copy_data(to, from, count);
  }

 private:
  c10::Allocator* wrapped_;
};

}  // namespace

void* operator new(std::size_t size) { return Allocate(size); }
void* operator new[](std::size_t size) { return Allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return Allocate(size, alignment);
}
void operator delete(void* memory) noexcept { Release(memory); }
void operator delete[](void* memory) noexcept { Release(memory); }
void operator delete(void* memory, std::size_t) noexcept { Release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { Release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { Release(memory); }

namespace lzero {

int64_t NumAllocations() { return num_allocations; }

int64_t NumLiveBlocks() { return num_live_blocks; }

void CountTorchAllocations() {
  static CountingAllocator* counting = nullptr;  // never deleted: tensors keep its deleter
  if (counting != nullptr) return;
  counting = new CountingAllocator;
  c10::SetCPUAllocator(counting, 200);
}

}  // namespace lzero
