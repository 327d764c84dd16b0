// What tests of the search share: a batch of roots with their masks. Not a test.
#ifndef LZERO_TESTS_MCTS_SEARCH_TESTING_H_
#define LZERO_TESTS_MCTS_SEARCH_TESTING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/mcts/golden/hash_model.h"
#include "lzero/mcts/search.h"

namespace lzero {

// Roots of environments 0 .. B - 1, all actions legal at first.
class RootBatch {
 public:
  RootBatch(int num_roots, int num_actions)
      : masks_(static_cast<size_t>(num_roots),
               std::vector<uint8_t>(static_cast<size_t>(num_actions), 1)),
        roots_(static_cast<size_t>(num_roots)) {
    for (size_t b = 0; b < roots_.size(); ++b) {
      roots_[b].env = EnvId(static_cast<int64_t>(b));
      roots_[b].legal_action_mask = masks_[b];
    }
  }
  std::vector<uint8_t>& mask(int b) { return masks_[static_cast<size_t>(b)]; }
  std::vector<Root>& roots() { return roots_; }

 private:
  std::vector<std::vector<uint8_t>> masks_;
  std::vector<Root> roots_;
};

inline std::unique_ptr<Search> MakeSearch(const SearchConfig& config, int num_actions,
                                          int max_roots, int num_chance_outcomes = 0) {
  auto search = Search::Create(config, num_actions, max_roots, num_chance_outcomes);
  EXPECT_TRUE(search.ok()) << search.status();
  return std::move(search).value();
}

}  // namespace lzero

#endif  // LZERO_TESTS_MCTS_SEARCH_TESTING_H_
