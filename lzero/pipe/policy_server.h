// Answers another program's questions to an agent (frames kPolicyReset, kAct, kSearch): keeps the
// episodes that the program plays and searches as an evaluation does. Knows no pipe
// (frame_server.h) and no network. One thread.
#ifndef LZERO_PIPE_POLICY_SERVER_H_
#define LZERO_PIPE_POLICY_SERVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/agent/agent.h"
#include "lzero/env/env.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/pipe/frame.h"
#include "lzero/pipe/policy_request.h"
#include "lzero/worker/episode_tracker.h"

namespace lzero {

class PolicyServer {
 public:
  // `spec` of the environment, `max_past_steps` that a root needs, `max_batch` episodes at once.
  // The searcher of `agent` and the `model` that answers it must have room for max_batch + 1 roots:
  // kSearch takes the last one. Both outlive the server.
  PolicyServer(const EnvSpec& spec, int64_t max_past_steps, int max_batch, Agent* agent,
               InferenceModel* model);

  // The frame that answers `request`. DataLoss, InvalidArgument and FailedPrecondition as
  // FrameAnswerer says; Unimplemented for kSearch of a searcher that keeps no tree here; errors of
  // the search.
  absl::StatusOr<std::string> Answer(const Frame& request);

 private:
  struct Episode {
    EpisodeTracker tracker;
    bool has_begun = false;
    bool has_decided = false;        // `action` is what was decided at the newest observation
    int32_t action = 0;              // as Decision::actions
    std::vector<float> values = {};  // [D] in [-1, 1]
  };

  absl::StatusOr<std::string> Reset(const Frame& frame);
  absl::StatusOr<std::string> Act(const Frame& frame);
  absl::StatusOr<std::string> Search(const Frame& frame);
  // FailedPrecondition, naming the episode, for row `b` of a request that does not say enough.
  absl::Status Check(const PolicyRequest& request, size_t b, bool decides, bool is_alone) const;
  // Adds the observation of row `b` to the past of `episode`.
  void Observe(const PolicyRequest& request, size_t b, Episode* episode) const;
  Root MakeRoot(const PolicyRequest& request, size_t b, EnvId env,
                const EpisodeTracker& tracker) const;
  // The body of a decision about rows of `decision_`.
  void AddDecision(double seconds, FrameWriter* frame) const;
  void AddTree(FrameWriter* frame) const;

  const EnvSpec spec_;
  const PolicyShape shape_;
  Agent* const agent_;
  InferenceModel* const model_;
  const Episode fresh_;
  std::vector<Episode> episodes_;  // [max_batch]
  Decision decision_;
};

}  // namespace lzero

#endif  // LZERO_PIPE_POLICY_SERVER_H_
