// Who used which bytes last. Two pieces of work of different streams that touch the same bytes, one
// of them writing, must be ordered by an event or by a host that waited; each piece must touch
// memory that is there. Checked when work is issued, so that a fault is found whatever order the
// work then runs in.
#ifndef LZERO_TESTS_NULL_GPU_ACCESS_H_
#define LZERO_TESTS_NULL_GPU_ACCESS_H_

#include <cstddef>

#include "tests/null_gpu/work.h"

namespace lzero::null_gpu {

// `work` stands at `position` of `stream` and comes after all that the stream's clock has. False:
// its memory is not there, or is another device's, and it must not run.
bool CheckAccess(const Work& work, const Stream& stream, const Position& position);

// These bytes are memory again that nobody used.
void ForgetAccess(const void* begin, size_t size);

// libtorch's allocator has taken a block back, or lent it. Blocks of graphs are never told. Work on
// stream number `owner` may get the block next: a violation where another stream may still use it.
void MarkFreed(const void* begin, size_t size, int owner);
void MarkLent(const void* begin, size_t size);

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_ACCESS_H_
