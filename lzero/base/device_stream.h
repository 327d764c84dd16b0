// The queue of a device that work is put on, without the headers of CUDA. Type only.
#ifndef LZERO_BASE_DEVICE_STREAM_H_
#define LZERO_BASE_DEVICE_STREAM_H_

struct CUstream_st;  // cudaStream_t and at::cuda::CUDAStream::stream() are pointers to it

namespace lzero {

using DeviceStream = CUstream_st*;

}  // namespace lzero

#endif  // LZERO_BASE_DEVICE_STREAM_H_
