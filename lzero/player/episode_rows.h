// Episodes of an evaluation as rows of tables and summaries. Pure.
#ifndef LZERO_PLAYER_EPISODE_ROWS_H_
#define LZERO_PLAYER_EPISODE_ROWS_H_

#include <vector>

#include "lzero/run/evaluation_files.h"
#include "lzero/worker/evaluator.h"

namespace lzero {

inline std::vector<EpisodeRow> ToRows(const std::vector<EvaluatedEpisode>& episodes) {
  std::vector<EpisodeRow> rows;
  for (const EvaluatedEpisode& episode : episodes) {
    rows.push_back({episode.seed, episode.episode_return, episode.length, episode.terminated,
                    episode.truncated});
  }
  return rows;
}

}  // namespace lzero

#endif  // LZERO_PLAYER_EPISODE_ROWS_H_
