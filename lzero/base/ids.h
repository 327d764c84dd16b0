// Strong integer ids, so that an environment index is never passed where a node index is meant.
#ifndef LZERO_BASE_IDS_H_
#define LZERO_BASE_IDS_H_

#include <compare>
#include <cstdint>

namespace lzero {

template <typename Tag>
struct StrongId {
  int32_t value = 0;

  constexpr StrongId() = default;
  constexpr explicit StrongId(int64_t v) : value(static_cast<int32_t>(v)) {}
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
};

// Index of an environment within one role (collector or evaluator), 0 .. num_envs - 1.
using EnvId = StrongId<struct EnvIdTag>;
// Index of a node within one root's search tree, in order of expansion; 0 is the root.
using NodeId = StrongId<struct NodeIdTag>;

inline constexpr NodeId kRootNode{0};

}  // namespace lzero

#endif  // LZERO_BASE_IDS_H_
