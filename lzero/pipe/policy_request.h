// What a program asks of a policy, read from a frame: observations of some episodes and what
// belongs to them. Pure functions; frames are not trusted.
#ifndef LZERO_PIPE_POLICY_REQUEST_H_
#define LZERO_PIPE_POLICY_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/env/env.h"
#include "lzero/pipe/frame.h"

namespace lzero {

// Sizes that decide what a request must hold.
struct PolicyShape {
  int max_batch = 1;  // episodes have numbers 0 .. max_batch - 1
  int64_t observation_size = 0;
  int num_actions = 0;     // A; 0: box actions
  int64_t action_dim = 0;  // D; 0: discrete actions
  int num_players = 1;

  static PolicyShape Of(const EnvSpec& spec, int max_batch);
};

// Rows in the order of `ids`, B of them.
struct PolicyRequest {
  std::vector<int32_t> ids;         // [B], different ones
  std::vector<int32_t> to_play;     // [B], 0 or more
  std::vector<float> observations;  // [B, observation size], finite
  // What was played since the last observation of the episode; one of them, or both empty.
  std::vector<int32_t> played;       // [B] of A
  std::vector<float> played_values;  // [B, D], finite
  std::vector<uint8_t> legal;        // [B, A], 1 = legal, at least one a row; box: empty
  std::vector<std::string> states;   // [B], or empty

  absl::Span<const float> ObservationOf(size_t b) const { return Row(observations, b); }
  absl::Span<const float> PlayedValuesOf(size_t b) const { return Row(played_values, b); }
  absl::Span<const uint8_t> LegalOf(size_t b) const { return Row(legal, b); }

 private:
  template <typename T>
  absl::Span<const T> Row(const std::vector<T>& rows, size_t b) const {
    const size_t size = rows.size() / ids.size();
    return absl::Span<const T>(rows).subspan(b * size, size);
  }
};

// Reads a frame kAct or kSearch. DataLoss where its arrays do not fill the body; InvalidArgument
// for numbers that are not allowed. Without masks every action is legal.
absl::StatusOr<PolicyRequest> ReadPolicyRequest(const Frame& frame, const PolicyShape& shape);

// Reads a frame kPolicyReset: the episodes that end; none stands for all. Errors likewise.
absl::StatusOr<std::vector<int32_t>> ReadResetRequest(const Frame& frame, const PolicyShape& shape);

}  // namespace lzero

#endif  // LZERO_PIPE_POLICY_REQUEST_H_
