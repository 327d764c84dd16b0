#include "lzero/env/python/worker_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/env/python/worker_messages.h"

namespace lzero {
namespace {

constexpr int64_t kHeaderBytes = 64;
constexpr int64_t kAlignment = 64;

// Places in the header, in uint64.
constexpr int kMagicAt = 0, kVersionAt = 1, kRequestAt = 2, kAnswerAt = 3;

// Places in WorkerLayout::fields.
enum Field {
  kCount,
  kSlots,
  kOps,
  kSeeds,
  kRepeats,
  kActions,
  kRewards,
  kFlags,
  kLives,
  kNumFrames,
  kMasks,
  kObservations
};

enum Flag : uint32_t { kTerminated = 1, kTruncated = 2, kFailed = 4, kMasked = 8 };

absl::Status Nonsense(absl::string_view what) {
  return absl::InternalError(absl::StrCat("the worker process answers ", what));
}

}  // namespace

WorkerLayout WorkerLayout::Of(const WorkerSizes& sizes) {
  const int64_t slots = sizes.num_slots;
  const int64_t numbers = std::max(1, sizes.action_size);
  WorkerLayout layout;
  layout.sizes = sizes;
  int64_t end = 0;
  const auto add = [&](const char* name, int64_t num_bytes) {
    layout.fields.push_back({name, end, num_bytes});
    end = (end + num_bytes + kAlignment - 1) / kAlignment * kAlignment;
  };
  // Requests.
  add("count", 4);
  add("slots", slots * 4);
  add("ops", slots * 4);
  add("seeds", slots * 8);
  add("repeats", slots * 4);
  add("actions", slots * sizes.max_repeat * numbers * 4);
  // Answers.
  add("rewards", slots * 8);
  add("flags", slots * 4);
  add("lives", slots * 4);
  add("num_frames", slots * 4);
  add("masks", slots * sizes.mask_size);
  add("observations", slots * sizes.num_frames * sizes.frame_bytes);
  // Two buffers behind the header.
  layout.buffer_starts[0] = kHeaderBytes;
  layout.buffer_starts[1] = kHeaderBytes + end;
  layout.num_bytes = kHeaderBytes + 2 * end;
  return layout;
}

absl::StatusOr<std::unique_ptr<WorkerMemory>> WorkerMemory::Create(const WorkerSizes& sizes) {
  LZ_CHECK(sizes.num_slots >= 1 && sizes.num_frames >= 1 && sizes.max_repeat >= 1,
           "a worker without slots, frames or actions");
  WorkerLayout layout = WorkerLayout::Of(sizes);
  const auto failed = [&](const char* what) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot share ", layout.num_bytes,
                                                     " bytes with a worker process: ", what, ": ",
                                                     std::strerror(errno)));
  };
  Descriptor descriptor(memfd_create("lzero_worker", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (descriptor.get() < 0) return failed("memfd_create");
  void* bytes = MAP_FAILED;
  // Sealed: were the worker to make it smaller, reading here would be a bus error.
  if (ftruncate(descriptor.get(), layout.num_bytes) == 0 &&
      fcntl(descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    bytes = mmap(nullptr, static_cast<size_t>(layout.num_bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                 descriptor.get(), 0);
  }
  if (bytes == MAP_FAILED) return failed("mmap");
  return std::unique_ptr<WorkerMemory>(
      new WorkerMemory(std::move(layout), std::move(descriptor), static_cast<uint8_t*>(bytes)));
}

WorkerMemory::WorkerMemory(WorkerLayout layout, Descriptor descriptor, uint8_t* bytes)
    : layout_(std::move(layout)), descriptor_(std::move(descriptor)), bytes_(bytes) {
  header()[kMagicAt] = kWorkerMagic;
  header()[kVersionAt] = kWorkerProtocolVersion;
}

WorkerMemory::~WorkerMemory() { munmap(bytes_, static_cast<size_t>(layout_.num_bytes)); }

template <typename T>
T* WorkerMemory::Array(int field) const {
  return reinterpret_cast<T*>(bytes_ + layout_.buffer_starts[sequence_ & 1] +
                              layout_.fields[field].offset);
}

void WorkerMemory::BeginRequest() {
  ++sequence_;
  *Array<uint32_t>(kCount) = 0;
}

void WorkerMemory::Ask(int slot, WorkerOp op, uint32_t repeats) {
  LZ_CHECK(slot >= 0 && slot < layout_.sizes.num_slots, "slot ", slot);
  uint32_t& count = *Array<uint32_t>(kCount);
  LZ_CHECK(count < static_cast<uint32_t>(layout_.sizes.num_slots), "slot ", slot, " asked twice");
  Array<uint32_t>(kSlots)[count++] = static_cast<uint32_t>(slot);
  Array<uint32_t>(kOps)[slot] = static_cast<uint32_t>(op);
  Array<uint32_t>(kRepeats)[slot] = repeats;
  Array<uint32_t>(kFlags)[slot] = kFailed;  // until it is answered
}

void WorkerMemory::AskReset(int slot, uint64_t seed, bool remake) {
  Ask(slot, remake ? WorkerOp::kRemake : WorkerOp::kReset, 0);
  Array<uint64_t>(kSeeds)[slot] = seed;
}

void WorkerMemory::AskStep(int slot, absl::Span<const int32_t> actions) {
  const WorkerSizes& sizes = layout_.sizes;
  LZ_CHECK(sizes.action_size == 0 && !actions.empty() &&
               actions.size() <= static_cast<size_t>(sizes.max_repeat),
           actions.size(), " actions");
  Ask(slot, WorkerOp::kStep, static_cast<uint32_t>(actions.size()));
  std::copy(actions.begin(), actions.end(),
            Array<int32_t>(kActions) + static_cast<int64_t>(slot) * sizes.max_repeat);
}

void WorkerMemory::AskStep(int slot, absl::Span<const float> actions) {
  const WorkerSizes& sizes = layout_.sizes;
  const size_t size = static_cast<size_t>(sizes.action_size);
  LZ_CHECK(size > 0 && !actions.empty() && actions.size() % size == 0 &&
               actions.size() / size <= static_cast<size_t>(sizes.max_repeat),
           actions.size(), " numbers for actions of ", size);
  Ask(slot, WorkerOp::kStep, static_cast<uint32_t>(actions.size() / size));
  std::copy(
      actions.begin(), actions.end(),
      Array<float>(kActions) + static_cast<int64_t>(slot) * sizes.max_repeat * sizes.action_size);
}

int WorkerMemory::num_asked() const { return static_cast<int>(*Array<uint32_t>(kCount)); }

void WorkerMemory::EndRequest() {
  header()[kRequestAt] = sequence_;
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

bool WorkerMemory::IsAnswered() const {
  const uint64_t answer = *const_cast<const volatile uint64_t*>(&header()[kAnswerAt]);
  std::atomic_thread_fence(std::memory_order_acquire);  // what it answers is read afterwards
  return answer == sequence_;
}

absl::StatusOr<WorkerResult> WorkerMemory::Read(int slot) const {
  const WorkerSizes& sizes = layout_.sizes;
  LZ_CHECK(slot >= 0 && slot < sizes.num_slots, "slot ", slot);
  // Flags, reward and counts.
  const uint32_t flags = Array<uint32_t>(kFlags)[slot];
  if (flags > (kTerminated | kTruncated | kFailed | kMasked)) {
    return Nonsense(absl::StrCat("flags ", flags));
  }
  WorkerResult result;
  result.failed = (flags & kFailed) != 0;
  if (result.failed) return result;
  result.terminated = (flags & kTerminated) != 0;
  result.truncated = (flags & kTruncated) != 0;
  result.has_mask = (flags & kMasked) != 0 && sizes.mask_size > 0;
  result.reward = Array<double>(kRewards)[slot];
  if (!(std::abs(result.reward) <= std::numeric_limits<float>::max())) {
    return absl::InternalError(absl::StrCat("the environment gives reward ", result.reward));
  }
  result.lives = Array<int32_t>(kLives)[slot];
  result.num_frames = Array<uint32_t>(kNumFrames)[slot];
  if (result.num_frames < 1 || result.num_frames > static_cast<uint32_t>(sizes.max_repeat)) {
    return Nonsense(absl::StrCat(result.num_frames, " frames of ", sizes.max_repeat));
  }
  // Legal actions.
  result.mask = {Array<uint8_t>(kMasks) + static_cast<int64_t>(slot) * sizes.mask_size,
                 static_cast<size_t>(sizes.mask_size)};
  if (result.has_mask) {
    for (const uint8_t legal : result.mask) {
      if (legal > 1) return Nonsense(absl::StrCat("a mask that holds ", legal));
    }
  }
  // Frames.
  const int64_t frames_bytes = sizes.num_frames * sizes.frame_bytes;
  result.frames = {Array<uint8_t>(kObservations) + slot * frames_bytes,
                   static_cast<size_t>(frames_bytes)};
  return result;
}

}  // namespace lzero
