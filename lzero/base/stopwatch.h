// Adds up wall time, for the shares of a run that the progress line shows. One thread.
#ifndef LZERO_BASE_STOPWATCH_H_
#define LZERO_BASE_STOPWATCH_H_

#include <chrono>

namespace lzero {

// Seconds since some fixed moment; never goes back.
inline double MonotonicSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Stopwatch {
 public:
  double seconds() const { return seconds_; }
  void Add(double seconds) { seconds_ += seconds; }

 private:
  double seconds_ = 0.0;
};

// Adds its own life-time to a Stopwatch.
class ScopedTimer {
 public:
  explicit ScopedTimer(Stopwatch* stopwatch) : stopwatch_(stopwatch), start_(MonotonicSeconds()) {}
  ~ScopedTimer() { stopwatch_->Add(MonotonicSeconds() - start_); }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  Stopwatch* stopwatch_;
  double start_;
};

}  // namespace lzero

#endif  // LZERO_BASE_STOPWATCH_H_
