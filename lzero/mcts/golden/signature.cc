#include "lzero/mcts/golden/signature.h"

#include <cstring>
#include <vector>

#include "lzero/base/check.h"
#include "lzero/mcts/golden/hash_model.h"
#include "lzero/mcts/search.h"

namespace lzero {

namespace {

// FNV-1a over 32-bit words.
class Hash {
 public:
  void AddInt(int32_t word) {
    hash_ = (hash_ ^ static_cast<uint32_t>(word)) * 0x100000001b3u;
    hash_ ^= hash_ >> 29;
  }
  void AddFloat(float number) {
    int32_t word;
    std::memcpy(&word, &number, sizeof(word));
    AddInt(word);
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

struct Fixed {
  SearchConfig config;
  HashModelOptions model;
  SearchRequest request;
  bool all_legal = true;
};

void AddSearch(const Fixed& fixed, Hash* hash) {
  constexpr int kNumRoots = 3;
  auto search = Search::Create(fixed.config, fixed.model.num_actions, kNumRoots);
  LZ_CHECK(search.ok(), search.status().ToString());
  HashModel model(fixed.model);
  std::vector<uint8_t> mask(static_cast<size_t>(fixed.model.num_actions), 1);
  for (size_t a = 0; a < mask.size() && !fixed.all_legal; a += 3) mask[a] = 0;
  std::vector<Root> roots(kNumRoots);
  for (int b = 0; b < kNumRoots; ++b) {
    roots[static_cast<size_t>(b)].env = EnvId(b);
    roots[static_cast<size_t>(b)].legal_action_mask = mask;
  }
  SearchResult result;
  const absl::Status status = (*search)->Run(model, roots, fixed.request, &result);
  LZ_CHECK(status.ok(), status.ToString());
  for (const int32_t visits : result.visit_counts) hash->AddInt(visits);
  for (const int32_t action : result.best_actions) hash->AddInt(action);
  for (const float value : result.root_values) hash->AddFloat(value);
  for (const float weight : result.action_weights) hash->AddFloat(weight);
  const Tree& tree = (*search)->tree();
  for (int b = 0; b < kNumRoots; ++b) {
    for (int n = 0; n < tree.num_nodes(); ++n) {
      hash->AddInt(tree.IsExpanded(b, n) ? tree.node_visits(b, n) : 0);
      if (tree.IsExpanded(b, n)) hash->AddInt(tree.parent(b, n));
    }
  }
}

}  // namespace

uint64_t SearchSignature() {
  Hash hash;
  uint64_t seed = 1;
  for (const SearchPolicy policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    for (const QTransform transform : {QTransform::kTreeMinMax, QTransform::kParentAndSiblings,
                                       QTransform::kMinMax, QTransform::kCompletedByMixValue}) {
      for (const int num_actions : {2, 6, 18}) {
        for (const bool noisy : {false, true}) {
          Fixed fixed;
          fixed.config.policy = policy;
          fixed.config.q_transform = transform;
          fixed.config.num_simulations = 50;
          if (noisy) fixed.config.max_depth = 4;
          fixed.model.seed = seed++;
          fixed.model.num_actions = num_actions;
          fixed.model.discount = noisy ? -1.0f : 0.997f;
          fixed.model.logit_scale = noisy ? 0.0f : 2.0f;
          fixed.model.terminal_fraction = noisy ? 0.1 : 0.0;
          fixed.request.add_noise = noisy;
          fixed.request.deterministic_ties = !noisy;
          fixed.request.seed = 11;
          fixed.request.search_index = 5;
          fixed.all_legal = !noisy;
          AddSearch(fixed, &hash);
        }
      }
    }
  }
  return hash.value();
}

}  // namespace lzero
