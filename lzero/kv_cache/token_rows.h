// Numbers that lie in the memory of a device, row after row: how the cache is handed tokens and
// hands them out. A view; the memory is the caller's.
#ifndef LZERO_KV_CACHE_TOKEN_ROWS_H_
#define LZERO_KV_CACHE_TOKEN_ROWS_H_

#include <cstdint>

#include "lzero/config/device.h"

namespace lzero {

template <typename T>
struct Rows {
  T* numbers = nullptr;
  int64_t count = 0;     // rows
  int64_t row_size = 0;  // numbers a row
  Device device = Device::kCpu;

  operator Rows<const T>() const { return {numbers, count, row_size, device}; }
};

}  // namespace lzero

#endif  // LZERO_KV_CACHE_TOKEN_ROWS_H_
