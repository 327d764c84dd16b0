// The memory that lzero shares with a worker process. Two buffers alternate, so that an answer
// that was never finished changes nothing that was read before.
//
//   header 64 bytes: magic, version, number of the last request, number of the last answer (uint64)
//   buffer 0, buffer 1, each: count, slots, ops, seeds, repeats, actions       written by lzero
//                             rewards, flags, lives, num_frames, masks, observations    by the
//                             worker
//
// Arrays of a buffer are indexed by slot (one environment a slot), but `slots`, which lists the
// `count` ones that the message is about. Not the way messages are announced (worker_process.h).
// One thread at a time; the worker writes only between a request and its answer.
#ifndef LZERO_ENV_PYTHON_WORKER_MEMORY_H_
#define LZERO_ENV_PYTHON_WORKER_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/env/python/child_process.h"

namespace lzero {

inline constexpr uint64_t kWorkerMagic = 0x4c5a45524f5f3031;  // "LZERO_01"

enum class WorkerOp : uint32_t { kStep = 1, kReset = 2, kRemake = 3 };

// Sizes that decide the layout.
struct WorkerSizes {
  int num_slots = 1;
  int num_frames = 1;       // observations kept of a step: the last, or the last two
  int max_repeat = 1;       // actions played in one step
  int64_t frame_bytes = 0;  // of one observation
  int action_size = 0;      // float32 numbers of a box action; 0: one int32
  int mask_size = 0;        // 0: no masks
};

// Where a field lies in its buffer.
struct WorkerField {
  std::string name;
  int64_t offset = 0;
  int64_t num_bytes = 0;
};

struct WorkerLayout {
  WorkerSizes sizes;
  std::vector<WorkerField> fields;
  int64_t buffer_starts[2] = {0, 0};
  int64_t num_bytes = 0;

  static WorkerLayout Of(const WorkerSizes& sizes);
};

// What the worker says of one environment after a request. `observations` holds the frames, the
// newest last; the other is meant only after two or more actions.
struct WorkerResult {
  double reward = 0.0;  // within float32
  bool terminated = false;
  bool truncated = false;
  bool failed = false;  // the environment raised an exception; nothing else is meant
  bool has_mask = false;
  int32_t lives = 0;
  uint32_t num_frames = 0;  // actions that were played
  absl::Span<const uint8_t> mask;
  absl::Span<const uint8_t> frames;  // [num_frames of WorkerSizes, frame_bytes]
};

class WorkerMemory {
 public:
  // ResourceExhausted when the memory cannot be had.
  static absl::StatusOr<std::unique_ptr<WorkerMemory>> Create(const WorkerSizes& sizes);
  ~WorkerMemory();

  const WorkerLayout& layout() const { return layout_; }
  int descriptor() const { return descriptor_.get(); }

  // Begins the next request: nothing asked yet.
  void BeginRequest();
  void AskReset(int slot, uint64_t seed, bool remake);
  // `actions` [repeats] indices, or [repeats * action_size] numbers; 1 .. max_repeat of them.
  void AskStep(int slot, absl::Span<const int32_t> actions);
  void AskStep(int slot, absl::Span<const float> actions);
  int num_asked() const;
  // Gives the request its number: what the worker reads may not change from here on.
  void EndRequest();

  // Whether the worker has answered the last request, by its own word.
  bool IsAnswered() const;
  // What it says of `slot`. Internal when that makes no sense.
  absl::StatusOr<WorkerResult> Read(int slot) const;

 private:
  WorkerMemory(WorkerLayout layout, Descriptor descriptor, uint8_t* bytes);

  // The array `field` of the buffer in use.
  template <typename T>
  T* Array(int field) const;
  void Ask(int slot, WorkerOp op, uint32_t repeats);
  uint64_t* header() const { return reinterpret_cast<uint64_t*>(bytes_); }

  WorkerLayout layout_;
  Descriptor descriptor_;
  uint8_t* bytes_;
  uint64_t sequence_ = 0;
};

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_WORKER_MEMORY_H_
