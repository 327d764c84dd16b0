// A function that runs on a stack of its own in the thread that switches to it. To a thread
// sanitizer it is a thread.
#ifndef LZERO_TESTS_SUPPORT_FIBER_H_
#define LZERO_TESTS_SUPPORT_FIBER_H_

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace lzero {

class Fiber {
 public:
  // What runs already.
  Fiber() = default;
  // `body` must not return.
  explicit Fiber(std::function<void()> body) : body_(std::move(body)), stack_(size_t{1} << 18) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.data();
    context_.uc_stack.ss_size = stack_.size();
    const uint64_t self = reinterpret_cast<uintptr_t>(this);  // arguments are of 32 bits
    makecontext(&context_, reinterpret_cast<void (*)()>(Enter), 2, static_cast<uint32_t>(self),
                static_cast<uint32_t>(self >> 32));
#ifdef __SANITIZE_THREAD__
    sanitized_ = __tsan_create_fiber(0);
#endif
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() {
#ifdef __SANITIZE_THREAD__
    if (body_ != nullptr) __tsan_destroy_fiber(sanitized_);
#endif
  }

  // From this one, which runs, to `other`. `is_ordered`: it may read what was written before.
  void SwitchTo(Fiber* other, [[maybe_unused]] bool is_ordered) {
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(other->sanitized_, is_ordered ? 0 : __tsan_switch_to_fiber_no_sync);
#endif
    swapcontext(&context_, &other->context_);
  }

 private:
  static void Enter(uint32_t low, uint32_t high) {
    reinterpret_cast<Fiber*>(uint64_t{high} << 32 | low)->body_();
  }

  std::function<void()> body_;
  std::vector<std::byte> stack_;
  ucontext_t context_ = {};
#ifdef __SANITIZE_THREAD__
  void* sanitized_ = __tsan_get_current_fiber();
#endif
};

}  // namespace lzero

#endif  // LZERO_TESTS_SUPPORT_FIBER_H_
