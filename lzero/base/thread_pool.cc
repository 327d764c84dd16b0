#include "lzero/base/thread_pool.h"

#include <utility>

#include "lzero/base/check.h"

namespace lzero {

ThreadPool::ThreadPool(int num_threads) {
  LZ_CHECK(num_threads >= 1, "got ", num_threads);
  for (int i = 1; i < num_threads; ++i) threads_.emplace_back([this] { Work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool ThreadPool::TakeAndRun(std::unique_lock<std::mutex>& lock) {
  if (next_ >= count_) return false;
  const int64_t index = next_++;
  ++running_;
  const auto& body = *body_;
  lock.unlock();
  std::exception_ptr thrown;
  try {
    body(index);
  } catch (...) {
    thrown = std::current_exception();
  }
  lock.lock();
  if (thrown) {
    if (!thrown_) thrown_ = std::move(thrown);
    next_ = count_;
  }
  if (--running_ == 0 && next_ >= count_) finished_.notify_all();
  return true;
}

void ThreadPool::Run(int64_t count, const std::function<void(int64_t)>& body) {
  if (threads_.empty()) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  LZ_CHECK(body_ == nullptr, "Run() is not reentrant");
  body_ = &body;
  next_ = 0;
  count_ = count;
  wake_.notify_all();
  while (TakeAndRun(lock)) {
  }
  finished_.wait(lock, [this] { return running_ == 0; });
  body_ = nullptr;
  count_ = next_ = 0;
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void ThreadPool::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || next_ < count_; });
    if (stop_) return;
    while (TakeAndRun(lock)) {
    }
  }
}

}  // namespace lzero
