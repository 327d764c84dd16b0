// Streams as queues of work. Work runs in the thread that issues it or waits for it, never beside:
// at once, or late, in an order that a seed draws among those which the program allows.
#ifndef LZERO_TESTS_NULL_GPU_WORK_H_
#define LZERO_TESTS_NULL_GPU_WORK_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace lzero::null_gpu {

// Bytes that a piece of work reads, or writes as well.
struct Range {
  const void* begin;
  size_t size;
  bool writes;
};

// One kernel, copy or operator. `run` may be empty. It must not own memory of the device.
struct Work {
  std::string name;
  std::function<void()> run;
  std::vector<Range> ranges;
  bool joins_devices = false;  // a copy from one device's memory to another's
};

inline constexpr char kCopy[] = "copy", kFill[] = "fill";
inline bool IsCopy(const Work& work) { return work.name == kCopy || work.name == kFill; }

// A place in a stream: the work issued on it so far. Streams are counted from 0, each device's
// legacy stream first.
struct Position {
  int stream = -1;
  uint64_t count = 0;
};

// What is known to be complete: for each stream a count.
using Clock = std::map<int, uint64_t>;
void Merge(const Clock& from, Clock* into);
bool Knows(const Clock& clock, const Position& position);

// What a branch of a capture does: work, or an event that it records or waits for.
struct CaptureItem {
  int branch;
  std::shared_ptr<const Work> work;  // null: the event
  size_t event = 0;                  // counted from 0 in each capture
  bool waits = false;                // for the event; else records it
};

// A graph, executable or not.
struct Graph {
  std::vector<CaptureItem> items;
  size_t num_branches;
  size_t num_events;
  int device;
};

// A capture that is under way. A stream that waits for an event of it joins: its branches are
// counted from 0, the stream that began it. In its clocks, branches stand for streams.
struct Capture {
  Graph graph;                // what is captured so far
  std::vector<int> streams;   // of the branches
  std::vector<Clock> clocks;  // of the branches: what the next item comes after
  std::vector<Clock> events;
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  uint64_t id;
  bool is_invalid = false;
};

struct Item {
  std::shared_ptr<const Work> work;  // null: waits for `position`
  Position position;
};

struct Stream {
  Stream(int number, int on_device, bool legacy, bool blocking)
      : id(number), device(on_device), is_legacy(legacy), is_blocking(blocking) {}

  int id;
  int device;
  bool is_legacy;
  bool is_blocking;  // waits for the legacy stream of its device, and that for it
  bool is_destroyed = false;
  uint64_t issued = 0, finished = 0;
  std::deque<Item> queue;
  Clock clock;  // what the last item issued comes after, beside all that the host knows
  std::shared_ptr<Capture> capture;  // of all its branches
};

// The stream of a handle; for null the legacy stream of the current device. Null, and a violation,
// for a destroyed one.
Stream* FindStream(cudaStream_t handle);
cudaStream_t HandleOf(const Stream& stream);
// The number of a stream that may be gone; null stands for the legacy stream of `device`.
int NumberOf(cudaStream_t handle, int device);
const std::map<int, std::unique_ptr<Stream>>& AllStreams();
Stream* MakeStream(bool is_blocking, int device);
// The stream goes when its work is complete.
void DestroyStream(Stream* stream);

// Puts `work` on a stream, or into the graph that the stream captures. Checks what it touches.
cudaError_t Issue(cudaStream_t handle, Work work);
// The same for a node of a graph, on a stream that captures nothing.
void Enqueue(Stream* stream, std::shared_ptr<const Work> work);
// Work issued on `stream` from now on comes after `position`, and after all that `clock` has.
void EnqueueWait(Stream* stream, const Position& position, const Clock& clock);

// The end of a stream as it is now, and what is complete when it is reached.
Position EndOf(Stream* stream);
Clock ClockOf(const Stream& stream);

bool IsReached(const Position& position);
// Runs what `position` needs. Late, other work may run as well.
void RunUntil(const Position& position);
// Runs at most one piece of work that `position` needs.
void RunTowards(const Position& position);
// Whether what is issued on stream number `stream` next comes after `position`. Where it is gone:
// whether the host knows that `position` is complete.
bool IsKnownTo(int stream, const Position& position);
// The host has seen that this much is complete: all that it issues comes after it.
void TellHost(const Clock& clock);
bool HostKnows(const Position& position);

// Issued work does not run at once.
bool IsLate();

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_WORK_H_
