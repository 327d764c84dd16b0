#include "tests/null_gpu/work.h"

#include <algorithm>
#include <exception>
#include <random>
#include <string>
#include <utility>

#include "tests/null_gpu/access.h"
#include "tests/null_gpu/capture.h"
#include "tests/null_gpu/device.h"
#include "tests/null_gpu/report.h"
#include "tests/null_gpu/settings.h"

namespace lzero::null_gpu {
namespace {

using Streams = std::map<int, std::unique_ptr<Stream>>;

Streams& All() {
  static auto& streams = *[] {
    auto* made = new Streams;
    for (int device = 0; device < GetSettings().devices; ++device) {
      (*made)[device] = std::make_unique<Stream>(device, device, true, false);
    }
    return made;
  }();
  return streams;
}

Clock& HostClock() {
  static auto& clock = *new Clock;
  return clock;
}

std::mt19937_64& Random() {
  static auto& random = *new std::mt19937_64(GetSettings().seed);
  return random;
}

bool IsReady(const Stream& stream) {
  if (stream.queue.empty()) return false;
  const Item& head = stream.queue.front();
  return head.work != nullptr || IsReached(head.position);
}

// Runs work whose caller has gone on. What it throws is a fault, such as an index out of range.
void RunAlone(const Work& work) {
  try {
    work.run();
  } catch (const std::exception& error) {
    Violation(work.name + " fails: " + std::string(error.what()).substr(0, 200));
  }
}

void RunHead(Stream* stream) {
  const Item head = std::move(stream->queue.front());
  stream->queue.pop_front();
  ++stream->finished;
  if (head.work != nullptr && head.work->run) {
    if (IsLate()) {
      RunAlone(*head.work);
    } else {
      head.work->run();
    }
  }
  if (stream->is_destroyed && stream->queue.empty()) All().erase(stream->id);
}

// Runs one piece of work of any stream that has some which may run.
void RunAny() {
  std::vector<Stream*> ready;
  for (const auto& [id, stream] : All()) {
    if (IsReady(*stream)) ready.push_back(stream.get());
  }
  if (!ready.empty()) RunHead(ready[Random()() % ready.size()]);
}

bool Draw(double probability) {
  return GetSettings().seed != 0 &&
         std::uniform_real_distribution<double>()(Random()) < probability;
}

// Between two calls of the program a device gets far or not far: the seed says which.
void RunSome() {
  constexpr double kEagerness[] = {0.9, 0.1, 0.5};
  while (Draw(kEagerness[GetSettings().seed % 3])) RunAny();
}

// The legacy stream of a device waits for all blocking ones there, and they for it.
void OrderBesideLegacy(Stream* stream) {
  if (stream->is_legacy) {
    for (const auto& [id, other] : All()) {
      if (!other->is_blocking || other->device != stream->device) continue;
      EnqueueWait(stream, {id, other->issued}, ClockOf(*other));
    }
  } else if (stream->is_blocking) {
    const Stream& legacy = *All()[stream->device];
    EnqueueWait(stream, {legacy.id, legacy.issued}, ClockOf(legacy));
  }
}

}  // namespace

void Merge(const Clock& from, Clock* into) {
  for (const auto& [stream, count] : from) {
    uint64_t& known = (*into)[stream];
    known = std::max(known, count);
  }
}

bool Knows(const Clock& clock, const Position& position) {
  const auto known = clock.find(position.stream);
  return known != clock.end() && known->second >= position.count;
}

bool IsLate() { return GetSettings().level == Level::kLate; }

// The number of a stream, where no other handle is: libtorch wants handles to look like pointers.
constexpr int kHandleShift = 12;

cudaStream_t HandleOf(const Stream& stream) {
  if (stream.is_legacy) return nullptr;
  return reinterpret_cast<cudaStream_t>(static_cast<intptr_t>(stream.id) << kHandleShift);
}

int NumberOf(cudaStream_t handle, int device) {
  // Two handles name the legacy stream; nobody here uses that of a thread.
  if (handle == nullptr || handle == cudaStreamLegacy) return device;
  return static_cast<int>(reinterpret_cast<intptr_t>(handle) >> kHandleShift);
}

Stream* FindStream(cudaStream_t handle) {
  const auto found = All().find(NumberOf(handle, CurrentDevice()));
  if (found != All().end() && !found->second->is_destroyed) return found->second.get();
  Violation("a stream is used that is not there");
  return nullptr;
}

const Streams& AllStreams() { return All(); }

Stream* MakeStream(bool is_blocking, int device) {
  static int next_id = GetSettings().devices;
  const int id = next_id++;
  auto& made = All()[id];
  made = std::make_unique<Stream>(id, device, false, is_blocking);
  Count("streams");
  return made.get();
}

void DestroyStream(Stream* stream) {
  Count("streams", -1);
  stream->is_destroyed = true;
  if (stream->queue.empty()) All().erase(stream->id);
}

bool IsReached(const Position& position) {
  const auto found = All().find(position.stream);
  return found == All().end() || found->second->finished >= position.count;
}

void RunTowards(const Position& position) {
  if (IsReached(position)) return;
  Stream* stream = All()[position.stream].get();
  if (IsReady(*stream)) {
    RunHead(stream);
  } else {
    RunTowards(stream->queue.front().position);
  }
}

void RunUntil(const Position& position) {
  while (!IsReached(position)) {
    if (Draw(0.5)) RunAny();
    RunTowards(position);
  }
}

void TellHost(const Clock& clock) { Merge(clock, &HostClock()); }

bool HostKnows(const Position& position) { return Knows(HostClock(), position); }

bool IsKnownTo(int number, const Position& position) {
  if (HostKnows(position)) return true;
  const auto stream = All().find(number);
  return stream != All().end() && Knows(ClockOf(*stream->second), position);
}

Clock ClockOf(const Stream& stream) {
  Clock clock = stream.clock;
  clock[stream.id] = stream.issued;
  return clock;
}

Position EndOf(Stream* stream) {
  OrderBesideLegacy(stream);
  return {stream->id, stream->issued};
}

void EnqueueWait(Stream* stream, const Position& position, const Clock& clock) {
  Merge(clock, &stream->clock);
  // Clocks stay small, however many streams there were.
  std::erase_if(stream->clock, [](const auto& entry) {
    return HostKnows({entry.first, entry.second});
  });
  if (IsReached(position) || position.stream == stream->id) return;
  stream->queue.push_back({nullptr, position});
  ++stream->issued;
}

void Enqueue(Stream* stream, std::shared_ptr<const Work> work) {
  OrderBesideLegacy(stream);
  if (stream->is_legacy) Count("work_of_default_stream");
  ++stream->issued;
  if (!CheckAccess(*work, *stream, {stream->id, stream->issued})) {
    work = std::make_shared<const Work>(Work{work->name, nullptr, {}});
  }
  stream->queue.push_back({std::move(work), {}});
  if (IsLate()) {
    RunSome();
  } else {
    RunUntil({stream->id, stream->issued});
  }
}

cudaError_t Issue(cudaStream_t handle, Work work) {
  const Lock lock;
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  if (RefuseLegacy(*stream, work.name)) return Fail(cudaErrorStreamCaptureImplicit);
  if (stream->capture == nullptr && !IsCopy(work)) Count("kernels");
  auto shared = std::make_shared<const Work>(std::move(work));
  if (stream->capture == nullptr) {
    Enqueue(stream, std::move(shared));
  } else if (stream->capture->is_invalid) {
    return Fail(cudaErrorStreamCaptureInvalidated);
  } else {
    AddToCapture(*stream, std::move(shared));
  }
  return cudaSuccess;
}

}  // namespace lzero::null_gpu
