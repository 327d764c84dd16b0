// libtorch's parallel loop, as much of it as the kernels of lzero/nn use, on threads of the
// standard library: so that they can be built without libtorch, and with the sanitizers.
#ifndef LZERO_TESTS_NN_PARALLEL_STUB_H_
#define LZERO_TESTS_NN_PARALLEL_STUB_H_

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace at {

inline int& NumThreads() {
  static int num_threads = 1;
  return num_threads;
}
inline int get_num_threads() { return NumThreads(); }
inline void set_num_threads(int num_threads) { NumThreads() = num_threads; }

// Parts of equal size, one a thread, none smaller than `grain`; the caller's thread has the first.
template <typename Function>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const Function& run) {
  const int64_t count = end - begin;
  if (count <= 0) return;
  const int64_t most = std::max<int64_t>(1, count / std::max<int64_t>(1, grain));
  const int64_t parts = std::min<int64_t>(get_num_threads(), most);
  const int64_t size = (count + parts - 1) / parts;
  std::vector<std::thread> threads;
  for (int64_t first = begin + size; first < end; first += size) {
    threads.emplace_back([&run, first, end, size] { run(first, std::min(end, first + size)); });
  }
  run(begin, std::min(end, begin + size));
  for (std::thread& thread : threads) thread.join();
}

}  // namespace at

#endif  // LZERO_TESTS_NN_PARALLEL_STUB_H_
