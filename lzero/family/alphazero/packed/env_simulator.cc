#include "lzero/family/alphazero/packed/env_simulator.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/check/rollout.h"

namespace lzero {
namespace {

absl::StatusOr<std::unique_ptr<Env>> MakeSimulator(const EnvFactory& make_env) {
  LZ_ASSIGN_OR_RETURN(std::unique_ptr<Env> env, make_env());
  if (env->spec().can_save) return env;
  return absl::FailedPreconditionError(absl::StrCat(
      env->spec().id, " cannot be saved; a search that simulates with it needs its states"));
}

// Bytes of a state late in an episode, or of one at its start if that is larger: games that
// remember their moves grow with them.
absl::StatusOr<int64_t> LateStateBytes(Env& env) {
  constexpr int64_t kMaxSteps = 1000;
  env.Reset(0);
  LZ_ASSIGN_OR_RETURN(const std::string early, env.Save());
  LZ_RETURN_IF_ERROR(PlayRandomEpisode(env, 0, kMaxSteps).status());
  LZ_ASSIGN_OR_RETURN(const std::string late, env.Save());
  return static_cast<int64_t>(std::max(early.size(), late.size()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<EnvSimulator>> EnvSimulator::Create(
    const EnvFactory& make_env, const EnvSimulatorOptions& options) {
  std::vector<std::unique_ptr<Env>> envs;
  for (int64_t i = 0; i < options.max_roots; ++i) {
    LZ_ASSIGN_OR_RETURN(std::unique_ptr<Env> env, MakeSimulator(make_env));
    envs.push_back(std::move(env));
  }
  return absl::WrapUnique(new EnvSimulator(std::move(envs), options));
}

absl::StatusOr<int64_t> EnvSimulator::Bytes(const EnvFactory& make_env,
                                            const EnvSimulatorOptions& options) {
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env, MakeSimulator(make_env));
  LZ_ASSIGN_OR_RETURN(const int64_t state_bytes, LateStateBytes(*env));
  const int64_t node_bytes = static_cast<int64_t>(sizeof(Node)) + state_bytes;
  return options.max_roots * options.nodes_per_root * node_bytes;
}

EnvSimulator::EnvSimulator(std::vector<std::unique_ptr<Env>> envs,
                           const EnvSimulatorOptions& options)
    : envs_(std::move(envs)),
      options_(options),
      nodes_(static_cast<size_t>(options.max_roots * options.nodes_per_root)) {}

void EnvSimulator::Begin(absl::Span<const Root> roots) {
  LZ_CHECK(static_cast<int64_t>(roots.size()) <= options_.max_roots, roots.size(), " roots");
  ids_.clear();
  for (size_t row = 0; row < roots.size(); ++row) {
    ids_.push_back(roots[row].env);
    Node& node = NodeOf(row, kRootNode);
    node.state.assign(roots[row].state.data(), roots[row].state.size());
    node.to_play = roots[row].to_play;
    node.end = NodeEnd::kNone;
  }
  positions_.resize(roots.size());
  steps_.assign(roots.size(), {});
}

absl::Status EnvSimulator::Step(absl::Span<const NodeId> parents, absl::Span<const int32_t> actions,
                                absl::Span<const NodeId> children) {
  LZ_CHECK(parents.size() == ids_.size(), parents.size(), " rows for ", ids_.size(), " roots");
  children_.assign(children.begin(), children.end());
  for (size_t row = 0; row < parents.size(); ++row) {
    const Node& parent = NodeOf(row, parents[row]);
    Node& child = NodeOf(row, children[row]);
    if (parent.end == NodeEnd::kNone) {
      LZ_RETURN_IF_ERROR(Annotate(StepRow(row, parent, actions[row], &child),
                                  absl::StrCat("environment ", ids_[row].value)));
      continue;
    }
    child = parent;
    // Below a termination nothing counts but the range of Q, which a Q that it holds leaves alone.
    const bool truncated = parent.end == NodeEnd::kTruncated;
    steps_[row] = {parent.reward, truncated ? 1.0f : 0.0f, nullptr, parent.value};
  }
  return absl::OkStatus();
}

absl::Status EnvSimulator::StepRow(size_t row, const Node& parent, int32_t action, Node* child) {
  if (parent.state.empty()) {
    return absl::InvalidArgumentError(
        "the root of a search that simulates with the environment has no state; allowed: what "
        "Env::Save gives there (Root::state, TimeStep::state)");
  }
  // Play the action from the state of the parent.
  Env& env = *envs_[row];
  LZ_RETURN_IF_ERROR(env.Load(parent.state));
  LZ_ASSIGN_OR_RETURN(positions_[row], env.Step(Action::Discrete(action)));
  const TimeStep& position = positions_[row];
  child->to_play = position.to_play;
  child->value = 0.0f;
  child->reward = 0.0f;
  SimulatedStep& step = steps_[row];
  step.reward = position.reward;
  step.value = 0.0f;
  // The end of the episode: worth 0, nothing to evaluate.
  if (position.terminated) {
    child->end = NodeEnd::kTerminated;
    child->reward = position.reward;
    child->state.clear();
    step.discount = 0.0f;
    step.position = nullptr;
    return absl::OkStatus();
  }
  // A position to evaluate; behind a step cap nothing can be played.
  const bool changes = position.to_play != parent.to_play;
  step.discount = static_cast<float>(changes ? -options_.discount : options_.discount);
  step.position = &position;
  if (position.truncated) {
    child->end = NodeEnd::kTruncated;
    child->state.clear();
    return absl::OkStatus();
  }
  child->end = NodeEnd::kNone;
  LZ_ASSIGN_OR_RETURN(child->state, env.Save());
  return absl::OkStatus();
}

void EnvSimulator::SetValue(size_t row, float value) {
  steps_[row].value = value;
  NodeOf(row, children_[row]).value = value;
}

}  // namespace lzero
