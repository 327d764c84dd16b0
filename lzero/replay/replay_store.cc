#include "lzero/replay/replay_store.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/replay/replay_plan.h"

namespace lzero {
namespace {

std::string NameOf(EnvId env) { return absl::StrCat("environment ", env.value); }

}  // namespace

ReplayStore::ReplayStore(const ReplayConfig& config, const ReplayShape& shape)
    : config_(config),
      max_bytes_(config.max_mebibytes << 20),
      horizon_(ReplayHorizon(config)),
      fixed_bytes_(ReplayFixedBytes(config, shape)),
      shape_(ReplaySegmentShape(config, shape)),
      rule_(static_cast<int>(config.td_steps), config.discount, ValueBootstrap::kSearch),
      window_reader_(static_cast<int>(config.td_steps) + 1),
      index_(static_cast<int>(ReplayMaxTransitions(config, shape))),
      open_(shape.num_envs) {}

double ReplayStore::WeightOf(double priority) const {
  if (!config_.prioritized) return 1.0;
  // The upper bound keeps the sum of all weights finite.
  return std::min(std::pow(std::max(priority, 1e-6), config_.priority_exponent), 1e200);
}

int64_t ReplayStore::num_segments() const {
  int64_t num_open = 0;
  for (const auto& segment : open_) num_open += segment != nullptr;
  return static_cast<int64_t>(finished_.size()) + num_open;
}

std::unique_ptr<GameSegment> ReplayStore::MakeSegment(int max_steps, EnvId env, int64_t episode,
                                                      int64_t first_step) const {
  return std::make_unique<GameSegment>(shape_, max_steps, env, episode, first_step);
}

absl::Status ReplayStore::BeginEpisode(EnvId env, absl::Span<const float> observation,
                                       absl::Span<const uint8_t> legal_action_mask, int to_play) {
  LZ_CHECK(env.value >= 0 && env.value < static_cast<int>(open_.size()), "environment ", env.value,
           " of ", open_.size());
  std::unique_ptr<GameSegment> first =
      MakeSegment(max_steps(), env, counters_.num_episodes_begun, 0);
  LZ_RETURN_IF_ERROR(
      Annotate(first->SetFirstObservation(observation, legal_action_mask, to_play), NameOf(env)));
  std::unique_ptr<GameSegment>& open = open_[env.value];
  if (open != nullptr && open->num_steps() > 0) {
    Finish(env, SegmentEnd::kAbandoned);
  } else if (open != nullptr && open->previous() != nullptr) {
    GameSegment* last = open->previous();
    last->set_end(SegmentEnd::kAbandoned);
    GameSegment::Link(last, nullptr);
  }
  ++counters_.num_episodes_begun;
  open = std::move(first);
  return absl::OkStatus();
}

absl::Status ReplayStore::Append(EnvId env, const Transition& step) {
  LZ_CHECK(env.value >= 0 && env.value < static_cast<int>(open_.size()), "environment ", env.value,
           " of ", open_.size());
  GameSegment* segment = open_[env.value].get();
  LZ_CHECK(segment != nullptr, "environment ", env.value, " has no episode: call BeginEpisode");
  // Store the transition under a leaf.
  MakeRoom(1, 0);
  const int leaf = index_.Allocate({segment, segment->num_steps()});
  const absl::Status added = segment->Append(step, leaf, counters_.num_appended);
  if (!added.ok()) {
    index_.Release(leaf);
    return Annotate(added, NameOf(env));
  }
  segment->SetSearchTime(segment->num_steps() - 1, counters_.num_sampled);
  ++counters_.num_appended;
  const int64_t length = segment->first_step() + segment->num_steps();

  // The end of an episode makes all of its positions eligible.
  if (step.terminated || step.truncated) {
    ++counters_.num_episodes_ended;
    Finish(env, step.terminated ? SegmentEnd::kTerminated : SegmentEnd::kTruncated);
    MarkEligible(segment, std::max<int64_t>(0, length - horizon_), length - 1);
    return absl::OkStatus();
  }
  // Otherwise one more position is eligible, and a full segment gets a successor.
  if (length >= horizon_) MarkEligible(segment, length - horizon_, length - horizon_);
  if (segment->num_steps() == max_steps()) {
    Finish(env, SegmentEnd::kRunsOn);
    open_[env.value] = MakeSegment(max_steps(), env, segment->episode(), length);
    open_[env.value]->SetFirstObservationFrom(*segment);
    open_[env.value]->SetContextFrom(*segment);
    GameSegment::Link(segment, open_[env.value].get());
  }
  return absl::OkStatus();
}

void ReplayStore::Finish(EnvId env, SegmentEnd end) {
  std::unique_ptr<GameSegment> segment = std::move(open_[env.value]);
  MakeRoom(0, GameSegment::BytesFor(shape_, segment->num_steps(), segment->first_step()));
  segment->set_end(end);
  segment->ShrinkToFit();
  Restore(std::move(segment), /*is_open=*/false);
}

void ReplayStore::MakeRoom(int64_t more_transitions, int64_t more_bytes) {
  while (num_transitions() + more_transitions > index_.num_leaves() ||
         bytes() + more_bytes > max_bytes_) {
    EvictOldest();
  }
}

void ReplayStore::EvictOldest() {
  LZ_CHECK(!finished_.empty(), "unfinished segments alone are over the limit");
  const std::unique_ptr<GameSegment> segment = std::move(finished_.front());
  finished_.pop_front();
  // From the last leaf to the first, so that they are taken again in order.
  const absl::Span<const int32_t> leaves = segment->leaves();
  for (size_t i = leaves.size(); i > 0; --i) index_.Release(leaves[i - 1]);
  finished_bytes_ -= GameSegment::BytesFor(shape_, segment->num_steps(), segment->first_step());
  GameSegment::Link(nullptr, segment->next());
}

double ReplayStore::InitialPriority(const PositionIndex::Place& place) {
  if (!shape_.has_network_values) return counters_.max_priority;
  const StepWindow window = window_reader_.Read(place);
  TargetTerms terms = {static_cast<int>(config_.td_steps)};
  // With one unrolled step the search to bootstrap from may not be known yet.
  const int num_known = static_cast<int>(window.rewards.size());
  const bool ends = window.end == SegmentEnd::kTerminated || window.end == SegmentEnd::kTruncated;
  if (!ends) terms.td_steps = std::min(terms.td_steps, std::max(1, num_known - 1));
  const float value = place.segment->Rows<float>(Stored::kNetworkValue)[place.step];
  return std::abs(static_cast<double>(value) - rule_.Compute(window, 0, terms).partial_return);
}

void ReplayStore::MarkEligible(GameSegment* tail, int64_t first, int64_t last) {
  if (config_.sample_from == SampleFrom::kEpisodeStarts) last = std::min<int64_t>(last, 0);
  for (GameSegment* segment = tail; segment != nullptr; segment = segment->previous()) {
    const int64_t begin = segment->first_step();
    const absl::Span<const int32_t> leaves = segment->leaves();
    const int64_t stop = std::min(last + 1, begin + static_cast<int64_t>(leaves.size()));
    for (int64_t position = std::max(first, begin); position < stop; ++position) {
      const auto step = static_cast<int32_t>(position - begin);
      index_.SetWeight(leaves[step], WeightOf(InitialPriority({segment, step})));
    }
    if (begin <= first) return;
  }
}

bool ReplayStore::IsEligible(int64_t position, int64_t length, SegmentEnd end) const {
  if (config_.sample_from == SampleFrom::kEpisodeStarts && position != 0) return false;
  const bool ended = end == SegmentEnd::kTerminated || end == SegmentEnd::kTruncated;
  return ended || position + horizon_ <= length;
}

void ReplayStore::Restore(std::unique_ptr<GameSegment> segment, bool is_open) {
  if (is_open) {
    open_[segment->env().value] = std::move(segment);
    return;
  }
  finished_bytes_ += GameSegment::BytesFor(shape_, segment->num_steps(), segment->first_step());
  finished_.push_back(std::move(segment));
}

bool ReplayStore::FitsFinished(int num_steps, int64_t first_step) const {
  return bytes() + GameSegment::BytesFor(shape_, num_steps, first_step) <= max_bytes_;
}

}  // namespace lzero
