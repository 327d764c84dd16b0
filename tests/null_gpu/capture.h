// The rules of captures: what is refused while a stream captures.
#ifndef LZERO_TESTS_NULL_GPU_CAPTURE_H_
#define LZERO_TESTS_NULL_GPU_CAPTURE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "tests/null_gpu/work.h"

namespace lzero::null_gpu {

// Whether `call` is one that this thread must not make now. It spoils the capture.
bool RefuseInCapture(const std::string& call);

// Whether work on this stream would tie the legacy stream to a capture: a violation.
bool RefuseLegacy(const Stream& stream, const std::string& work);

// Spoils the capture of `stream`; whether it had one.
bool SpoilCapture(Stream* stream, const std::string& call);

// Puts `work` into the graph that `stream` captures.
void AddToCapture(const Stream& stream, std::shared_ptr<const Work> work);

// An event that was recorded in a capture; of none where `capture` never was one.
struct CapturedEvent {
  std::weak_ptr<Capture> capture;
  size_t event = 0;
  bool is_captured = false;
};
CapturedEvent RecordInCapture(const Stream& stream);
// Work that is captured on `stream` from now on comes after the event; a stream that captured
// nothing joins. The error of what a capture refuses: the legacy stream, an event of before, of
// another one or of one that is over.
cudaError_t WaitInCapture(Stream* stream, const CapturedEvent& event);

// Runs all work of a device and tells the host.
constexpr int kAnyDevice = -1;
void WaitForAll(int device);

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_CAPTURE_H_
