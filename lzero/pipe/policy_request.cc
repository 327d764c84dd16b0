#include "lzero/pipe/policy_request.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

absl::Status Malformed(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("the frame does not hold ", what));
}

// The part of a request that `flags` announce.
absl::Status ReadArrays(const Frame& frame, const PolicyShape& shape, size_t num_rows,
                        BodyReader& body, PolicyRequest* request) {
  const size_t observations = num_rows * static_cast<size_t>(shape.observation_size);
  if (!body.Read(num_rows, &request->ids)) return Malformed("its episodes' numbers");
  if (!body.Read(num_rows, &request->to_play)) return Malformed("its players");
  if (!body.Read(observations, &request->observations)) return Malformed("its observations");
  const size_t dim = static_cast<size_t>(shape.action_dim);
  const size_t num_actions = static_cast<size_t>(shape.num_actions);
  if ((frame.flags & kHasPlayed) != 0 &&
      !(dim > 0 ? body.Read(num_rows * dim, &request->played_values)
                : body.Read(num_rows, &request->played))) {
    return Malformed("what was played");
  }
  if ((frame.flags & kHasLegal) != 0 && !body.Read(num_rows * num_actions, &request->legal)) {
    return Malformed("its masks of legal actions");
  }
  if ((frame.flags & kHasStates) != 0) {
    for (size_t b = 0; b < num_rows; ++b) {
      uint32_t size = 0;
      std::string state;
      if (!body.Read(&size) || !body.ReadText(size, &state)) return Malformed("its states");
      request->states.push_back(std::move(state));
    }
  }
  return body.at_end() ? absl::OkStatus() : absl::DataLossError("bytes follow the last array");
}

absl::Status CheckIds(absl::Span<const int32_t> ids, int max_batch) {
  std::vector<int32_t> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] < 0 || sorted[i] >= max_batch) {
      return absl::InvalidArgumentError(absl::StrCat("episode ", sorted[i], "; allowed: 0 .. ",
                                                     max_batch - 1, " (--max-batch ", max_batch,
                                                     ")"));
    }
    if (i > 0 && sorted[i] == sorted[i - 1]) {
      return absl::InvalidArgumentError(absl::StrCat("episode ", sorted[i], " is given twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFinite(absl::Span<const float> values, absl::string_view what) {
  for (const float value : values) {
    if (!std::isfinite(value)) {
      return absl::InvalidArgumentError(absl::StrCat(what, " must be finite numbers; got ", value));
    }
  }
  return absl::OkStatus();
}

// Masks become 0 and 1.
absl::Status CheckLegal(const PolicyShape& shape, PolicyRequest* request) {
  for (uint8_t& entry : request->legal) entry = entry != 0 ? 1 : 0;
  for (size_t b = 0; b < request->ids.size() && shape.num_actions > 0; ++b) {
    const auto row = request->LegalOf(b);
    if (std::find(row.begin(), row.end(), 1) == row.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("episode ", request->ids[b], " has no legal action"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRequest(const PolicyShape& shape, PolicyRequest* request) {
  LZ_RETURN_IF_ERROR(CheckIds(request->ids, shape.max_batch));
  LZ_RETURN_IF_ERROR(CheckFinite(request->observations, "observations"));
  LZ_RETURN_IF_ERROR(CheckFinite(request->played_values, "actions"));
  for (const int32_t action : request->played) {
    if (action < 0 || action >= shape.num_actions) {
      return absl::InvalidArgumentError(
          absl::StrCat("action ", action, " was played; allowed: 0 .. ", shape.num_actions - 1));
    }
  }
  for (const int32_t player : request->to_play) {
    if (player < 0 || player >= shape.num_players) {
      return absl::InvalidArgumentError(
          absl::StrCat("player ", player, "; allowed: 0 .. ", shape.num_players - 1));
    }
  }
  return CheckLegal(shape, request);
}

}  // namespace

PolicyShape PolicyShape::Of(const EnvSpec& spec, int max_batch) {
  return {max_batch, spec.observation.size(), spec.action.num_actions, spec.action.dim(),
          spec.num_players};
}

absl::StatusOr<PolicyRequest> ReadPolicyRequest(const Frame& frame, const PolicyShape& shape) {
  const uint8_t known = kHasPlayed | kHasStates | (shape.action_dim == 0 ? kHasLegal : 0) |
                        (frame.type == FrameType::kSearch ? kAlone : kObserveOnly);
  if ((frame.flags & ~known) != 0) {
    return absl::DataLossError(absl::StrCat("flags ", int{frame.flags}, "; known: ", int{known}));
  }
  BodyReader body(frame.body);
  uint32_t num_rows = 0;
  if (!body.Read(&num_rows)) return Malformed("the number of its episodes");
  const int most = frame.type == FrameType::kSearch ? 1 : shape.max_batch;
  if (num_rows < 1 || num_rows > static_cast<uint32_t>(most)) {
    return absl::InvalidArgumentError(absl::StrCat(num_rows, " episodes; allowed: 1 .. ", most));
  }
  PolicyRequest request;
  LZ_RETURN_IF_ERROR(ReadArrays(frame, shape, num_rows, body, &request));
  if (request.legal.empty()) {
    request.legal.assign(num_rows * static_cast<size_t>(shape.num_actions), 1);
  }
  LZ_RETURN_IF_ERROR(CheckRequest(shape, &request));
  return request;
}

absl::StatusOr<std::vector<int32_t>> ReadResetRequest(const Frame& frame,
                                                      const PolicyShape& shape) {
  std::vector<int32_t> ids;
  BodyReader body(frame.body);
  const bool is_read = body.Read(frame.body.size() / sizeof(int32_t), &ids);
  if (!is_read || !body.at_end() || frame.flags != 0) return Malformed("whole episodes' numbers");
  LZ_RETURN_IF_ERROR(CheckIds(ids, shape.max_batch));
  return ids;
}

}  // namespace lzero
