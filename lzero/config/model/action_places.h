// How a head that reads the cells of a board one by one says what actions are worth. Pure, any
// thread.
#ifndef LZERO_CONFIG_MODEL_ACTION_PLACES_H_
#define LZERO_CONFIG_MODEL_ACTION_PLACES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lzero {

// Each cell has a logit for every kind of move; where there are actions without a cell, one more,
// whose mean over all cells is theirs.
struct CellLogits {
  int64_t outputs = 0;  // of a cell
  // Where the logit of an action stands among [cells, outputs], then that mean.
  std::vector<int64_t> sources;
};

// For `places` (ActionSpec), not empty, on a board of so many cells.
inline CellLogits CellLogitsOf(const std::vector<int32_t>& places, int64_t cells) {
  CellLogits logits;
  logits.outputs = 1 + *std::max_element(places.begin(), places.end()) / cells;
  if (*std::min_element(places.begin(), places.end()) < 0) ++logits.outputs;
  for (const int64_t place : places) {
    logits.sources.push_back(place < 0 ? cells * logits.outputs
                                       : place % cells * logits.outputs + place / cells);
  }
  return logits;
}

}  // namespace lzero

#endif  // LZERO_CONFIG_MODEL_ACTION_PLACES_H_
