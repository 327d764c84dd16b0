#include "envs/boards/go_position.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lzero/base/check.h"

namespace lzero {
namespace {

constexpr int kMaxCells = (GoPosition::kMaxSize + 2) * (GoPosition::kMaxSize + 1) + 1;

// SplitMix64 from a fixed seed. [Steele, Lea, Flood 2014, Fast splittable pseudorandom number
// generators]
constexpr std::array<std::array<uint64_t, 2>, kMaxCells> MakeStoneKeys() {
  std::array<std::array<uint64_t, 2>, kMaxCells> keys = {};
  uint64_t state = 0x6c7a65726f20676f;  // "lzero go"
  for (std::array<uint64_t, 2>& pair : keys) {
    for (uint64_t& key : pair) {
      uint64_t bits = state += 0x9e3779b97f4a7c15;
      bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
      bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
      key = bits ^ bits >> 31;
    }
  }
  return keys;
}

constexpr auto kStoneKeys = MakeStoneKeys();

std::array<int, 4> Neighbours(int cell, int stride) {
  return {cell - stride, cell - 1, cell + 1, cell + stride};
}

}  // namespace

GoPosition::GoPosition(int size) : size_(size) {
  LZ_CHECK(size >= 2 && size <= kMaxSize, "size ", size);
  const int num_cells = (size + 2) * (size + 1) + 1;
  contents_.assign(num_cells, kBorder);
  heads_.resize(num_cells);
  nexts_.resize(num_cells);
  chains_.resize(num_cells);
  for (int point = 0; point < num_points(); ++point) contents_[CellOf(point)] = kFree;
}

bool GoPosition::CanPlaceBetweenStones(int player, int cell) const {
  for (const int neighbour : Neighbours(cell, stride())) {
    const uint8_t content = contents_[neighbour];
    if (content == kBorder) continue;
    // A chain of one's own must have another liberty, one of the other's no other.
    if (ChainAt(neighbour).has_one_liberty() != (content == player)) return true;
  }
  return false;
}

bool GoPosition::CanPlaceAt(int player, int cell) const {
  if (contents_[cell] != kFree) return false;
  for (const int neighbour : Neighbours(cell, stride())) {
    if (contents_[neighbour] == kFree) return true;
  }
  return CanPlaceBetweenStones(player, cell);
}

void GoPosition::FillPlaceable(int player, absl::Span<uint8_t> mask) const {
  for (int row = 0; row < size_; ++row) {
    const int first = CellOf(row * size_);
    const uint8_t* const here = &contents_[first];
    const uint8_t* const below = here - stride();
    const uint8_t* const above = here + stride();
    uint8_t* const out = &mask[row * size_];
    // Without branches, for the processor does many at once.
    for (int column = 0; column < size_; ++column) {
      const bool beside_free = (here[column - 1] == kFree) | (here[column + 1] == kFree) |
                               (below[column] == kFree) | (above[column] == kFree);
      out[column] = static_cast<uint8_t>((here[column] == kFree) & beside_free);
    }
    for (int column = 0; column < size_; ++column) {
      if (here[column] != kFree || out[column] != 0) continue;
      out[column] = CanPlaceBetweenStones(player, first + column) ? 1 : 0;
    }
  }
}

void GoPosition::FillStones(int player, absl::Span<float> plane) const {
  for (int row = 0; row < size_; ++row) {
    const uint8_t* const here = &contents_[CellOf(row * size_)];
    float* const out = &plane[row * size_];
    for (int column = 0; column < size_; ++column)
      out[column] = here[column] == player ? 1.0f : 0.0f;
  }
}

uint64_t GoPosition::HashAfter(int player, int point) const {
  const int cell = CellOf(point);
  uint64_t hash = hash_ ^ kStoneKeys[cell][player];
  std::array<int, 4> taken = {-1, -1, -1, -1};  // heads, for a chain may touch the cell twice
  int num_taken = 0;
  for (const int neighbour : Neighbours(cell, stride())) {
    if (contents_[neighbour] != 1 - player || !ChainAt(neighbour).has_one_liberty()) continue;
    const int head = heads_[neighbour];
    if (std::find(taken.begin(), taken.end(), head) != taken.end()) continue;
    taken[num_taken++] = head;
    hash ^= chains_[head].hash;
  }
  return hash;
}

// Makes one chain of those of two neighbouring stones of one colour.
void GoPosition::Join(int cell, int neighbour) {
  int large = heads_[cell], small = heads_[neighbour];
  if (large == small) return;
  if (chains_[large].num_stones < chains_[small].num_stones) std::swap(large, small);
  Chain& into = chains_[large];
  const Chain& from = chains_[small];
  into.hash ^= from.hash;
  into.liberty_sum += from.liberty_sum;
  into.liberty_squares += from.liberty_squares;
  into.num_liberties = static_cast<uint16_t>(into.num_liberties + from.num_liberties);
  into.num_stones = static_cast<uint16_t>(into.num_stones + from.num_stones);
  for (int stone = small; heads_[stone] == small; stone = nexts_[stone]) {
    heads_[stone] = static_cast<uint16_t>(large);
  }
  std::swap(nexts_[large], nexts_[small]);
}

void GoPosition::TakeChain(int cell) {
  const int head = heads_[cell];
  hash_ ^= chains_[head].hash;
  int stone = head;
  do {
    contents_[stone] = kFree;
    for (const int neighbour : Neighbours(stone, stride())) {
      // Stones of the same chain get it too, which nobody will ask for.
      if (contents_[neighbour] <= kWhite) ChainAt(neighbour).Add(static_cast<uint32_t>(stone));
    }
    stone = nexts_[stone];
  } while (stone != head);
}

int GoPosition::Place(int player, int point) {
  const int cell = CellOf(point);
  LZ_DCHECK(CanPlaceAt(player, cell), "point ", point);
  // The stone, a chain of its own for now.
  const uint64_t key = kStoneKeys[cell][player];
  hash_ ^= key;
  contents_[cell] = static_cast<uint8_t>(player);
  heads_[cell] = nexts_[cell] = static_cast<uint16_t>(cell);
  chains_[cell] = Chain{.hash = key, .num_stones = 1};
  // Liberties of the new chain and of its neighbours.
  const std::array<int, 4> neighbours = Neighbours(cell, stride());
  for (const int neighbour : neighbours) {
    if (contents_[neighbour] == kFree) chains_[cell].Add(static_cast<uint32_t>(neighbour));
    if (contents_[neighbour] <= kWhite) ChainAt(neighbour).Remove(static_cast<uint32_t>(cell));
  }
  // Joins own chains, takes those of the other player without liberties.
  int num_taken = 0, last_taken = 0;
  for (const int neighbour : neighbours) {
    if (contents_[neighbour] == player) Join(cell, neighbour);
    if (contents_[neighbour] != 1 - player || ChainAt(neighbour).num_liberties > 0) continue;
    num_taken += ChainAt(neighbour).num_stones;
    last_taken = neighbour;
    TakeChain(neighbour);
  }
  // Ko: a lone stone that took one stone and could be retaken at once.
  const Chain& chain = ChainAt(cell);
  const bool can_be_retaken = chain.num_stones == 1 && chain.num_liberties == 1;
  ko_point_ = num_taken == 1 && can_be_retaken ? PointOf(last_taken) : kNoPoint;
  return num_taken;
}

std::vector<uint16_t> GoPosition::StepsFrom(int player) const {
  std::vector<uint16_t> steps(contents_.size(), 0);
  std::vector<int> queue;
  queue.reserve(contents_.size());
  for (int cell = 0; cell < static_cast<int>(contents_.size()); ++cell) {
    if (contents_[cell] != player) continue;
    steps[cell] = 1;
    queue.push_back(cell);
  }
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const int neighbour : Neighbours(queue[i], stride())) {
      if (contents_[neighbour] != kFree || steps[neighbour] != 0) continue;
      steps[neighbour] = static_cast<uint16_t>(steps[queue[i]] + 1);
      queue.push_back(neighbour);
    }
  }
  return steps;
}

int GoPosition::AreaLead() const {
  const std::vector<uint16_t> black = StepsFrom(kBlack), white = StepsFrom(kWhite);
  int lead = 0;
  for (size_t cell = 0; cell < black.size(); ++cell)
    lead += (black[cell] != 0) - (white[cell] != 0);
  return lead;
}

int GoPosition::NearerLead() const {
  const std::vector<uint16_t> black = StepsFrom(kBlack), white = StepsFrom(kWhite);
  int lead = 0;
  for (size_t cell = 0; cell < black.size(); ++cell) {
    // 0, none at all, minus 1 is the largest number.
    const auto b = static_cast<uint16_t>(black[cell] - 1),
               w = static_cast<uint16_t>(white[cell] - 1);
    lead += (b < w) - (w < b);
  }
  return lead;
}

}  // namespace lzero
