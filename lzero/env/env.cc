#include "lzero/env/env.h"

#include "absl/strings/str_cat.h"

namespace lzero {
namespace {

absl::Status CannotDo(const Env& env, absl::string_view what) {
  return absl::UnimplementedError(absl::StrCat("environment '", env.spec().id, "' cannot ", what));
}

}  // namespace

absl::StatusOr<std::string> Env::Save() const { return CannotDo(*this, "save its state"); }

absl::Status Env::Load(const std::string&) { return CannotDo(*this, "load a saved state"); }

absl::StatusOr<std::vector<double>> Env::GetState() const {
  return CannotDo(*this, "give a physics state");
}

absl::Status Env::SetState(const std::vector<double>&) {
  return CannotDo(*this, "take a physics state");
}

absl::StatusOr<std::vector<ChanceOutcome>> Env::ChanceOutcomes(const Action&) const {
  return CannotDo(*this, "list chance outcomes");
}

absl::StatusOr<TimeStep> Env::StepWithOutcome(const Action&, int32_t) {
  return CannotDo(*this, "take a chosen chance outcome");
}

absl::StatusOr<std::string> Env::RenderText() const {
  return CannotDo(*this, "draw itself as text");
}

absl::StatusOr<Image> Env::RenderRgb() const { return CannotDo(*this, "draw a picture"); }

}  // namespace lzero
