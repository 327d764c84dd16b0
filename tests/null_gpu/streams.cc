// Streams and events of the runtime.
#include <cuda_runtime_api.h>

#include <cstdint>

#include "tests/null_gpu/capture.h"
#include "tests/null_gpu/device.h"
#include "tests/null_gpu/report.h"
#include "tests/null_gpu/work.h"

namespace lzero::null_gpu {
namespace {

// Where a stream was when the event was recorded, and what is complete then; or where a capture
// was.
struct Event {
  int device = CurrentDevice();  // of then
  Position position;
  Clock clock;
  CapturedEvent in_capture;
};

Event* ToEvent(cudaEvent_t handle) { return reinterpret_cast<Event*>(handle); }

// Whether all up to `position` is complete; the host knows then. Otherwise some of it runs, so that
// a host that asks again and again comes to an end.
bool Query(const Position& position, const Clock& clock) {
  if (IsReached(position)) {
    TellHost(clock);
    return true;
  }
  RunTowards(position);
  return false;
}

}  // namespace
}  // namespace lzero::null_gpu

using lzero::null_gpu::Event;
using lzero::null_gpu::Fail;
using lzero::null_gpu::FindStream;
using lzero::null_gpu::Lock;
using lzero::null_gpu::Stream;
using lzero::null_gpu::ToEvent;

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle, unsigned int flags, int /*rank*/) {
  const Lock lock;
  lzero::null_gpu::MakeContext();
  const bool is_blocking = (flags & cudaStreamNonBlocking) == 0;
  *handle = lzero::null_gpu::HandleOf(
      *lzero::null_gpu::MakeStream(is_blocking, lzero::null_gpu::CurrentDevice()));
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned int flags) {
  return cudaStreamCreateWithPriority(handle, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t* handle) { return cudaStreamCreateWithFlags(handle, 0); }

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  const Lock lock;
  Stream* stream = FindStream(handle);
  if (stream == nullptr || stream->is_legacy) return Fail(cudaErrorInvalidResourceHandle);
  if (stream->capture != nullptr) lzero::null_gpu::Violation("a stream goes while it captures");
  lzero::null_gpu::DestroyStream(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  const Lock lock;
  lzero::null_gpu::Count("waits");
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  if (lzero::null_gpu::SpoilCapture(stream, "cudaStreamSynchronize")) {
    return Fail(cudaErrorStreamCaptureUnsupported);
  }
  const lzero::null_gpu::Position end = lzero::null_gpu::EndOf(stream);
  lzero::null_gpu::TellHost(lzero::null_gpu::ClockOf(*stream));
  lzero::null_gpu::RunUntil(end);
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const Lock lock;
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  if (lzero::null_gpu::SpoilCapture(stream, "cudaStreamQuery")) {
    return Fail(cudaErrorStreamCaptureUnsupported);
  }
  const lzero::null_gpu::Position end = lzero::null_gpu::EndOf(stream);
  const bool is_complete = lzero::null_gpu::Query(end, lzero::null_gpu::ClockOf(*stream));
  return is_complete ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize() {
  const Lock lock;
  lzero::null_gpu::Count("waits");
  lzero::null_gpu::MakeContext();
  for (const auto& [id, stream] : lzero::null_gpu::AllStreams()) {
    if (stream->device != lzero::null_gpu::CurrentDevice()) continue;
    if (!lzero::null_gpu::SpoilCapture(stream.get(), "cudaDeviceSynchronize")) continue;
    lzero::null_gpu::Violation("cudaDeviceSynchronize while a stream captures");
    return Fail(cudaErrorStreamCaptureUnsupported);
  }
  lzero::null_gpu::WaitForAll(lzero::null_gpu::CurrentDevice());
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned int /*flags*/) {
  lzero::null_gpu::MakeContext();
  *handle = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* handle) { return cudaEventCreateWithFlags(handle, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  delete ToEvent(handle);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  const Lock lock;
  Stream* stream = FindStream(stream_handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  if (lzero::null_gpu::RefuseLegacy(*stream, "cudaEventRecord")) {
    return Fail(cudaErrorStreamCaptureImplicit);
  }
  Event& event = *ToEvent(handle);
  if (lzero::null_gpu::IsOfAnother("an event", event.device, "a stream", stream->device)) {
    return Fail(cudaErrorInvalidResourceHandle);
  }
  if (stream->capture != nullptr) {
    event.in_capture = lzero::null_gpu::RecordInCapture(*stream);
  } else {
    event.position = lzero::null_gpu::EndOf(stream);
    event.clock = lzero::null_gpu::ClockOf(*stream);
    event.in_capture = {};
  }
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int /*f*/) {
  return cudaEventRecord(event, stream);
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  const Lock lock;
  if (lzero::null_gpu::RefuseInCapture("cudaEventQuery")) {
    return Fail(cudaErrorStreamCaptureUnsupported);
  }
  const Event& event = *ToEvent(handle);
  if (event.in_capture.is_captured) return Fail(cudaErrorCapturedEvent);
  return lzero::null_gpu::Query(event.position, event.clock) ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  const Lock lock;
  lzero::null_gpu::Count("waits");
  if (lzero::null_gpu::RefuseInCapture("cudaEventSynchronize")) {
    return Fail(cudaErrorStreamCaptureUnsupported);
  }
  if (ToEvent(handle)->in_capture.is_captured) return Fail(cudaErrorCapturedEvent);
  lzero::null_gpu::TellHost(ToEvent(handle)->clock);
  lzero::null_gpu::RunUntil(ToEvent(handle)->position);
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t /*from*/, cudaEvent_t /*to*/) {
  *milliseconds = 1;  // there is no speed here
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int /*flags*/) {
  const Lock lock;
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  const Event& recorded = *ToEvent(event);
  const bool is_recorded = recorded.in_capture.is_captured || recorded.position.stream >= 0;
  if (!is_recorded) return cudaSuccess;
  if (stream->capture != nullptr || recorded.in_capture.is_captured) {
    const cudaError_t error = lzero::null_gpu::WaitInCapture(stream, recorded.in_capture);
    return error == cudaSuccess ? error : Fail(error);
  }
  lzero::null_gpu::EnqueueWait(stream, recorded.position, recorded.clock);
  return cudaSuccess;
}

}  // extern "C"
