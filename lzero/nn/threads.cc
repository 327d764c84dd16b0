#include "lzero/nn/threads.h"

#include "ATen/Parallel.h"
#include "lzero/kernels/parallel.h"

namespace lzero {

void SetTensorThreads(int num_threads) {
  at::set_num_threads(1);
  SetKernelThreads(num_threads);
}

}  // namespace lzero
