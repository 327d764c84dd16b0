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

// What must be finite of a task, under its name in the message: the loss first.
std::vector<LossMetric> FiniteNumbers(const LossTerms& terms, bool with_errors) {
  std::vector<LossMetric> numbers = {{"the loss", terms.total.detach()}};
  // The loss of a huge target is finite, its error may overflow: it cannot be a priority.
  if (with_errors) numbers.push_back({"the largest value error", terms.value_errors.max()});
  return numbers;
}

// Adds the numbers of a task to `numbers` and their names to the outputs.
TaskOutputs OutputsOf(const StagedTask& staged, const LossTerms& terms,
                      const std::vector<LossMetric>& finite, std::vector<at::Tensor>* numbers) {
  TaskOutputs outputs;
  outputs.task = staged.task;
  const auto add = [&](const std::vector<LossMetric>& from, std::vector<std::string>* names) {
    for (const LossMetric& number : from) {
      names->push_back(number.name);
      numbers->push_back(number.value.unsqueeze(0));
    }
  };
  add(finite, &outputs.finite);
  add(terms.metrics, &outputs.metrics);
  if (!staged.with_errors) return outputs;
  outputs.num_errors = terms.value_errors.numel();
  numbers->push_back(terms.value_errors);
  return outputs;
}

// Adds the cosine of each pair of gradients to `numbers`, and the pair to the outputs. Such a
// number is not finite where a gradient is 0.
void AddCosines(const TaskWeights::Products& taken, std::vector<at::Tensor>* numbers,
                std::vector<std::pair<size_t, size_t>>* pairs) {
  if (!taken.products.defined()) return;
  const at::Tensor norms = taken.products.diagonal().sqrt();
  const at::Tensor cosines = taken.products / norms.unsqueeze(0) / norms.unsqueeze(1);
  for (size_t i = 0; i < taken.tasks.size(); ++i) {
    for (size_t j = i + 1; j < taken.tasks.size(); ++j) {
      pairs->emplace_back(taken.tasks[i], taken.tasks[j]);
      const at::Tensor row = cosines[static_cast<int64_t>(i)];
      numbers->push_back(row[static_cast<int64_t>(j)].unsqueeze(0));
    }
  }
}

// Positions of a batch that losses are means of.
double NumUnrolled(const BatchShape& shape) {
  return static_cast<double>(shape.num_samples) * static_cast<double>(shape.num_unroll_steps);
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

UpdateStep::UpdateStep(std::vector<ExperimentConfig> tasks, TaskWeights* model, TaskWeights* target,
                       AdamW* optimizer, GraphBackend* backend)
    : tasks_(std::move(tasks)),
      config_(tasks_[0]),
      model_(*model),
      target_(*target),
      optimizer_(*optimizer),
      backend_(backend),
      serves_one_(tasks_.size() == 1 || config_.multitask.updates == UpdateTasks::kApart),
      records_(backend != nullptr && config_.inference.graphs != Graphs::kOff && serves_one_) {
  if (backend == nullptr) return;
  if (!serves_one_ && config_.inference.graphs != Graphs::kOff) {
    LZ_LOG_WARNING("no graph, updates of all tasks together run one operation after the other; ",
                   "multitask.updates: apart records them");
  }
  is_left_out_ = at::zeros({}, at::TensorOptions().device(device()));
}

LossTerms UpdateStep::Backward(const StagedTask& staged, double weight, BatchTensors* batch) {
  *batch = staged.staging->Read();
  LossTerms terms;
  {
    const ForwardPrecision precision(config_.train.dtype, device());
    terms = model_.view(staged.task)
                .ComputeLosses(target_.view(staged.task), *batch, tasks_[staged.task].loss);
  }
  if (tasks_[staged.task].replay.priority_error == PriorityError::kFirst) {
    terms.value_errors = at::abs(terms.values.select(1, 0) - terms.value_targets.select(1, 0));
  }
  (weight == 1.0 ? terms.total : terms.total * weight).backward();
  model_.GatherGradients(staged.task);
  return terms;
}

UpdateOutputs UpdateStep::Compute(absl::Span<const StagedTask> staged, double learning_rate,
                                  bool compares) {
  optimizer_.ClearGradients();
  model_.DropGathered();
  // Losses are means over unrolled positions, and so is their sum over the tasks.
  double num_positions = 0.0;
  std::vector<size_t> served;
  for (const StagedTask& task : staged) {
    num_positions += NumUnrolled(task.staging->shape());
    served.push_back(task.task);
  }
  UpdateOutputs outputs;
  std::vector<LossMetric> finite;
  std::vector<at::Tensor> numbers;
  for (const StagedTask& task : staged) {
    BatchTensors batch;
    const double weight = NumUnrolled(task.staging->shape()) / num_positions;
    const LossTerms terms = Backward(task, weight, &batch);
    const torch::NoGradGuard no_grad;
    const std::vector<LossMetric> of_task = FiniteNumbers(terms, task.with_errors);
    outputs.tasks.push_back(OutputsOf(task, terms, of_task, &numbers));
    outputs.tasks.back().batch = std::move(batch);
    finite.insert(finite.end(), of_task.begin(), of_task.end());
  }
  // Everything is asked of the device before the one read, so it is the device that leaves out a
  // step that is not finite.
  const torch::NoGradGuard no_grad;
  // Where updates are made apart, another one may compare.
  if (tasks_.size() > 1 && (serves_one_ ? !records_ : compares)) model_.KeepGathered();
  const TaskWeights::Products compared = compares ? model_.TakeProducts() : TaskWeights::Products();
  model_.CombineGradients(config_.multitask.balance);
  const std::vector<size_t> owners = model_.ActiveOwners(served);
  optimizer_.SetActive(owners);
  finite.push_back({"the gradient norm", optimizer_.ClipGradients()});
  numbers.push_back(finite.back().value.unsqueeze(0));
  AddCosines(compared, &numbers, &outputs.compared);
  outputs.numbers = at::cat(numbers);
  at::Tensor skip = IsNonFinite(finite);
  if (backend_ == nullptr) {
    optimizer_.Step(learning_rate, skip);
  } else {
    skip = at::maximum(skip, is_left_out_);
    optimizer_.Step(staged[0].staging->learning_rate(), skip);
  }
  for (const TaskOutputs& task : outputs.tasks) model_.view(task.task).Observe(task.batch, skip);
  model_.OnWritten();
  target_.MoveTowards(model_, owners, config_.train.target_update_rate, skip);
  return outputs;
}

absl::Status UpdateStep::Record(const StagedTask& staged) {
  const Kind kind = KindOf(staged);
  if (!records_ || recorded_.contains(kind)) return absl::OkStatus();
  const ProductPrecision precision(config_.train.dtype == TrainDtype::kTf32, device());
  const auto leave_out = [&](double value) {
    return CatchTorch([&] { is_left_out_.fill_(value); });
  };
  LZ_RETURN_IF_ERROR(leave_out(1.0));
  Recorded& recorded = recorded_[kind];
  const auto body = [this, &recorded, staged] {
    recorded.outputs = Compute({staged}, /*learning_rate=*/0.0, /*compares=*/false);
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

absl::StatusOr<const UpdateOutputs*> UpdateStep::Run(absl::Span<const StagedTask> staged,
                                                     double learning_rate, bool compares) {
  const auto found = recorded_.find(KindOf(staged[0]));
  if (found != recorded_.end()) {
    LZ_RETURN_IF_ERROR(found->second.graph->Replay());
    model_.OnWritten();
    target_.OnWritten();
    return &found->second.outputs;
  }
  const ProductPrecision precision(config_.train.dtype == TrainDtype::kTf32, device());
  outputs_ = Compute(staged, learning_rate, compares);
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
