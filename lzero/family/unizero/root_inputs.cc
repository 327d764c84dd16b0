#include "lzero/family/unizero/root_inputs.h"

#include <algorithm>

#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

Staging Zeros(const char* name, at::IntArrayRef shape, at::ScalarType type, at::Device device) {
  return Staging::Wrap(name, at::zeros(shape, at::TensorOptions().dtype(type).device(device)));
}

// Room for `count` actions: `type` of discrete ones.
Staging StageActions(const char* name, int64_t count, int64_t action_dim, at::ScalarType type,
                     at::Device device) {
  if (action_dim > 0) return Zeros(name, {count, action_dim}, at::kFloat, device);
  return Zeros(name, {count}, type, device);
}

int64_t NumSteps(const RootInputsShape& shape) {
  return shape.max_roots * (shape.max_past_steps + 1);
}

}  // namespace

RootInputs::RootInputs(const RootInputsShape& shape, at::Device device)
    : shape_(shape),
      observations_(Zeros("observations of roots", {NumSteps(shape), shape.observation_size},
                          at::kFloat, device)),
      actions_(StageActions("past actions of roots", NumSteps(shape), shape.action_dim, at::kInt,
                            device)),
      padding_(Zeros("padding of roots", {shape.max_roots}, at::kLong, device)),
      newest_actions_(StageActions("newest actions of roots", shape.max_roots, shape.action_dim,
                                   at::kLong, device)) {}

int64_t RootInputs::Bytes(const RootInputsShape& shape) {
  const auto float_size = static_cast<int64_t>(sizeof(float));
  // An int32 and a discrete action of 64 bits, or D floats each.
  const int64_t words = std::max<int64_t>(1, shape.action_dim);
  const int64_t newest = std::max<int64_t>(2, shape.action_dim) * float_size;
  return NumSteps(shape) * (shape.observation_size + words) * float_size +
         shape.max_roots * (static_cast<int64_t>(sizeof(int64_t)) + newest);
}

void RootInputs::PutActions(const Root& root, int64_t past, int64_t first) {
  const int64_t dim = shape_.action_dim;
  if (dim == 0) {
    std::copy_n(root.actions.end() - past, past, host_actions_.begin() + first);
    return;
  }
  LZ_CHECK(static_cast<int64_t>(root.action_values.size()) >= past * dim, root.action_values.size(),
           " numbers for ", past, " actions of ", dim);
  std::copy_n(root.action_values.end() - past * dim, past * dim,
              host_action_values_.begin() + first * dim);
}

absl::StatusOr<RootPasts> RootInputs::StagePasts(absl::Span<const Root> roots,
                                                 absl::Span<const int> rows, int64_t least_past) {
  const auto num_rows = static_cast<int64_t>(rows.size());
  const int64_t size = shape_.observation_size;
  // Room for the longest past, zeros before shorter ones.
  int64_t num_past = least_past;
  for (const int row : rows) {
    num_past = std::max(num_past, static_cast<int64_t>(roots[row].actions.size()));
  }
  num_past = std::min(num_past, shape_.max_past_steps);
  host_observations_.assign(num_rows * (num_past + 1) * size, 0.0f);
  const int64_t num_steps = num_rows * (num_past + 1);
  host_actions_.assign(num_steps, 0);
  host_action_values_.assign(num_steps * shape_.action_dim, 0.0f);
  host_numbers_.assign(num_rows, 0);
  // Pack the pasts, right-aligned.
  std::vector<int64_t> past_tokens;
  for (int64_t i = 0; i < num_rows; ++i) {
    const Root& root = roots[rows[i]];
    const int64_t past = std::min(num_past, static_cast<int64_t>(root.actions.size()));
    LZ_CHECK(static_cast<int64_t>(root.observations.size()) >= (past + 1) * size,
             root.observations.size(), " numbers for ", past + 1, " observations of ", size);
    const int64_t first = i * (num_past + 1) + num_past - past;
    std::copy_n(root.observations.end() - (past + 1) * size, (past + 1) * size,
                host_observations_.begin() + first * size);
    PutActions(root, past, first);
    host_numbers_[i] = 2 * (num_past - past);
    past_tokens.push_back(2 * past + 1);
  }
  // Stage them.
  LZ_RETURN_IF_ERROR(observations_.CopyInAsync(absl::MakeConstSpan(host_observations_)));
  LZ_RETURN_IF_ERROR(shape_.action_dim > 0
                         ? actions_.CopyInAsync(absl::MakeConstSpan(host_action_values_))
                         : actions_.CopyInAsync(absl::MakeConstSpan(host_actions_)));
  LZ_RETURN_IF_ERROR(padding_.CopyInAsync(absl::MakeConstSpan(host_numbers_)));
  RootPasts pasts = PastRows(num_rows, num_past);
  pasts.past_tokens = std::move(past_tokens);
  return pasts;
}

RootPasts RootInputs::PastRows(int64_t num_rows, int64_t num_past) const {
  const int64_t num_steps = num_rows * (num_past + 1);
  return {observations_.tensor().narrow(0, 0, num_steps),
          actions_.tensor().narrow(0, 0, num_steps).unflatten(0, {num_rows, num_past + 1}),
          padding_.tensor().narrow(0, 0, num_rows),
          {}};
}

RootSteps RootInputs::StepRows(int64_t num_rows) const {
  return {observations_.tensor().narrow(0, 0, num_rows),
          newest_actions_.tensor().narrow(0, 0, num_rows)};
}

absl::StatusOr<RootSteps> RootInputs::StageNewest(absl::Span<const Root> roots,
                                                  absl::Span<const int> rows) {
  const int64_t size = shape_.observation_size;
  host_observations_.clear();
  host_numbers_.clear();
  host_action_values_.clear();
  for (const int row : rows) {
    const absl::Span<const float> newest = roots[row].observations.last(size);
    host_observations_.insert(host_observations_.end(), newest.begin(), newest.end());
    host_numbers_.push_back(roots[row].actions.back());
    const absl::Span<const float> values = roots[row].action_values.last(shape_.action_dim);
    host_action_values_.insert(host_action_values_.end(), values.begin(), values.end());
  }
  LZ_RETURN_IF_ERROR(observations_.CopyInAsync(absl::MakeConstSpan(host_observations_)));
  LZ_RETURN_IF_ERROR(shape_.action_dim > 0
                         ? newest_actions_.CopyInAsync(absl::MakeConstSpan(host_action_values_))
                         : newest_actions_.CopyInAsync(absl::MakeConstSpan(host_numbers_)));
  return StepRows(static_cast<int64_t>(rows.size()));
}

}  // namespace lzero
