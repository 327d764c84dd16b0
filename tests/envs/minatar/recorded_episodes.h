// Episodes that tools/record/record_minatar_traces.py wrote with the reference, as actions and
// checksums: reads the file and plays them. Functions without state, no thread rule.
#ifndef LZERO_TESTS_ENVS_MINATAR_RECORDED_EPISODES_H_
#define LZERO_TESTS_ENVS_MINATAR_RECORDED_EPISODES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/env_registry.h"

namespace lzero {

struct RecordedEpisode {
  std::string name;  // the line that introduces it
  std::string env;
  uint64_t seed = 0;
  EnvSettingTexts settings;
  std::string actions;            // a digit each
  std::vector<std::string> sums;  // of kStepsOfSum steps each
};

inline constexpr size_t kStepsOfSum = 25;

// Blocks of "episode ENV SEED setting=value ...", "actions ...", "sums ..." and an empty line.
// InvalidArgument names the line that is something else.
inline absl::StatusOr<std::vector<RecordedEpisode>> ParseRecordedEpisodes(const std::string& text) {
  std::vector<RecordedEpisode> episodes;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    RecordedEpisode episode;
    if (words[0] == "episode" && words.size() >= 3 && absl::SimpleAtoi(words[2], &episode.seed)) {
      episode.name = std::string(line);
      episode.env = words[1];
      for (size_t i = 3; i < words.size(); ++i) {
        episode.settings.insert(absl::StrSplit(words[i], absl::MaxSplits('=', 1)));
      }
      episodes.push_back(std::move(episode));
    } else if (words[0] == "actions" && words.size() == 2 && !episodes.empty()) {
      episodes.back().actions = words[1];
    } else if (words[0] == "sums" && !episodes.empty()) {
      episodes.back().sums.assign(words.begin() + 1, words.end());
    } else {
      return absl::InvalidArgumentError(absl::StrCat("not a line of an episode: ", line));
    }
  }
  return episodes;
}

// An observation of zeros and ones, eight a byte, the first one highest.
inline std::string PackedBits(const std::vector<float>& observation) {
  std::string bytes((observation.size() + 7) / 8, '\0');
  for (size_t i = 0; i < observation.size(); ++i) {
    if (observation[i] == 1.0f) bytes[i / 8] = static_cast<char>(bytes[i / 8] | 128 >> i % 8);
  }
  return bytes;
}

// Which steps differ from what the environment does, the first ones; "" when all agree.
inline absl::StatusOr<std::string> FirstDifference(const EnvRegistry& registry,
                                                   const RecordedEpisode& episode) {
  EnvOptions options;
  options.settings = episode.settings;
  LZ_ASSIGN_OR_RETURN(const std::unique_ptr<Env> env, registry.Make(episode.env, options));
  std::string bytes = PackedBits(env->Reset(episode.seed).observation);
  for (size_t t = 0; t < episode.actions.size(); ++t) {
    LZ_ASSIGN_OR_RETURN(const TimeStep step, env->Step(Action::Discrete(episode.actions[t] - '0')));
    absl::StrAppend(
        &bytes, PackedBits(step.observation),
        std::string{static_cast<char>(step.reward), static_cast<char>(step.terminated)});
    const size_t sum = t / kStepsOfSum;
    if (t + 1 < episode.actions.size() && (t + 1) % kStepsOfSum != 0) continue;
    if (sum >= episode.sums.size() || absl::StrFormat("%08x", Crc32c(bytes)) != episode.sums[sum]) {
      return absl::StrCat(episode.name, ": steps ", sum * kStepsOfSum, " .. ", t, " differ");
    }
    bytes.clear();
  }
  return "";
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_MINATAR_RECORDED_EPISODES_H_
