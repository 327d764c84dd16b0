#include "lzero/pipe/env_server.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

std::string TimeStepFrame(const TimeStep& step) {
  const uint8_t ends[4] = {step.terminated, step.truncated, step.interrupted, 0};
  return FrameWriter(FrameType::kTimeStep)
      .Add(absl::MakeConstSpan(ends))
      .Add(static_cast<int32_t>(step.to_play))
      .Add(step.reward)
      .Add(step.chance_outcome)
      .Add(step.episode_return)
      .Add(absl::MakeConstSpan(step.observation))
      .Add(absl::MakeConstSpan(step.legal_action_mask))
      .Take();
}

absl::StatusOr<std::string> BytesFrame(const absl::StatusOr<std::string>& bytes) {
  LZ_RETURN_IF_ERROR(bytes.status());
  return FrameWriter(FrameType::kBytes).AddText(*bytes).Take();
}

absl::Status CheckEmpty(const Frame& frame) {
  if (frame.body.empty() && frame.flags == 0) return absl::OkStatus();
  return absl::DataLossError("this request has no body and no flags");
}

}  // namespace

absl::StatusOr<Action> ReadAction(const Frame& frame, const ActionSpec& spec) {
  Action action;
  BodyReader body(frame.body);
  const bool is_read = spec.kind == ActionKind::kDiscrete
                           ? body.Read(&action.index)
                           : body.Read(static_cast<size_t>(spec.dim()), &action.values);
  if (is_read && body.at_end() && frame.flags == 0) return action;
  return absl::DataLossError(absl::StrCat(
      "an action of ", frame.body.size(),
      " bytes; allowed: ", spec.kind == ActionKind::kDiscrete ? 1 : spec.dim(), " times 4"));
}

absl::StatusOr<std::string> EnvServer::Answer(const Frame& request) {
  switch (request.type) {
    case FrameType::kEnvReset:
      return Reset(request);
    case FrameType::kStep:
      return Step(request);
    case FrameType::kSave:
      LZ_RETURN_IF_ERROR(CheckEmpty(request));
      return BytesFrame(env_->Save());
    case FrameType::kText:
      LZ_RETURN_IF_ERROR(CheckEmpty(request));
      return BytesFrame(env_->RenderText());
    case FrameType::kPicture:
      LZ_RETURN_IF_ERROR(CheckEmpty(request));
      return Picture();
    default:
      return absl::DataLossError(
          absl::StrCat("an environment answers no frame of type ", static_cast<int>(request.type)));
  }
}

absl::StatusOr<std::string> EnvServer::Reset(const Frame& frame) {
  BodyReader body(frame.body);
  uint64_t seed = 0;
  if (!body.Read(&seed) || !body.at_end() || frame.flags != 0) {
    return absl::DataLossError(absl::StrCat("a seed of ", frame.body.size(), " bytes; allowed: 8"));
  }
  return TimeStepFrame(env_->Reset(seed));
}

absl::StatusOr<std::string> EnvServer::Step(const Frame& frame) {
  LZ_ASSIGN_OR_RETURN(const Action action, ReadAction(frame, env_->spec().action));
  LZ_ASSIGN_OR_RETURN(const TimeStep step, env_->Step(action));
  return TimeStepFrame(step);
}

absl::StatusOr<std::string> EnvServer::Picture() const {
  LZ_ASSIGN_OR_RETURN(const Image picture, env_->RenderRgb());
  return FrameWriter(FrameType::kPixels)
      .Add(static_cast<uint32_t>(picture.width))
      .Add(static_cast<uint32_t>(picture.height))
      .Add(absl::MakeConstSpan(picture.pixels))
      .Take();
}

}  // namespace lzero
