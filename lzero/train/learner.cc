#include "lzero/train/learner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/packed/families.h"
#include "lzero/model/open_loop.h"
#include "lzero/tensor/host_memory.h"
#include "lzero/tensor/staging.h"
#include "lzero/tensor/tensor_arrays.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

std::vector<NamedTensor> NamedWeights(const TaskWeights& model) {
  std::vector<NamedTensor> tensors;
  for (const OwnedWeight& weight : model.weights())
    tensors.emplace_back(weight.name, weight.tensor);
  return tensors;
}

std::vector<NamedArray> ExportWeights(const TaskWeights& model) {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : NamedWeights(model))
    arrays.push_back(ToNamedArray(name, tensor));
  return arrays;
}

// The sizes of one measurement of the open loop, which runs a pass a horizon.
constexpr int64_t kOpenLoopSamples = 32;
constexpr int64_t kOpenLoopHorizons = 10;

}  // namespace

absl::StatusOr<std::unique_ptr<Learner>> Learner::Create(const ExperimentConfig& config,
                                                         absl::Span<const WorldModelShape> shapes) {
  KeepTensorMemory();
  LZ_ASSIGN_OR_RETURN(EngineDevice device,
                      MakeEngineDevice(config.learner_device(), LearnerDeviceKey(config)));
  std::unique_ptr<Learner> learner(new Learner(config, std::move(device)));
  LZ_RETURN_IF_ERROR(learner->device_.OnStream(
      [&] { return CatchTorch([&] { return learner->MakeParts(shapes); }); }));
  LZ_RETURN_IF_ERROR(learner->device_.Wait());
  return learner;
}

Learner::Learner(const ExperimentConfig& config, EngineDevice device)
    : config_(config), tasks_(TaskConfigs(config)), device_(std::move(device)) {
  for (const ExperimentConfig& task : tasks_) {
    sources_.emplace_back();
    if (tasks_.size() > 1) sources_.back().prefix = absl::StrCat("task/", task.name, "/");
  }
}

absl::Status Learner::MakeParts(absl::Span<const WorldModelShape> shapes) {
  const auto make = [&] {
    return TaskWeights::Create(tasks_, shapes, static_cast<uint64_t>(config_.seed),
                               device_.device());
  };
  LZ_ASSIGN_OR_RETURN(model_, make());
  LZ_ASSIGN_OR_RETURN(target_, make());
  for (size_t task = 0; task < tasks_.size(); ++task) {
    Network& target = target_->view(task);
    target.eval();
    for (const at::Tensor& parameter : target.parameters()) parameter.set_requires_grad(false);
  }
  optimizer_.emplace(*model_, config_.train);
  step_.emplace(tasks_, &*model_, &*target_, &*optimizer_, device_.backend.get());
  return absl::OkStatus();
}

Learner::~Learner() {
  GraphBackend* backend = device_.backend.get();
  if (backend == nullptr) return;
  absl::Status unloaded = backend->Synchronize();
  auto graphs = step_.has_value() ? step_->TakeGraphs() : UpdateStep::GraphList();
  sources_.clear();
  step_.reset();
  optimizer_.reset();
  model_.reset();
  target_.reset();
  pinned_.reset();
  unloaded.Update(backend->Unload(std::move(graphs)));
  if (!unloaded.ok()) LZ_LOG_ERROR("unloading the learner: ", unloaded.message());
}

absl::Status Learner::StageFor(const BatchShape& shape, Source* source) {
  if (source->staging.has_value() && source->staging->shape() == shape) return absl::OkStatus();
  source->last_batch.reset();
  if (source->staging.has_value()) {  // what was recorded points at its memory
    auto graphs = step_->TakeGraphs();
    if (!graphs.empty()) LZ_RETURN_IF_ERROR(device_.backend->Unload(std::move(graphs)));
  }
  LZ_ASSIGN_OR_RETURN(source->staging, BatchStaging::Create(shape, device_.device()));
  return absl::OkStatus();
}

// Where the target network gives values, one kind of batch is enough, and one graph.
bool Learner::AlwaysBootstraps(size_t task) const {
  return device_.backend != nullptr &&
         tasks_[task].replay.value_bootstrap == ValueBootstrap::kTargetNetwork;
}

absl::Status Learner::Prepare(const BatchShape& shape, size_t task) {
  if (device_.backend == nullptr) return absl::OkStatus();
  TrainBatch zeros;
  zeros.Resize(shape);
  return device_.OnStream([&]() -> absl::Status {
    Source* source = &sources_[task];
    LZ_RETURN_IF_ERROR(StageFor(shape, source));
    LZ_RETURN_IF_ERROR(
        source->staging->CopyIn(zeros, /*learning_rate=*/0.0, AlwaysBootstraps(task)));
    LZ_RETURN_IF_ERROR(step_->Record({task, &*source->staging, tasks_[task].replay.prioritized}));
    LogRecorded("learner", *device_.backend);
    return absl::OkStatus();
  });
}

const Network& Learner::ViewOf(TaskWeights* weights, size_t task) {
  if (!weights->IsStale(task)) return weights->view(task);
  const absl::Status merged = device_.OnStream([&] {
    weights->view(task);
    return absl::OkStatus();
  });
  LZ_CHECK(merged.ok() && device_.Wait().ok(), "merging adapters: ", merged.message());
  return weights->view(task);
}

absl::Status Learner::Update(absl::Span<const TaskBatch> batches, double learning_rate) {
  return device_.OnStream(
      [&] { return CatchTorch([&] { return UpdateNow(batches, learning_rate); }); });
}

absl::Status Learner::ReadBack(const at::Tensor& numbers, std::vector<float>* values) {
  values->resize(static_cast<size_t>(numbers.numel()));
  if (device_.backend == nullptr) {
    return Staging::Wrap("metrics", numbers).CopyOut(absl::MakeSpan(*values));
  }
  if (!pinned_.defined() || pinned_.numel() < numbers.numel()) {
    pinned_ = at::empty(numbers.sizes(), at::TensorOptions().pinned_memory(true));
  }
  pinned_.narrow(0, 0, numbers.numel()).copy_(numbers, /*non_blocking=*/true);
  LZ_RETURN_IF_ERROR(device_.backend->Wait());
  std::copy_n(pinned_.const_data_ptr<float>(), values->size(), values->begin());
  return absl::OkStatus();
}

absl::StatusOr<StagedTask> Learner::Stage(const TaskBatch& batch, double learning_rate) {
  Source* source = &sources_[batch.task];
  LZ_RETURN_IF_ERROR(StageFor(batch.batch->shape(), source));
  LZ_RETURN_IF_ERROR(
      source->staging->CopyIn(*batch.batch, learning_rate, AlwaysBootstraps(batch.task)));
  const StagedTask staged = {batch.task, &*source->staging, batch.priorities != nullptr};
  LZ_RETURN_IF_ERROR(step_->Record(staged));
  return staged;
}

absl::Status Learner::Reset() {
  std::vector<ExperimentConfig> tasks = tasks_;
  std::vector<WorldModelShape> shapes;
  for (size_t i = 0; i < tasks.size(); ++i) {
    shapes.push_back(model_->view(i).shape());
    tasks[i].seed = static_cast<int64_t>(StreamKey(static_cast<uint64_t>(tasks[i].seed), "reset",
                                                   static_cast<uint64_t>(num_updates_)) >>
                                         1);
  }
  return device_.OnStream([&] {
    return CatchTorch([&]() -> absl::Status {
      LZ_ASSIGN_OR_RETURN(const TaskWeights fresh,
                          TaskWeights::Create(tasks, shapes, static_cast<uint64_t>(tasks[0].seed),
                                              device_.device()));
      model_->MixWith(fresh, config_.train.reset_share);
      target_->CopyFrom(*model_);
      optimizer_->Restart();
      return absl::OkStatus();
    });
  });
}

absl::Status Learner::UpdateNow(absl::Span<const TaskBatch> batches, double learning_rate) {
  // The batches in, one step, its numbers out.
  std::vector<StagedTask> staged;
  for (const TaskBatch& batch : batches) {
    LZ_ASSIGN_OR_RETURN(StagedTask one, Stage(batch, learning_rate));
    staged.push_back(one);
  }
  if (config_.model.dropout > 0.0) {
    // Dropout draws from libtorch's own generator: keyed by the update, so that a resumed run
    // draws the same.
    torch::manual_seed(StreamKey(static_cast<uint64_t>(config_.seed), "dropout",
                                 static_cast<uint64_t>(num_updates_)) >>
                       1);
  }
  const bool compares =
      tasks_.size() > 1 && (num_updates_ + 1) % config_.train.log_every_updates == 0;
  LZ_ASSIGN_OR_RETURN(const UpdateOutputs* outputs, step_->Run(staged, learning_rate, compares));
  std::vector<float> values;
  LZ_RETURN_IF_ERROR(ReadBack(outputs->numbers, &values));
  // Whether it was learned from.
  const auto refuse = [&](const std::string& what, float value) {
    return absl::AbortedError(absl::StrCat(what, " of update ", num_updates_ + 1, " is ", value));
  };
  size_t next = 0;
  double loss = 0.0, num_positions = 0.0;
  for (size_t i = 0; i < batches.size(); ++i) {
    const TaskOutputs& of_task = outputs->tasks[i];
    sources_[of_task.task].last_batch = of_task.batch;
    for (size_t k = 0; k < of_task.finite.size(); ++k) {
      if (std::isfinite(values[next + k])) continue;
      const std::string& name = tasks_[of_task.task].name;
      return refuse(tasks_.size() == 1 ? of_task.finite[k]
                                       : absl::StrCat(of_task.finite[k], " of task ", name),
                    values[next + k]);
    }
    const double positions = batches[i].batch->num_samples * batches[i].batch->num_unroll_steps;
    loss += positions * static_cast<double>(values[next]);
    num_positions += positions;
    next +=
        of_task.finite.size() + of_task.metrics.size() + static_cast<size_t>(of_task.num_errors);
  }
  const float gradient_norm = values[next];
  if (!std::isfinite(gradient_norm)) return refuse("the gradient norm", gradient_norm);
  ++num_updates_;
  // Metrics and priorities.
  AddSharedMetrics(*outputs, batches.size() == 1 ? values[0] : loss / num_positions, gradient_norm,
                   learning_rate, values.data() + next + 1);
  next = 0;
  for (size_t i = 0; i < batches.size(); ++i) {
    TakeNumbers(outputs->tasks[i], batches[i], values, &next);
  }
  return absl::OkStatus();
}

void Learner::AddSharedMetrics(const UpdateOutputs& outputs, double loss, double gradient_norm,
                               double learning_rate, const float* cosines) {
  AddMetric("loss/total", loss);
  AddMetric("grad/norm", gradient_norm);
  AddMetric("grad/clipped", gradient_norm > config_.train.grad_clip ? 1.0 : 0.0);
  AddMetric("train/learning_rate", learning_rate);
  if (outputs.compared.empty()) return;
  double lowest = 1.0, num_negative = 0.0;
  for (const auto& [a, b] : outputs.compared) {
    const double cosine = *cosines++;
    lowest = std::min(lowest, cosine);
    num_negative += cosine < 0.0 ? 1.0 : 0.0;
    AddMetric(absl::StrCat("conflict/", tasks_[a].name, "/", tasks_[b].name), cosine);
  }
  AddMetric("conflict/cosine_min", lowest);
  AddMetric("conflict/negative_share", num_negative / static_cast<double>(outputs.compared.size()));
}

void Learner::TakeNumbers(const TaskOutputs& outputs, const TaskBatch& batch,
                          const std::vector<float>& values, size_t* next) {
  const std::string& prefix = sources_[outputs.task].prefix;
  if (!prefix.empty()) AddMetric(absl::StrCat(prefix, "loss/total"), values[*next]);
  *next += outputs.finite.size();
  for (const std::string& name : outputs.metrics) {
    AddMetric(absl::StrCat(prefix, name), values[(*next)++]);
  }
  AddMetric(absl::StrCat(prefix, "replay/age"), batch.batch->mean_age);
  if (batch.batch->fresh_share.has_value()) {
    AddMetric(absl::StrCat(prefix, "replay/fresh_share"), *batch.batch->fresh_share);
  }
  if (batch.priorities == nullptr) return;
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(*next);
  batch.priorities->assign(first, first + outputs.num_errors);
  *next += static_cast<size_t>(outputs.num_errors);
  // A little, so that no sample is never drawn again.
  for (float& priority : *batch.priorities) priority += 1e-6f;
}

void Learner::AddMetric(const std::string& name, double value) {
  Mean& mean = means_[name];
  mean.sum += value;
  ++mean.count;
}

absl::StatusOr<MetricMap> Learner::MeasureOpenLoop() {
  absl::StatusOr<MetricMap> metrics;
  LZ_RETURN_IF_ERROR(device_.OnStream([&] {
    metrics = CatchTorch([&] { return MeasureOpenLoopNow(); });
    return metrics.status();
  }));
  return metrics;
}

absl::StatusOr<MetricMap> Learner::MeasureOpenLoopNow() {
  MetricMap metrics;
  const torch::NoGradGuard no_grad;
  for (size_t task = 0; task < sources_.size(); ++task) {
    Source& source = sources_[task];
    if (!source.last_batch.has_value()) continue;
    const at::Tensor errors = model_->view(task).ComputeOpenLoopErrors(
        FirstSamples(*source.last_batch, kOpenLoopSamples), kOpenLoopHorizons);
    source.last_batch.reset();
    if (!errors.defined()) continue;
    const at::Tensor numbers = errors.to(at::kCPU, at::kFloat).contiguous();
    static constexpr const char* kNames[] = {"reward", "value", "latent"};
    for (int64_t row = 0; row < 3; ++row) {
      for (int64_t k = 0; k < numbers.size(1); ++k) {
        const float error = numbers[row][k].item<float>();
        if (std::isnan(error)) continue;  // no sample reaches so far
        metrics[absl::StrCat(source.prefix, "open_loop/", kNames[row], "_", k + 1)] = error;
      }
    }
  }
  return metrics;
}

void Learner::ForgetBatches() {
  for (Source& source : sources_) source.last_batch.reset();
}

MetricMap Learner::ReadMetrics() {
  MetricMap means;
  for (const auto& [name, mean] : means_) means[name] = mean.sum / static_cast<double>(mean.count);
  means_.clear();
  return means;
}

std::vector<std::string> Learner::WeightNames() const {
  std::vector<std::string> names;
  for (const OwnedWeight& weight : model_->weights()) names.push_back(weight.name);
  return names;
}

absl::Status Learner::StartFrom(absl::Span<const NamedArray> weights,
                                absl::Span<const std::pair<std::string, std::string>> names) {
  std::vector<NamedTensor> wanted;
  const std::vector<NamedTensor> tensors = NamedWeights(*model_);
  for (const auto& [name, there] : names) {
    const auto found = std::ranges::find(tensors, name, &NamedTensor::first);
    LZ_CHECK(found != tensors.end(), "no weight ", name);
    wanted.emplace_back(there, found->second);
  }
  std::vector<NamedArray> given;
  for (const NamedArray& array : weights) {
    const auto is_it = [&array](const NamedTensor& tensor) { return tensor.first == array.name; };
    if (std::ranges::any_of(wanted, is_it)) given.push_back(array);
  }
  LZ_RETURN_IF_ERROR(device_.OnStream([&]() -> absl::Status {
    LZ_RETURN_IF_ERROR(CopyAllInto(wanted, given));
    model_->OnWritten();
    return CatchTorch([&] { target_->CopyFrom(*model_); });
  }));
  return device_.Wait();
}

// Between updates the weights are at rest, and any stream may read them.
std::map<std::string, std::vector<NamedArray>> Learner::Export() const {
  return {{"model", ExportWeights(*model_)},
          {"target", ExportWeights(*target_)},
          {"optimizer", optimizer_->Export()}};
}

absl::Status Learner::Import(const std::map<std::string, std::vector<NamedArray>>& files,
                             int64_t num_updates) {
  for (const char* name : {"model", "target", "optimizer"}) {
    if (!files.contains(name)) {
      return absl::NotFoundError(absl::StrCat("the checkpoint has no ", name, ".safetensors"));
    }
  }
  LZ_RETURN_IF_ERROR(device_.OnStream([&]() -> absl::Status {
    // All three are compared before the first is written.
    LZ_RETURN_IF_ERROR(CompareAll(NamedWeights(*model_), files.at("model")));
    LZ_RETURN_IF_ERROR(CompareAll(NamedWeights(*target_), files.at("target")));
    LZ_RETURN_IF_ERROR(optimizer_->Import(files.at("optimizer")));
    LZ_RETURN_IF_ERROR(CopyAllInto(NamedWeights(*model_), files.at("model")));
    LZ_RETURN_IF_ERROR(CopyAllInto(NamedWeights(*target_), files.at("target")));
    model_->OnWritten();
    target_->OnWritten();
    return absl::OkStatus();
  }));
  num_updates_ = num_updates;
  ForgetBatches();
  return device_.Wait();
}

}  // namespace lzero
