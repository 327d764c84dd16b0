#include "tools/verbs/report_pictures.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/picture/picture_file.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/family/tensor_families.h"
#include "lzero/player/agent_loader.h"
#include "lzero/run/progress.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

constexpr size_t kMostFrames = 256;
constexpr int64_t kEndHoldMs = 1500;

// Frames of one episode; every `stride`-th step of a long one.
class Film {
 public:
  absl::Status Add(const Env& env, bool is_end) {
    ++num_seen_;
    if ((num_seen_ - 1) % stride_ != 0 && !is_end) return absl::OkStatus();
    LZ_ASSIGN_OR_RETURN(Image image, env.RenderRgb());
    frames_.push_back(std::move(image));
    if (frames_.size() > kMostFrames) Thin();
    return absl::OkStatus();
  }

  // The GIF, thinned until it fits; "" if even two pictures do not.
  absl::StatusOr<std::string> Encode(int64_t delay_ms, size_t most_bytes) {
    while (true) {
      GifAnimation animation;
      for (const Image& frame : frames_) {
        const bool is_last = &frame == &frames_.back();
        LZ_RETURN_IF_ERROR(animation.Add(frame, is_last ? kEndHoldMs : delay_ms * stride_));
      }
      LZ_ASSIGN_OR_RETURN(std::string gif, animation.Encode());
      if (gif.size() <= most_bytes) return gif;
      if (frames_.size() <= 2) return "";
      Thin();
    }
  }

  int64_t num_steps() const { return num_seen_ - 1; }

 private:
  // Every second frame and the last one stay.
  void Thin() {
    std::vector<Image> kept;
    for (size_t i = 0; i < frames_.size(); i += 2) kept.push_back(std::move(frames_[i]));
    if (frames_.size() % 2 == 0) kept.push_back(std::move(frames_.back()));
    frames_ = std::move(kept);
    stride_ *= 2;
  }

  std::vector<Image> frames_;
  int64_t stride_ = 1;
  int64_t num_seen_ = 0;
};

const RunRecord* MedianRun(const RunGroup& group) {
  std::vector<const RunRecord*> runs;
  for (const RunRecord& run : group.runs) {
    if (!run.evaluations.empty()) runs.push_back(&run);
  }
  std::sort(runs.begin(), runs.end(), [](const RunRecord* a, const RunRecord* b) {
    return FinalReturn(*a) < FinalReturn(*b);
  });
  return runs.empty() ? nullptr : runs[(runs.size() - 1) / 2];
}

struct ChosenEpisode {
  const char* name;
  EpisodeRow row;
};

// At most three, the same one never twice.
std::vector<ChosenEpisode> Choose(std::vector<EpisodeRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const EpisodeRow& a, const EpisodeRow& b) {
    return a.episode_return < b.episode_return;
  });
  std::vector<ChosenEpisode> chosen = {{"best", rows.back()}};
  if (rows.size() > 2) chosen.insert(chosen.begin(), {"median", rows[(rows.size() - 1) / 2]});
  if (rows.size() > 1) chosen.insert(chosen.begin(), {"worst", rows.front()});
  return chosen;
}

std::string CaptionOf(const ChosenEpisode& episode, const EvaluatedEpisode* played,
                      int64_t num_steps) {
  std::string text = absl::StrFormat("%s: seed %d, return %g", episode.name, episode.row.seed,
                                     episode.row.episode_return);
  if (played == nullptr) return absl::StrCat(text, "; its first ", num_steps, " steps");
  absl::StrAppend(&text, ", ", played->length, played->length == 1 ? " step" : " steps");
  if (played->episode_return != episode.row.episode_return) {
    absl::StrAppendFormat(&text, "; played again it gave %g", played->episode_return);
  }
  return text;
}

absl::Status Play(const RunRecord& run, size_t most_bytes, double most_seconds,
                  const std::atomic<bool>* stop, GroupPictures* pictures) {
  ThreadPool pool(1);
  LoadAgentOptions options;
  options.make_engine = MakeEngine;
  options.num_envs = 1;  // so that all is seen of environment 0
  options.device = Device::kCpu;
  LZ_ASSIGN_OR_RETURN(LoadedAgent agent, LoadAgent(run.path, MakeRegistry(), options, &pool));
  // The evaluation that this checkpoint was judged by.
  const EvaluationSummary* evaluation = &run.evaluations.back();
  for (const EvaluationSummary& one : run.evaluations) {
    if (one.env_steps == agent.env_steps) evaluation = &one;
  }
  LZ_ASSIGN_OR_RETURN(std::vector<EpisodeRow> rows, ReadEpisodes(evaluation->folder));
  const size_t num_episodes = rows.size();
  const std::vector<ChosenEpisode> chosen = Choose(std::move(rows));
  pictures->source = absl::StrFormat(
      "seed %d, the run with the median final return: its checkpoint of %s env steps plays the "
      "worst, median and best of %d episodes of the evaluation at %s env steps again",
      run.config.seed, FormatCount(agent.env_steps), num_episodes,
      FormatCount(evaluation->env_steps));
  // Play; an episode that does not end in time is shown as far as it went.
  std::vector<uint64_t> seeds;
  for (const ChosenEpisode& episode : chosen) seeds.push_back(episode.row.seed);
  std::vector<Film> films(1);
  absl::Status error;
  const double start = MonotonicSeconds();
  const auto on_step = [&](Env& env, const TimeStep& seen) {
    if (error.ok()) error = films.back().Add(env, seen.ended());
    if (seen.ended() && films.size() < seeds.size()) films.emplace_back();
  };
  std::vector<EvaluatedEpisode> played;
  const auto result = agent.role.evaluator->Run(
      seeds, on_step,
      [&] { return stop->load() || !error.ok() || MonotonicSeconds() - start > most_seconds; },
      [&](const EvaluatedEpisode& episode) { played.push_back(episode); });
  LZ_RETURN_IF_ERROR(error);
  if (!result.ok() && !absl::IsCancelled(result.status())) return result.status();
  const int64_t delay_ms = agent.role.evaluator->spec().num_players == 2 ? 500 : 60;
  for (size_t i = 0; i < films.size() && films[i].num_steps() > 0; ++i) {
    const EvaluatedEpisode* whole = i < played.size() ? &played[i] : nullptr;
    const std::string caption = CaptionOf(chosen[i], whole, films[i].num_steps());
    LZ_ASSIGN_OR_RETURN(std::string gif, films[i].Encode(delay_ms, most_bytes));
    if (!gif.empty()) pictures->episodes.push_back({caption, std::move(gif)});
  }
  return absl::OkStatus();
}

}  // namespace

GroupPictures PlayPictures(const RunGroup& group, size_t most_bytes, double most_seconds,
                           const std::atomic<bool>* stop) {
  GroupPictures pictures;
  const RunRecord* run = MedianRun(group);
  if (run == nullptr) {
    pictures.problem = "no pictures: no run was evaluated";
    return pictures;
  }
  const absl::Status status = Play(*run, most_bytes, most_seconds, stop, &pictures);
  if (!status.ok()) {
    pictures.problem = absl::StrCat("no pictures: ", run->path, ": ", status.message());
  } else if (pictures.episodes.empty()) {
    pictures.problem =
        absl::StrCat("no pictures: those of ", run->path, " are too large or take too long");
  }
  return pictures;
}

}  // namespace lzero
