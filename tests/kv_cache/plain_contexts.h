// The functions that find contexts of a search, on the host: at once instead of on a stream, and
// with the lanes of a row one after the other. For tests without a device.
#ifndef LZERO_TESTS_KV_CACHE_PLAIN_CONTEXTS_H_
#define LZERO_TESTS_KV_CACHE_PLAIN_CONTEXTS_H_

#include "lzero/kv_cache/context_functions.h"

namespace lzero {

inline const ContextFunctions& PlainContextFunctions() {
  constexpr int kLanes = 3;
  static const ContextFunctions functions = {
      [](int) { return "no error"; },
      [](const SearchContexts* search, const ContextStep* step, int num_rows, DeviceStream) {
        for (int row = 0; row < num_rows; ++row) {
          for (int lane = kLanes; lane-- > 0;) PrepareRow(*search, *step, row, lane, kLanes);
        }
        return 0;
      }};
  return functions;
}

}  // namespace lzero

#endif  // LZERO_TESTS_KV_CACHE_PLAIN_CONTEXTS_H_
