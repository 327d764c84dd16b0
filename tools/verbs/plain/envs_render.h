// `lzero envs rollout --render`: plays an environment and shows it, as text, as PNG files or as an
// animated GIF, in place of the trace. The command line is parsed elsewhere. Blocks.
#ifndef LZERO_TOOLS_VERBS_PLAIN_ENVS_RENDER_H_
#define LZERO_TOOLS_VERBS_PLAIN_ENVS_RENDER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "lzero/env/check/rollout.h"
#include "lzero/env/env.h"
#include "tools/verbs/plain/envs_verb.h"
#include "tools/verbs/support/picture_output.h"

namespace lzero {

inline constexpr absl::string_view kRolloutFormats[] = {"text", "png", "gif"};
inline constexpr int64_t kRenderedSteps = 200;  // where nothing says how many
inline constexpr int64_t kMostRenderedSteps = 5000;

// Plays as `plan` says and writes what `picture` asks for to `out_path`; "" stands for the
// console for text, otherwise for DefaultPicturePath. Text shows every state below a line that says
// how it came about. Exit codes: 0 ok, 1 nothing could be written or the environment failed,
// 2 wrong options, or an environment that does not draw itself like that.
int RenderRollout(Env& env, const RolloutOptions& plan, const PictureOptions& picture,
                  const std::string& out_path, const Console& console);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_PLAIN_ENVS_RENDER_H_
