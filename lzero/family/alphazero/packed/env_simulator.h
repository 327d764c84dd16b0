// The environment as the model of a search: every node of the trees is a saved state, and a step
// loads the parent's, plays the action and saves what follows. Knows no network: the caller
// evaluates the positions that it shows. Belongs to one thread.
//
// Past the end of an episode nothing is played any more. A node where the episode terminated is
// worth 0: the edge to it has discount 0, and so have those that leave it. A step cap that is
// reached inside a search leaves a position that the network values, as where the replay
// bootstraps: the edge to it has the usual discount, and every edge that leaves it leads to the
// same value again, with reward 0 and discount 1.
#ifndef LZERO_FAMILY_ALPHAZERO_PACKED_ENV_SIMULATOR_H_
#define LZERO_FAMILY_ALPHAZERO_PACKED_ENV_SIMULATOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/env/env.h"
#include "lzero/mcts/inference_model.h"

namespace lzero {

struct EnvSimulatorOptions {
  int64_t max_roots = 0;
  int64_t nodes_per_root = 0;  // num_simulations + 1
  double discount = 1.0;
};

// What a step of one row led to.
struct SimulatedStep {
  float reward = 0.0f;    // from the view of the player who moved
  float discount = 0.0f;  // negative where the player to move changed
  // The position to evaluate, which lives until the next Step; null past the end of an episode,
  // where `value` is known.
  const TimeStep* position = nullptr;
  float value = 0.0f;
};

class EnvSimulator {
 public:
  // Makes `max_roots` environments. Errors of `make_env`; FailedPrecondition for an environment
  // that cannot be saved.
  static absl::StatusOr<std::unique_ptr<EnvSimulator>> Create(const EnvFactory& make_env,
                                                              const EnvSimulatorOptions& options);
  // Bytes of the states of all nodes, each as large as at the end of a random episode in an
  // environment that is made for that. Errors as Create, and those of stepping.
  static absl::StatusOr<int64_t> Bytes(const EnvFactory& make_env,
                                       const EnvSimulatorOptions& options);

  // Forgets all nodes; node 0 of row i is roots[i], at most max_roots.
  void Begin(absl::Span<const Root> roots);

  // Steps row i from `parents[i]` by `actions[i]` to `children[i]`, all [B], for the B rows of the
  // last Begin. InvalidArgument for a root without a state; else errors of the environment. They
  // name it.
  absl::Status Step(absl::Span<const NodeId> parents, absl::Span<const int32_t> actions,
                    absl::Span<const NodeId> children);
  // [B], a row of the last Step each.
  absl::Span<const SimulatedStep> steps() const { return steps_; }
  // Sets the network's value of the position that row `row` reached in the last Step.
  void SetValue(size_t row, float value);

  const EnvSpec& spec() const { return envs_[0]->spec(); }

 private:
  enum class NodeEnd : uint8_t { kNone, kTerminated, kTruncated };
  struct Node {
    std::string state;  // empty past the end of an episode
    int to_play = 0;
    NodeEnd end = NodeEnd::kNone;
    float value = 0.0f;   // of the position
    float reward = 0.0f;  // that ended the episode, where it terminated
  };

  EnvSimulator(std::vector<std::unique_ptr<Env>> envs, const EnvSimulatorOptions& options);
  Node& NodeOf(size_t row, NodeId node) {
    return nodes_[row * static_cast<size_t>(options_.nodes_per_root) +
                  static_cast<size_t>(node.value)];
  }
  absl::Status StepRow(size_t row, const Node& parent, int32_t action, Node* child);

  std::vector<std::unique_ptr<Env>> envs_;  // [max_roots]
  EnvSimulatorOptions options_;
  std::vector<Node> nodes_;  // [max_roots, nodes_per_root]
  std::vector<EnvId> ids_;   // of the roots
  std::vector<NodeId> children_;
  std::vector<TimeStep> positions_;   // [B]
  std::vector<SimulatedStep> steps_;  // [B]
};

}  // namespace lzero

#endif  // LZERO_FAMILY_ALPHAZERO_PACKED_ENV_SIMULATOR_H_
