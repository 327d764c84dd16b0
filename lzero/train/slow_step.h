// Tells when the updates between two barriers take long, which nothing interrupts: from a thread of
// its own, so while they run. The learner's thread brackets and counts them.
#ifndef LZERO_TRAIN_SLOW_STEP_H_
#define LZERO_TRAIN_SLOW_STEP_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace lzero {

class SlowStepWatch {
 public:
  // Once in its life it warns of updates that take longer than `slow_seconds`; `what` tells their
  // size. When `stop` (may be null) becomes true, it says how far those under way are.
  SlowStepWatch(const std::atomic<bool>* stop, std::string what, double slow_seconds = 10.0);
  ~SlowStepWatch();
  SlowStepWatch(const SlowStepWatch&) = delete;
  SlowStepWatch& operator=(const SlowStepWatch&) = delete;

  void Begin(int64_t num_updates);
  void CountUpdate();
  void End() { Begin(0); }

 private:
  void Watch();
  void Look();  // with mutex_ held

  const std::atomic<bool>* stop_;
  std::string what_;
  double slow_seconds_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_over_ = false;
  bool told_slow_ = false, told_stop_ = false;
  int64_t num_updates_ = 0, num_made_ = 0;  // of the updates under way; 0: none
  double start_ = 0.0, last_ = 0.0;         // when they began, when the last one was made
  double update_seconds_ = 0.0;             // of the last update; 0: not known
  std::thread thread_;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_SLOW_STEP_H_
