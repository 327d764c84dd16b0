#include "tests/null_gpu/access.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/null_gpu/device.h"
#include "tests/null_gpu/memory.h"
#include "tests/null_gpu/report.h"

namespace lzero::null_gpu {
namespace {

struct Use {
  Position position;
  std::string name;
};

// The bytes from the key of a map to `end`, and who used them.
struct LastUses {
  uintptr_t end;
  Use writer;
  std::vector<Use> readers;
};

using Uses = std::map<uintptr_t, LastUses>;

Uses& All() {
  static auto& uses = *new Uses;
  return uses;
}

// Ends of the blocks that libtorch's allocator has taken back, by their begins.
std::map<uintptr_t, uintptr_t>& Freed() {
  static auto& freed = *new std::map<uintptr_t, uintptr_t>;
  return freed;
}

// No stretch of bytes goes over `at` any more.
template <typename Map, typename End>
void SplitAt(uintptr_t at, Map* map, End end_of) {
  auto after = map->upper_bound(at);
  if (after == map->begin()) return;
  auto& [begin, uses] = *std::prev(after);
  if (begin == at || end_of(uses) <= at) return;
  auto rest = uses;
  end_of(uses) = at;
  map->emplace(at, std::move(rest));
}

uintptr_t& EndOfUses(LastUses& uses) { return uses.end; }
uintptr_t& EndOfFreed(uintptr_t& end) { return end; }

// Whether `use` is ordered before work at `position`.
bool IsOrdered(const Use& use, const Position& position, const Clock& clock) {
  if (use.position.stream < 0 || use.position.stream == position.stream) return true;
  return HostKnows(use.position) || Knows(clock, use.position);
}

void CheckOrder(const Use& before, const Work& work, const Position& position, const Clock& clock) {
  if (IsOrdered(before, position, clock)) return;
  Violation(work.name + " on stream " + std::to_string(position.stream) + " uses memory that " +
            before.name + " uses on stream " + std::to_string(before.position.stream) +
            ", and no event or synchronisation is between them");
}

void CheckRange(const Range& range, const Work& work, const Position& position,
                const Clock& clock) {
  const auto begin = reinterpret_cast<uintptr_t>(range.begin), end = begin + range.size;
  SplitAt(begin, &All(), EndOfUses);
  SplitAt(end, &All(), EndOfUses);
  const Use use{position, work.name};
  uintptr_t covered = begin;
  for (auto at = All().lower_bound(begin); at != All().end() && at->first < end; ++at) {
    CheckOrder(at->second.writer, work, position, clock);
    if (range.writes) {
      for (const Use& reader : at->second.readers) CheckOrder(reader, work, position, clock);
      continue;
    }
    if (covered < at->first) All().emplace(covered, LastUses{at->first, {}, {use}});
    covered = at->second.end;
    std::erase_if(at->second.readers,
                  [&](const Use& other) { return other.position.stream == position.stream; });
    at->second.readers.push_back(use);
  }
  if (range.writes) {
    All().erase(All().lower_bound(begin), All().lower_bound(end));
    All().emplace(begin, LastUses{end, use, {}});
  } else if (covered < end) {
    All().emplace(covered, LastUses{end, {}, {use}});
  }
}

void CheckHandedBack(const Use& use, int owner) {
  if (use.position.stream < 0 || IsKnownTo(owner, use.position)) return;
  Violation("memory of stream " + std::to_string(owner) + " is given back while " + use.name +
            " on stream " + std::to_string(use.position.stream) + " may still use it");
}

bool IsFreed(const Range& range) {
  const auto begin = reinterpret_cast<uintptr_t>(range.begin);
  const auto after = Freed().lower_bound(begin + range.size);
  return after != Freed().begin() && std::prev(after)->second > begin;
}

}  // namespace

bool CheckAccess(const Work& work, const Stream& stream, const Position& position) {
  bool can_run = true;
  for (const Range& range : work.ranges) {
    if (range.size == 0) continue;
    if (KindOf(range.begin, range.size) == MemoryKind::kUnknown) {
      Violation(work.name + " uses bytes that are no memory of the device");
      can_run = false;
    } else if (IsFreed(range)) {
      Violation(work.name + " uses memory that was freed");
    } else if (const int device = DeviceOf(range.begin);
               device >= 0 && !work.joins_devices &&
               IsOfAnother("memory", device, work.name + " on a stream", stream.device)) {
      can_run = false;
    } else {
      CheckRange(range, work, position, stream.clock);
    }
  }
  return can_run;
}

void ForgetAccess(const void* memory, size_t size) {
  const auto begin = reinterpret_cast<uintptr_t>(memory), end = begin + size;
  SplitAt(begin, &All(), EndOfUses);
  SplitAt(end, &All(), EndOfUses);
  All().erase(All().lower_bound(begin), All().lower_bound(end));
  MarkLent(memory, size);
}

void MarkFreed(const void* memory, size_t size, int owner) {
  const Lock lock;
  MarkLent(memory, size);
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  SplitAt(begin, &All(), EndOfUses);
  SplitAt(begin + size, &All(), EndOfUses);
  const auto end = All().lower_bound(begin + size);
  for (auto at = All().lower_bound(begin); at != end; ++at) {
    CheckHandedBack(at->second.writer, owner);
    for (const Use& reader : at->second.readers) CheckHandedBack(reader, owner);
  }
  Freed()[begin] = begin + size;
}

void MarkLent(const void* memory, size_t size) {
  const Lock lock;
  const auto begin = reinterpret_cast<uintptr_t>(memory), end = begin + size;
  SplitAt(begin, &Freed(), EndOfFreed);
  SplitAt(end, &Freed(), EndOfFreed);
  Freed().erase(Freed().lower_bound(begin), Freed().lower_bound(end));
}

}  // namespace lzero::null_gpu
