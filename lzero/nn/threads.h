// How many threads work on tensors for the calling thread: our kernels' and libtorch's own.
#ifndef LZERO_NN_THREADS_H_
#define LZERO_NN_THREADS_H_

namespace lzero {

// `num_threads` >= 1, the calling thread included.
void SetTensorThreads(int num_threads);

}  // namespace lzero

#endif  // LZERO_NN_THREADS_H_
