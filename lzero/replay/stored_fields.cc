#include "lzero/replay/stored_fields.h"

namespace lzero {

int64_t StoredField::NumColumns(const SegmentShape& shape) const {
  switch (columns) {
    case StoredColumns::kOne:
      return 1;
    case StoredColumns::kChance:
      return shape.num_chance_outcomes > 0 ? 1 : 0;
    case StoredColumns::kDim:
      return shape.action_dim;
    case StoredColumns::kActions:
      return shape.num_actions;
    case StoredColumns::kSampled:
      return int64_t{shape.num_actions} * shape.action_dim;
    case StoredColumns::kMasked:
      return shape.num_masked();
  }
  return 0;
}

std::vector<int64_t> StoredField::ArrayShape(const SegmentShape& shape, int64_t num_rows) const {
  const bool is_vector = columns == StoredColumns::kOne || columns == StoredColumns::kChance;
  if (is_vector) return {num_rows};
  return {num_rows, NumColumns(shape)};
}

}  // namespace lzero
