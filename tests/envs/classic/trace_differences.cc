#include "tests/envs/classic/trace_differences.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "absl/strings/str_cat.h"

namespace lzero {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Floats in order, as integers in order.
int64_t Rank(float value) {
  const int32_t bits = std::bit_cast<int32_t>(value);
  return bits >= 0 ? bits : -static_cast<int64_t>(bits & 0x7fffffff);
}

void CompareObservations(const std::vector<float>& got, const std::vector<float>& recorded,
                         TraceDifferences& found) {
  if (got.size() != recorded.size()) {
    found.problem = absl::StrCat(got.size(), " observed numbers, recorded ", recorded.size());
    return;
  }
  for (size_t i = 0; i < got.size(); ++i) {
    found.observation_ulp = std::max(found.observation_ulp, UlpDistance(got[i], recorded[i]));
  }
}

// The largest difference; infinite for other sizes.
double StateDifference(const Env& env, const std::vector<double>& recorded) {
  const auto got = env.GetState();
  if (!got.ok() || got->size() != recorded.size()) return kInfinity;
  double largest = 0.0;
  for (size_t i = 0; i < recorded.size(); ++i) {
    const double difference = std::fabs((*got)[i] - recorded[i]);
    largest = difference >= largest ? difference : largest;
  }
  return largest;
}

void CompareStep(const TimeStep& got, const TraceStep& recorded, bool whole,
                 TraceDifferences& found) {
  CompareObservations(got.observation, recorded.observation, found);
  const double scale = std::fmax(1.0, std::fabs(recorded.reward));
  found.reward = std::fmax(found.reward, std::fabs(got.reward - recorded.reward) / scale);
  if (got.reward != static_cast<float>(recorded.reward)) ++found.num_unequal_rewards;
  if (got.terminated != recorded.terminated || (whole && got.truncated != recorded.truncated)) {
    ++found.num_unequal_flags;
  }
}

void MeasureEpisode(Env& env, const TraceEpisode& episode, bool whole, TraceDifferences& found) {
  CompareObservations(env.Reset(episode.seed).observation, episode.observation, found);
  const double start = StateDifference(env, *episode.state);
  if (start != 0.0) ++found.num_unequal_starts;
  found.state = std::fmax(found.state, start);
  const std::vector<double>* before = &*episode.state;
  for (const TraceStep& recorded : episode.steps) {
    if (!whole) {
      const absl::Status status = env.SetState(*before);
      if (!status.ok()) found.problem = std::string(status.message());
    }
    const auto step = env.Step(recorded.action);
    if (!step.ok()) {
      found.problem = absl::StrCat("line ", recorded.line, ": ", step.status().message());
      return;
    }
    ++found.num_steps;
    CompareStep(*step, recorded, whole, found);
    found.state = std::fmax(found.state, StateDifference(env, *recorded.state));
    before = &*recorded.state;
  }
}

}  // namespace

int64_t UlpDistance(float a, float b) { return std::llabs(Rank(a) - Rank(b)); }

TraceDifferences MeasureDifferences(Env& env, const Trace& trace, bool whole) {
  TraceDifferences found;
  for (const TraceEpisode& episode : trace.episodes) {
    MeasureEpisode(env, episode, whole, found);
    if (!found.problem.empty()) break;
  }
  return found;
}

std::string TraceDifferences::Text() const {
  return absl::StrCat(num_steps, " steps: observation ", observation_ulp, " ulp, reward ", reward,
                      ", state ", state, ", unequal: ", num_unequal_starts, " starts, ",
                      num_unequal_rewards, " rewards, ", num_unequal_flags, " flags",
                      problem.empty() ? "" : "; stopped: ", problem);
}

}  // namespace lzero
