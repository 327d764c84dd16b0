// What replay stores of a transition, each field once: where it lies in a segment, what it is
// called in a checkpoint, its type and size. Segment, export and import follow from this table. A
// new field is a line of the enum and of the table, a member of Transition, and its line in
// GameSegment::Append; a batch reads it where it needs it, into arrays with a table of their own
// (VisitArrays). Observations are not in it: ObservationStore has them. Pure functions; any
// thread.
#ifndef LZERO_REPLAY_STORED_FIELDS_H_
#define LZERO_REPLAY_STORED_FIELDS_H_

#include <cstdint>
#include <iterator>
#include <vector>

#include "lzero/base/named_array.h"
#include "lzero/replay/observation_store.h"

namespace lzero {

struct SegmentShape {
  int observation_size = 0;
  int num_actions = 0;
  int num_context_steps = 0;  // kept before the first step, or as many as the episode has
  ObservationType observation_type = ObservationType::kFloat32;
  int frame_stack = 1;
  int action_dim = 0;           // D of box actions; 0: discrete
  int num_chance_outcomes = 0;  // 0: none is stored
  bool has_network_values = false;
  bool has_search_times = false;  // with replay.fresh_updates

  ObservationFormat format() const { return {observation_size, observation_type, frame_stack}; }
  // Entries of a legal action mask: box actions have none.
  int num_masked() const { return action_dim > 0 ? 0 : num_actions; }
};

// From the largest element to the smallest, so that every field is aligned.
enum class Stored {
  kSequence,        // int64, the owner's note
  kSearchTime,      // int64, the owner's note: positions sampled before the search
  kLeaf,            // int32, the owner's note
  kAction,          // int32
  kChanceOutcome,   // int32
  kActionValues,    // float32 [D]
  kReward,          // float32
  kRootValue,       // float32
  kNetworkValue,    // float32
  kPolicy,          // float32 [A]
  kSampledActions,  // float32 [A D]
  kLegalActions,    // uint8 [A]
  kToPlay,          // uint8
};

// Which rows a field has.
enum class StoredRows {
  kSteps,            // one a transition
  kContextAndSteps,  // and one for each context step before
  kObservations,     // one an observation: a transition has one before and one after it
};

// How many numbers a row has: 1; 1 where steps draw chance outcomes; 1 where network values, or
// times of searches, are stored; D; A; A D; of legal actions.
enum class StoredColumns {
  kOne,
  kChance,
  kNetworkValue,
  kSearchTime,
  kDim,
  kActions,
  kSampled,
  kMasked
};

struct StoredField {
  const char* name;  // in a checkpoint, where it is [rows, columns], or [rows] with one column
  ArrayType type;
  StoredRows rows;
  StoredColumns columns;

  // 0: not stored under this shape.
  int64_t NumColumns(const SegmentShape& shape) const {
    const int64_t actions = shape.num_actions, dim = shape.action_dim;
    const int64_t sizes[] = {1,
                             shape.num_chance_outcomes > 0 ? 1 : 0,
                             shape.has_network_values ? 1 : 0,
                             shape.has_search_times ? 1 : 0,
                             dim,
                             actions,
                             actions * dim,
                             shape.num_masked()};
    return sizes[static_cast<int>(columns)];
  }
  // Rows that `num_steps` transitions have, those of the context not among them.
  int64_t NumRows(int64_t num_steps) const {
    return num_steps + (rows == StoredRows::kObservations ? 1 : 0);
  }
  int64_t RowBytes(const SegmentShape& shape) const {
    return NumColumns(shape) * ArrayTypeSize(type);
  }
  // Shape of the array in a checkpoint.
  std::vector<int64_t> ArrayShape(const SegmentShape& shape, int64_t num_rows) const {
    if (columns <= StoredColumns::kSearchTime) return {num_rows};
    return {num_rows, NumColumns(shape)};
  }
};

// In the order of Stored.
inline constexpr StoredField kStoredFields[] = {
    {"replay.sequences", ArrayType::kI64, StoredRows::kSteps, StoredColumns::kOne},
    {"replay.search_times", ArrayType::kI64, StoredRows::kSteps, StoredColumns::kSearchTime},
    {"replay.leaves", ArrayType::kI32, StoredRows::kSteps, StoredColumns::kOne},
    {"replay.actions", ArrayType::kI32, StoredRows::kContextAndSteps, StoredColumns::kOne},
    {"replay.chance_outcomes", ArrayType::kI32, StoredRows::kSteps, StoredColumns::kChance},
    {"replay.action_values", ArrayType::kF32, StoredRows::kContextAndSteps, StoredColumns::kDim},
    {"replay.rewards", ArrayType::kF32, StoredRows::kSteps, StoredColumns::kOne},
    {"replay.root_values", ArrayType::kF32, StoredRows::kSteps, StoredColumns::kOne},
    {"replay.network_values", ArrayType::kF32, StoredRows::kSteps, StoredColumns::kNetworkValue},
    {"replay.policies", ArrayType::kF32, StoredRows::kSteps, StoredColumns::kActions},
    {"replay.sampled_actions", ArrayType::kF32, StoredRows::kSteps, StoredColumns::kSampled},
    {"replay.legal_action_masks", ArrayType::kU8, StoredRows::kObservations,
     StoredColumns::kMasked},
    {"replay.to_play", ArrayType::kU8, StoredRows::kObservations, StoredColumns::kOne},
};

inline constexpr int kNumStored = std::size(kStoredFields);

inline const StoredField& FieldOf(Stored field) { return kStoredFields[static_cast<int>(field)]; }

}  // namespace lzero

#endif  // LZERO_REPLAY_STORED_FIELDS_H_
