// How many threads work on tensors for the calling thread.
#ifndef LZERO_NN_THREADS_H_
#define LZERO_NN_THREADS_H_

namespace lzero {

// `num_threads` >= 1 in our kernels, the calling thread included. libtorch stays on one: a second
// of its own would spin between two calls and so keep a core from our kernels.
void SetTensorThreads(int num_threads);

}  // namespace lzero

#endif  // LZERO_NN_THREADS_H_
