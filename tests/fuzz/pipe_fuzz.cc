// libFuzzer target of the frames that other programs send: any bytes give a request that makes
// sense or an error, for policies and environments of either kind of action.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "lzero/base/check.h"
#include "lzero/pipe/env_server.h"
#include "lzero/pipe/frame.h"
#include "lzero/pipe/policy_request.h"

namespace lzero {
namespace {

void CheckPolicyRequest(const Frame& frame, const PolicyShape& shape) {
  const auto request = ReadPolicyRequest(frame, shape);
  LZ_CHECK(request.ok() || !request.status().message().empty(), "an error without a message");
  if (!request.ok()) return;
  const size_t num_rows = request->ids.size();
  LZ_CHECK(num_rows >= 1 && num_rows <= static_cast<size_t>(shape.max_batch), num_rows);
  LZ_CHECK(request->to_play.size() == num_rows, request->to_play.size());
  for (size_t b = 0; b < num_rows; ++b) {
    LZ_CHECK(request->ids[b] >= 0 && request->ids[b] < shape.max_batch, request->ids[b]);
    LZ_CHECK(request->to_play[b] >= 0 && request->to_play[b] < shape.num_players, b);
    const auto observation = request->ObservationOf(b);
    LZ_CHECK(static_cast<int64_t>(observation.size()) == shape.observation_size, b);
    LZ_CHECK(std::all_of(observation.begin(), observation.end(),
                         [](float value) { return std::isfinite(value); }),
             "an observation that is not finite");
    const auto legal = request->LegalOf(b);
    LZ_CHECK(legal.size() == static_cast<size_t>(shape.num_actions), legal.size());
    LZ_CHECK(legal.empty() || std::count(legal.begin(), legal.end(), 1) > 0, "nothing is legal");
  }
  LZ_CHECK(request->states.empty() || request->states.size() == num_rows, "states");
  for (const int32_t action : request->played) {
    LZ_CHECK(action >= 0 && action < shape.num_actions, action);
  }
}

void CheckReset(const Frame& frame, const PolicyShape& shape) {
  const auto ids = ReadResetRequest(frame, shape);
  LZ_CHECK(!ids.ok() || ids->size() <= static_cast<size_t>(shape.max_batch), "too many episodes");
}

void CheckFrame(const Frame& frame) {
  for (const PolicyShape& shape : {PolicyShape{4, 2, 3, 0, 2}, PolicyShape{2, 3, 0, 2, 1}}) {
    CheckPolicyRequest(frame, shape);
    CheckReset(frame, shape);
  }
  ActionSpec discrete, box;
  discrete.num_actions = 3;
  box.kind = ActionKind::kBox;
  box.low = {-1.0f, -1.0f};
  box.high = {1.0f, 1.0f};
  const auto values = ReadAction(frame, box);
  LZ_CHECK(!values.ok() || values->values.size() == 2, "a box action of another size");
  ReadAction(frame, discrete).IgnoreError();
}

}  // namespace
}  // namespace lzero

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const auto frame = lzero::ReadFrame({reinterpret_cast<const char*>(bytes), size});
  if (frame.ok()) lzero::CheckFrame(*frame);
  return 0;
}
