#include "lzero/train/update/update_step.h"

#include "absl/strings/str_cat.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/product_precision.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"
#include "lzero/train/update/update_precision.h"

namespace lzero {
namespace {

// What must be finite in an update, under its name in the message: the loss first, the gradient
// norm last.
std::vector<LossMetric> FiniteNumbers(const LossTerms& terms, const at::Tensor& gradient_norm,
                                      bool with_errors) {
  std::vector<LossMetric> numbers = {{"the loss", terms.total.detach()}};
  // The loss of a huge target is finite, its error may overflow: it cannot be a priority.
  if (with_errors) numbers.push_back({"the largest value error", terms.value_errors.max()});
  numbers.push_back({"the gradient norm", gradient_norm});
  return numbers;
}

// UpdateOutputs without its batch.
UpdateOutputs Outputs(const std::vector<LossMetric>& finite, const LossTerms& terms,
                      bool with_errors) {
  UpdateOutputs outputs;
  std::vector<at::Tensor> scalars;
  const auto add = [&](const std::vector<LossMetric>& from, std::vector<std::string>* names) {
    for (const LossMetric& number : from) {
      names->push_back(number.name);
      scalars.push_back(number.value);
    }
  };
  add(finite, &outputs.finite);
  add(terms.metrics, &outputs.metrics);
  outputs.numbers = at::stack(scalars);
  if (with_errors) outputs.numbers = at::cat({outputs.numbers, terms.value_errors});
  return outputs;
}

// 1 if one of these is not finite, else 0: a float32 scalar on their device.
at::Tensor IsNonFinite(const std::vector<LossMetric>& numbers) {
  at::Tensor sum;
  for (const LossMetric& number : numbers) {
    const at::Tensor zero = number.value - number.value;  // not a number if not finite
    sum = sum.defined() ? sum + zero : zero;
  }
  return at::ne(sum, sum).to(at::kFloat);
}

}  // namespace

UpdateStep::UpdateStep(const ExperimentConfig& config, Network* model, Network* target,
                       AdamW* optimizer, GraphBackend* backend)
    : config_(config),
      model_(*model),
      target_(*target),
      optimizer_(*optimizer),
      backend_(backend),
      records_(backend != nullptr && config.inference.graphs != Graphs::kOff) {
  if (backend == nullptr) return;
  is_left_out_ = at::zeros({}, at::TensorOptions().device(device()));
}

UpdateOutputs UpdateStep::Compute(BatchStaging* staging, double learning_rate, bool with_errors) {
  optimizer_.ClearGradients();
  const BatchTensors batch = staging->Read();
  LossTerms terms;
  {
    const ForwardPrecision precision(config_.train.dtype, device());
    terms = model_.ComputeLosses(target_, batch, config_.loss);
  }
  terms.total.backward();
  // Everything is asked of the device before the one read, so it is the device that leaves out a
  // step that is not finite.
  const torch::NoGradGuard no_grad;
  const std::vector<LossMetric> finite =
      FiniteNumbers(terms, optimizer_.ClipGradients(), with_errors);
  UpdateOutputs outputs = Outputs(finite, terms, with_errors);
  outputs.batch = batch;
  at::Tensor skip = IsNonFinite(finite);
  if (backend_ == nullptr) {
    optimizer_.Step(learning_rate, skip);
  } else {
    skip = at::maximum(skip, is_left_out_);
    optimizer_.Step(staging->learning_rate(), skip);
  }
  target_.MoveWeightsTowards(model_, config_.train.target_update_rate, skip);
  return outputs;
}

absl::Status UpdateStep::Record(BatchStaging* staging, bool with_errors) {
  const Kind kind = {with_errors, staging->bootstraps()};
  if (!records_ || recorded_.contains(kind)) return absl::OkStatus();
  const ProductPrecision precision(config_.train.dtype == TrainDtype::kTf32, device());
  const auto leave_out = [&](double value) {
    return CatchTorch([&] { is_left_out_.fill_(value); });
  };
  LZ_RETURN_IF_ERROR(leave_out(1.0));
  Recorded& recorded = recorded_[kind];
  const auto body = [this, &recorded, staging, with_errors] {
    recorded.outputs = Compute(staging, /*learning_rate=*/0.0, with_errors);
  };
  const absl::Status warmed = Annotate(backend_->WarmUp(kWarmUps, body), "warming up an update");
  auto graph = warmed.ok() ? backend_->Capture(body)
                           : absl::StatusOr<std::unique_ptr<CapturedGraph>>(warmed);
  optimizer_.ClearGradients();  // each replay makes its own anew
  if (graph.ok()) {
    recorded.graph = *std::move(graph);
  } else {
    recorded_.erase(kind);
  }
  LZ_RETURN_IF_ERROR(leave_out(0.0));
  LZ_RETURN_IF_ERROR(warmed);
  return graph.ok() ? absl::OkStatus() : FallBack(graph.status());
}

absl::Status UpdateStep::FallBack(const absl::Status& refused) {
  const absl::Status told = Annotate(refused, "recording an update");
  if (config_.inference.graphs == Graphs::kRequired) return told;
  if (config_.train.dtype == TrainDtype::kTf32 && config_.searches_beside_updates()) {
    return Annotate(told,
                    "train.dtype: tf32 needs graphs, inference.device cpu, or deterministic: true");
  }
  records_ = false;
  LZ_LOG_WARNING("no graph, updates run one operation after the other (inference.graphs: ",
                 "preferred): ", told.message());
  return absl::OkStatus();
}

absl::StatusOr<const UpdateOutputs*> UpdateStep::Run(BatchStaging* staging, double learning_rate,
                                                     bool with_errors) {
  const auto found = recorded_.find({with_errors, staging->bootstraps()});
  if (found != recorded_.end()) {
    LZ_RETURN_IF_ERROR(found->second.graph->Replay());
    return &found->second.outputs;
  }
  const ProductPrecision precision(config_.train.dtype == TrainDtype::kTf32, device());
  outputs_ = Compute(staging, learning_rate, with_errors);
  return &outputs_;
}

UpdateStep::GraphList UpdateStep::TakeGraphs() {
  outputs_ = {};
  GraphList graphs;
  for (auto& [kind, recorded] : recorded_) graphs.push_back(std::move(recorded.graph));
  recorded_.clear();
  return graphs;
}

}  // namespace lzero
