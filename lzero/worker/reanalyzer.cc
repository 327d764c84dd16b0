#include "lzero/worker/reanalyzer.h"

#include <cmath>
#include <utility>

#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {

Reanalyzer::Reanalyzer(int batch_size, std::unique_ptr<Agent> agent, InferenceModel* model)
    : batch_size_(batch_size), agent_(std::move(agent)), model_(model) {
  LZ_CHECK(batch_size > 0, "got ", batch_size);
}

absl::Status Reanalyzer::Search(absl::Span<const PositionHandle> positions,
                                const ReplayBuffer& replay, int64_t env_steps) {
  const size_t batch_size = static_cast<size_t>(batch_size_);
  for (size_t begin = 0; begin < positions.size(); begin += batch_size) {
    const int64_t count = replay.ReadRoots(positions.subspan(begin, batch_size), &stored_);
    if (count > 0) LZ_RETURN_IF_ERROR(SearchBatch(static_cast<size_t>(count), env_steps));
  }
  return absl::OkStatus();
}

absl::Status Reanalyzer::SearchBatch(size_t num_roots, int64_t env_steps) {
  roots_.clear();
  for (size_t row = 0; row < num_roots; ++row) {
    const StoredRoot& stored = stored_[row];
    Root root;
    root.env = EnvId(static_cast<int32_t>(row));
    root.observations = stored.observations;
    root.actions = stored.actions;
    root.action_values = stored.action_values;
    root.step = stored.step;
    root.to_play = stored.to_play;
    root.legal_action_mask = stored.legal_action_mask;
    roots_.push_back(root);
    // Another position than the row's last one: its context is no past of this root.
    model_->EndEpisode(root.env);
  }
  LZ_RETURN_IF_ERROR(agent_->Act(*model_, roots_, ActMode::kCollect, env_steps, &decision_));
  for (size_t row = 0; row < num_roots; ++row) Keep(row);
  return absl::OkStatus();
}

void Reanalyzer::Keep(size_t row) {
  if (num_found_ == found_.size()) found_.emplace_back();
  NewSearch& found = found_[num_found_++];
  const absl::Span<const float> policy = decision_.PolicyOf(row);
  const absl::Span<const float> sampled = decision_.SampledOf(row);
  found.position = stored_[row].position;
  found.policy.assign(policy.begin(), policy.end());
  found.sampled_actions.assign(sampled.begin(), sampled.end());
  found.root_value = decision_.search.root_values[row];
  // How far it is from what was stored.
  const StoredRoot& root = stored_[row];
  ++stats_.num_positions;
  stats_.value_change_sum += std::abs(static_cast<double>(found.root_value) - root.root_value);
  stats_.age_sum += static_cast<double>(root.age);
  if (!found.sampled_actions.empty()) return;
  ++stats_.num_policy_changes;
  for (size_t a = 0; a < found.policy.size(); ++a) {
    stats_.policy_change_sum +=
        0.5 * std::abs(static_cast<double>(found.policy[a]) - root.policy[a]);
  }
}

void Reanalyzer::WriteBack(ReplayBuffer* replay) {
  replay->ReplaceSearches(absl::MakeConstSpan(found_).first(num_found_));
  num_found_ = 0;
}

ReanalyzeStats Reanalyzer::TakeStats() { return std::exchange(stats_, {}); }

}  // namespace lzero
