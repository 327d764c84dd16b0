#include <algorithm>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/text/printable.h"
#include "tools/verbs/plain/envs_verb.h"
#include "tools/verbs/support/interrupt.h"

namespace lzero {
namespace {

// What was played.
struct Played {
  int64_t num_steps = 0;
  int64_t num_ended = 0;

  void Add(const RolloutEvent& event) {
    if (event.action != nullptr) ++num_steps;
    if (event.seen.ended()) ++num_ended;
  }
};

std::string HeadLine(const RolloutEvent& event, ActionKind kind) {
  if (event.action == nullptr) {
    return absl::StrCat("episode ", event.episode, ", seed ", event.seed, "\n");
  }
  const std::string action = kind == ActionKind::kDiscrete
                                 ? absl::StrCat(event.action->index)
                                 : absl::StrJoin(event.action->values, " ");
  return absl::StrCat("step ", event.t, ", action ", action, ", reward ", event.seen.reward,
                      ", return ", event.seen.episode_return,
                      event.seen.terminated  ? " (terminated)"
                      : event.seen.truncated ? " (truncated)"
                                             : "",
                      "\n");
}

absl::Status RenderText(Env& env, const RolloutOptions& plan, const std::string& out_path,
                        const Console& console) {
  Played played;
  std::string whole;  // for a file, which is written at the end
  LZ_RETURN_IF_ERROR(PlayRollout(env, plan, [&](const RolloutEvent& event) -> absl::Status {
    played.Add(event);
    LZ_ASSIGN_OR_RETURN(const std::string picture, env.RenderText());
    const std::string text = absl::StrCat(HeadLine(event, env.spec().action.kind), picture, "\n");
    if (out_path.empty()) {
      console.out << text;
    } else {
      whole += text;
    }
    return absl::OkStatus();
  }));
  if (out_path.empty()) return absl::OkStatus();
  LZ_RETURN_IF_ERROR(WriteOutput(out_path, whole));
  console.out << env.spec().id << ": " << played.num_steps << " steps, " << played.num_ended
              << " episodes ended, written to " << out_path << "\n";
  return absl::OkStatus();
}

absl::Status RenderPictures(Env& env, const RolloutOptions& plan, const PictureOptions& picture,
                            const std::string& out_path, const Console& console) {
  LZ_ASSIGN_OR_RETURN(
      const std::unique_ptr<PictureRecorder> recorder,
      PictureRecorder::Create(picture, out_path, env.spec(), {2 * kMostRenderedSteps}));
  Played played;
  const absl::Status end = PlayRollout(env, plan, [&](const RolloutEvent& event) -> absl::Status {
    if (recorder->is_full()) return absl::CancelledError();
    played.Add(event);
    return recorder->Add(env, event.seen.ended());
  });
  if (recorder->is_full() && absl::IsCancelled(end)) {
    console.err << "note: stopped after " << played.num_steps << " of " << plan.num_steps
                << " steps: the pictures fill the memory that they may take\n";
  } else {
    LZ_RETURN_IF_ERROR(end);
  }
  LZ_ASSIGN_OR_RETURN(const std::string written, recorder->Finish());
  console.out << env.spec().id << ": " << played.num_steps << " steps, " << played.num_ended
              << " episodes ended, written to " << written << "\n";
  return absl::OkStatus();
}

}  // namespace

int RenderRollout(Env& env, const RolloutOptions& plan, const PictureOptions& picture,
                  const std::string& out_path, const Console& console) {
  absl::Status status;
  if (plan.num_steps > kMostRenderedSteps) {
    status = absl::InvalidArgumentError(
        absl::StrCat(plan.num_steps, " steps are to be played; allowed with --render: 1 to ",
                     kMostRenderedSteps, ", see --steps"));
  } else if (picture.format == "text") {
    status = RenderText(env, plan, out_path, console);
  } else {
    status = RenderPictures(env, plan, picture, out_path, console);
  }
  if (status.ok()) return 0;
  console.err << "error: " << PrintableMessage(status.message()) << "\n";
  return ExitCodeOf(status);
}

}  // namespace lzero
