// A few threads that share out the indices of a loop. Not a task queue: one loop at a time, the
// caller works too and returns when all indices are done. Run() is called from one thread at a
// time.
#ifndef LZERO_BASE_THREAD_POOL_H_
#define LZERO_BASE_THREAD_POOL_H_

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lzero {

class ThreadPool {
 public:
  // `num_threads` includes the calling thread: 1 makes no thread at all.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls body(i) once for every i in 0 .. count - 1, in any order, on any thread. Blocks. What a
  // body throws (memory that ran out) is thrown on here when no thread is in a body any more;
  // indices that were not begun by then are left out. The pool can be used again.
  void Run(int64_t count, const std::function<void(int64_t)>& body);

 private:
  void Work();
  bool TakeAndRun(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable finished_;
  const std::function<void(int64_t)>* body_ = nullptr;  // guarded by mutex_
  int64_t next_ = 0;                                    // guarded by mutex_
  int64_t count_ = 0;                                   // guarded by mutex_
  int64_t running_ = 0;                                 // guarded by mutex_
  std::exception_ptr thrown_;                           // guarded by mutex_; the first one
  bool stop_ = false;                                   // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace lzero

#endif  // LZERO_BASE_THREAD_POOL_H_
