#include "lzero/pipe/policy_server.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/mcts/tree/tree.h"

namespace lzero {
namespace {

// The numbers in [-1, 1] that MakeAction turns into `action` [D], which is one of the environment.
std::vector<float> ValuesOf(const ActionSpec& spec, absl::Span<const float> action) {
  std::vector<float> values(action.size());
  for (size_t d = 0; d < action.size(); ++d) {
    const float middle = 0.5f * spec.low[d] + 0.5f * spec.high[d];
    const float half = 0.5f * spec.high[d] - 0.5f * spec.low[d];
    values[d] = half > 0.0f ? std::clamp((action[d] - middle) / half, -1.0f, 1.0f) : 0.0f;
  }
  return values;
}

// Rows [n, D] in [-1, 1] as actions of the environment.
std::vector<float> ActionsOf(const ActionSpec& spec, absl::Span<const float> values) {
  std::vector<float> actions;
  Action action;
  for (size_t begin = 0; begin < values.size(); begin += spec.low.size()) {
    MakeAction(spec, 0, values.subspan(begin, spec.low.size()), &action);
    actions.insert(actions.end(), action.values.begin(), action.values.end());
  }
  return actions;
}

// A state that does not fit, or cannot be played from, is the fault of who gave it.
absl::Status SearchError(const PolicyRequest& request, const absl::Status& searched) {
  const bool is_refused = !request.states.empty() && (absl::IsInvalidArgument(searched) ||
                                                      absl::IsFailedPrecondition(searched));
  return is_refused ? searched : absl::InternalError(searched.message());
}

}  // namespace

PolicyServer::PolicyServer(const EnvSpec& spec, int64_t max_past_steps, int max_batch, Agent* agent,
                           InferenceModel* model)
    : spec_(spec),
      shape_(PolicyShape::Of(spec, max_batch)),
      agent_(agent),
      model_(model),
      fresh_{EpisodeTracker(max_past_steps, spec.observation.size(), spec.action.dim())},
      episodes_(static_cast<size_t>(max_batch), fresh_) {}

absl::StatusOr<std::string> PolicyServer::Answer(const Frame& request) {
  switch (request.type) {
    case FrameType::kPolicyReset:
      return Reset(request);
    case FrameType::kAct:
      return Act(request);
    case FrameType::kSearch:
      return Search(request);
    default:
      return absl::DataLossError(
          absl::StrCat("a policy answers no frame of type ", static_cast<int>(request.type)));
  }
}

absl::StatusOr<std::string> PolicyServer::Reset(const Frame& frame) {
  LZ_ASSIGN_OR_RETURN(std::vector<int32_t> ids, ReadResetRequest(frame, shape_));
  // All of them: as if nothing had been asked before.
  if (ids.empty()) {
    agent_->set_num_searches(0);
    for (int32_t id = 0; id < shape_.max_batch; ++id) ids.push_back(id);
  }
  for (const int32_t id : ids) {
    model_->EndEpisode(EnvId(id));
    episodes_[static_cast<size_t>(id)] = fresh_;
  }
  return FrameWriter(FrameType::kOk).Take();
}

absl::Status PolicyServer::Check(const PolicyRequest& request, size_t b, bool decides,
                                 bool is_alone) const {
  const size_t id = static_cast<size_t>(request.ids[b]);
  const bool is_told = !request.played.empty() || !request.played_values.empty();
  if (!is_alone && episodes_[id].has_begun && !episodes_[id].has_decided && !is_told) {
    return absl::FailedPreconditionError(
        absl::StrCat("episode ", id,
                     ": its last observation was not decided about, so say what "
                     "was played there (played)"));
  }
  if (decides && model_->NeedsState() && request.states.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("this model searches in the environment itself, so give what an environment "
                     "'",
                     spec_.id, "' of lzero saved of itself there (state)"));
  }
  return absl::OkStatus();
}

void PolicyServer::Observe(const PolicyRequest& request, size_t b, Episode* episode) const {
  if (!episode->has_begun) {
    episode->tracker.Begin(request.ObservationOf(b));
  } else if (!request.played_values.empty()) {
    const auto values = ValuesOf(spec_.action, request.PlayedValuesOf(b));
    episode->tracker.Add(0, values, request.ObservationOf(b));
  } else {
    const int32_t action = request.played.empty() ? episode->action : request.played[b];
    episode->tracker.Add(action, episode->values, request.ObservationOf(b));
  }
  episode->has_begun = true;
  episode->has_decided = false;
}

Root PolicyServer::MakeRoot(const PolicyRequest& request, size_t b, EnvId env,
                            const EpisodeTracker& tracker) const {
  Root root = tracker.MakeRoot(env, TimeStep());
  root.to_play = request.to_play[b];
  root.legal_action_mask = request.LegalOf(b);
  if (!request.states.empty()) root.state = request.states[b];
  return root;
}

absl::StatusOr<std::string> PolicyServer::Act(const Frame& frame) {
  LZ_ASSIGN_OR_RETURN(const PolicyRequest request, ReadPolicyRequest(frame, shape_));
  const bool decides = (frame.flags & kObserveOnly) == 0;
  const size_t num_rows = request.ids.size();
  for (size_t b = 0; b < num_rows; ++b) {
    LZ_RETURN_IF_ERROR(Check(request, b, decides, /*is_alone=*/false));
  }
  // From here on nothing is refused, except states.
  std::vector<Root> roots;
  std::vector<Episode> before;  // for states that are refused
  for (size_t b = 0; b < num_rows; ++b) {
    Episode& episode = episodes_[static_cast<size_t>(request.ids[b])];
    if (!request.states.empty()) before.push_back(episode);
    Observe(request, b, &episode);
    roots.push_back(MakeRoot(request, b, EnvId(request.ids[b]), episode.tracker));
  }
  if (!decides) return FrameWriter(FrameType::kOk).Take();
  const double start = MonotonicSeconds();
  const absl::Status searched = agent_->Act(*model_, roots, ActMode::kEvaluate, 0, &decision_);
  if (!searched.ok()) {
    for (size_t b = 0; b < before.size(); ++b) {
      episodes_[static_cast<size_t>(request.ids[b])] = std::move(before[b]);
    }
    return SearchError(request, searched);
  }
  const double seconds = MonotonicSeconds() - start;
  for (size_t b = 0; b < num_rows; ++b) {
    Episode& episode = episodes_[static_cast<size_t>(request.ids[b])];
    const auto values = decision_.ValuesOf(b);
    episode.has_decided = true;
    episode.action = decision_.actions[b];
    episode.values.assign(values.begin(), values.end());
  }
  FrameWriter answer(FrameType::kDecision);
  AddDecision(seconds, &answer);
  return answer.Take();
}

absl::StatusOr<std::string> PolicyServer::Search(const Frame& frame) {
  LZ_ASSIGN_OR_RETURN(const PolicyRequest request, ReadPolicyRequest(frame, shape_));
  const bool is_alone = (frame.flags & kAlone) != 0;
  LZ_RETURN_IF_ERROR(Check(request, 0, /*decides=*/true, is_alone));
  // A copy of the episode, as an environment of its own.
  Episode episode = is_alone ? fresh_ : episodes_[static_cast<size_t>(request.ids[0])];
  Observe(request, 0, &episode);
  const EnvId env(shape_.max_batch);
  model_->EndEpisode(env);
  const Root root = MakeRoot(request, 0, env, episode.tracker);
  const uint64_t num_searches = agent_->num_searches();
  const double start = MonotonicSeconds();
  const absl::Status searched = agent_->Act(*model_, {&root, 1}, ActMode::kEvaluate, 0, &decision_);
  if (!searched.ok()) return SearchError(request, searched);
  const double seconds = MonotonicSeconds() - start;
  agent_->set_num_searches(num_searches);
  if (agent_->host_tree() == nullptr) {
    return absl::UnimplementedError(
        "this search keeps its trees on the device; allowed: another inference.runner");
  }
  FrameWriter answer(FrameType::kTree);
  AddDecision(seconds, &answer);
  AddTree(&answer);
  return answer.Take();
}

void PolicyServer::AddDecision(double seconds, FrameWriter* frame) const {
  const SearchResult& search = decision_.search;
  const size_t num_rows = static_cast<size_t>(search.num_roots);
  frame->Add(static_cast<uint32_t>(num_rows))
      .Add(static_cast<uint32_t>(decision_.policy_size))
      .Add(seconds);
  if (decision_.action_dim > 0) {
    frame->Add(absl::MakeConstSpan(ActionsOf(spec_.action, decision_.action_values)));
  } else {
    frame->Add(absl::MakeConstSpan(decision_.actions));
  }
  frame->Add(absl::MakeConstSpan(decision_.policies))
      .Add(absl::MakeConstSpan(search.root_values))
      .Add(absl::MakeConstSpan(search.network_values));
  // Visits of slots that stand for discrete actions are those of the actions.
  const SampledActions* sampled = model_->sampled_actions();
  if (sampled == nullptr || decision_.action_dim > 0) {
    frame->Add(absl::MakeConstSpan(search.visit_counts));
  } else {
    std::vector<int32_t> visits(decision_.policies.size());
    for (size_t slot = 0; slot < sampled->indices.size(); ++slot) {
      if (sampled->slot_mask[slot] == 0) continue;
      const size_t row = slot / static_cast<size_t>(sampled->num_slots);
      visits[row * static_cast<size_t>(decision_.policy_size) +
             static_cast<size_t>(sampled->indices[slot])] += search.visit_counts[slot];
    }
    frame->Add(absl::MakeConstSpan(visits));
  }
  if (decision_.action_dim > 0) {
    frame->Add(absl::MakeConstSpan(ActionsOf(spec_.action, decision_.sampled_actions)));
  }
}

void PolicyServer::AddTree(FrameWriter* frame) const {
  const Tree& tree = *agent_->host_tree();
  // Nodes that were never expanded are left out, so others get smaller numbers.
  std::vector<int32_t> number_of(static_cast<size_t>(tree.num_nodes()), -1);
  std::vector<int32_t> parents, actions, visits;
  std::vector<float> q_values, priors, values, network_values, rewards;
  std::vector<float> played(static_cast<size_t>(spec_.action.dim()));
  std::vector<float> action_values;
  for (int n = 0; n < tree.num_nodes(); ++n) {
    if (!tree.IsExpanded(0, n)) continue;
    const int32_t parent = tree.parent(0, n), action = tree.action_from_parent(0, n);
    const bool is_root = parent < 0;
    int32_t played_index = -1;
    if (!is_root) played_index = model_->ReadSlot(NodeId(parent), action, absl::MakeSpan(played));
    action_values.insert(action_values.end(), played.begin(), played.end());
    number_of[static_cast<size_t>(n)] = static_cast<int32_t>(parents.size());
    parents.push_back(is_root ? -1 : number_of[static_cast<size_t>(parent)]);
    actions.push_back(played_index);
    visits.push_back(tree.node_visits(0, n));
    q_values.push_back(is_root ? 0.0f : static_cast<float>(tree.q_value(0, parent, action)));
    priors.push_back(is_root ? 1.0f : tree.prior(0, parent, action));
    values.push_back(static_cast<float>(tree.value(0, n)));
    network_values.push_back(tree.network_value(0, n));
    rewards.push_back(is_root ? 0.0f : tree.reward(0, n));
  }
  frame->Add(static_cast<uint32_t>(parents.size()));
  for (const auto* column : {&parents, &actions, &visits}) {
    frame->Add(absl::MakeConstSpan(*column));
  }
  for (const auto* column : {&q_values, &priors, &values, &network_values, &rewards}) {
    frame->Add(absl::MakeConstSpan(*column));
  }
  action_values = ActionsOf(spec_.action, action_values);
  std::fill_n(action_values.begin(), played.size(), 0.0f);  // the root has no action
  frame->Add(absl::MakeConstSpan(action_values));
}

}  // namespace lzero
