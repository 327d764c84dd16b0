// The rules of captures: what is refused while a stream captures.
#ifndef LZERO_TESTS_NULL_GPU_CAPTURE_H_
#define LZERO_TESTS_NULL_GPU_CAPTURE_H_

#include <string>

#include "tests/null_gpu/work.h"

namespace lzero::null_gpu {

// Whether `call` is one that this thread must not make now. It spoils the capture.
bool RefuseInCapture(const std::string& call);

// Whether work on this stream would tie the legacy stream to a capture: a violation.
bool RefuseLegacy(const Stream& stream, const std::string& work);

// Spoils the capture of `stream`; whether it had one.
bool SpoilCapture(Stream* stream, const std::string& call);

// Runs all work and tells the host.
void WaitForAll();

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_CAPTURE_H_
