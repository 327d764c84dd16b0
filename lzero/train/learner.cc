#include "lzero/train/learner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/families.h"
#include "lzero/model/open_loop.h"
#include "lzero/tensor/host_memory.h"
#include "lzero/tensor/staging.h"
#include "lzero/tensor/tensor_arrays.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

std::vector<std::pair<std::string, at::Tensor>> NamedWeights(const Network& model) {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  for (const auto& entry : model.named_parameters())
    tensors.emplace_back(entry.key(), entry.value());
  return tensors;
}

std::vector<NamedArray> ExportWeights(const Network& model) {
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
                                                         const WorldModelShape& shape) {
  const uint64_t seed = static_cast<uint64_t>(config.seed);
  KeepTensorMemory();
  LZ_ASSIGN_OR_RETURN(EngineDevice device,
                      MakeEngineDevice(config.learner_device(), LearnerDeviceKey(config)));
  const at::Device where = device.device();
  const ModelFamily& family = FamilyOf(config.model);
  std::shared_ptr<Network> model, target;
  LZ_RETURN_IF_ERROR(device.OnStream([&] {
    return CatchTorch([&]() -> absl::Status {
      LZ_ASSIGN_OR_RETURN(model, family.make_network(config.model, shape, seed, where));
      LZ_ASSIGN_OR_RETURN(target, family.make_network(config.model, shape, seed, where));
      target->CopyWeightsFrom(*model);
      target->eval();
      for (const at::Tensor& parameter : target->parameters()) parameter.set_requires_grad(false);
      return absl::OkStatus();
    });
  }));
  std::unique_ptr<Learner> learner(
      new Learner(config, std::move(device), std::move(model), std::move(target)));
  LZ_RETURN_IF_ERROR(learner->device_.OnStream([&] {
    return CatchTorch([&] {
      learner->optimizer_.emplace(*learner->model_, config.train);
      learner->step_.emplace(learner->config_, learner->model_.get(), learner->target_.get(),
                             &*learner->optimizer_, learner->device_.backend.get());
    });
  }));
  LZ_RETURN_IF_ERROR(learner->device_.Wait());
  return learner;
}

Learner::Learner(const ExperimentConfig& config, EngineDevice device,
                 std::shared_ptr<Network> model, std::shared_ptr<Network> target)
    : config_(config),
      device_(std::move(device)),
      model_(std::move(model)),
      target_(std::move(target)) {}

Learner::~Learner() {
  GraphBackend* backend = device_.backend.get();
  if (backend == nullptr) return;
  absl::Status unloaded = backend->Synchronize();
  auto graphs = step_.has_value() ? step_->TakeGraphs() : UpdateStep::GraphList();
  last_batch_.reset();
  staging_.reset();
  step_.reset();
  optimizer_.reset();
  model_.reset();
  target_.reset();
  pinned_.reset();
  unloaded.Update(backend->Unload(std::move(graphs)));
  if (!unloaded.ok()) LZ_LOG_ERROR("unloading the learner: ", unloaded.message());
}

absl::Status Learner::StageFor(const BatchShape& shape) {
  if (staging_.has_value() && staging_->shape() == shape) return absl::OkStatus();
  last_batch_.reset();
  // What was recorded points at the memory of the old staging.
  auto graphs = step_->TakeGraphs();
  if (!graphs.empty()) LZ_RETURN_IF_ERROR(device_.backend->Unload(std::move(graphs)));
  LZ_ASSIGN_OR_RETURN(staging_, BatchStaging::Create(shape, model_->device()));
  return absl::OkStatus();
}

// Where the target network gives values, one kind of batch is enough, and one graph.
bool Learner::AlwaysBootstraps() const {
  return device_.backend != nullptr &&
         config_.replay.value_bootstrap == ValueBootstrap::kTargetNetwork;
}

absl::Status Learner::Prepare(const BatchShape& shape) {
  if (device_.backend == nullptr) return absl::OkStatus();
  TrainBatch zeros;
  zeros.Resize(shape);
  return device_.OnStream([&]() -> absl::Status {
    LZ_RETURN_IF_ERROR(StageFor(shape));
    LZ_RETURN_IF_ERROR(staging_->CopyIn(zeros, /*learning_rate=*/0.0, AlwaysBootstraps()));
    LZ_RETURN_IF_ERROR(step_->Record(&*staging_, config_.replay.prioritized));
    LogRecorded("learner", *device_.backend);
    return absl::OkStatus();
  });
}

absl::Status Learner::Update(const TrainBatch& batch, double learning_rate,
                             std::vector<float>* priorities) {
  return device_.OnStream(
      [&] { return CatchTorch([&] { return UpdateNow(batch, learning_rate, priorities); }); });
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

absl::Status Learner::UpdateNow(const TrainBatch& batch, double learning_rate,
                                std::vector<float>* priorities) {
  // The batch in, one step, its numbers out.
  const bool with_errors = priorities != nullptr;
  LZ_RETURN_IF_ERROR(StageFor(batch.shape()));
  LZ_RETURN_IF_ERROR(staging_->CopyIn(batch, learning_rate, AlwaysBootstraps()));
  LZ_RETURN_IF_ERROR(step_->Record(&*staging_, with_errors));
  if (config_.model.dropout > 0.0) {
    // Dropout draws from libtorch's own generator: keyed by the update, so that a resumed run
    // draws the same.
    torch::manual_seed(StreamKey(static_cast<uint64_t>(config_.seed), "dropout",
                                 static_cast<uint64_t>(num_updates_)) >>
                       1);
  }
  LZ_ASSIGN_OR_RETURN(const UpdateOutputs* outputs,
                      step_->Run(&*staging_, learning_rate, with_errors));
  last_batch_ = outputs->batch;
  std::vector<float> numbers;
  LZ_RETURN_IF_ERROR(ReadBack(outputs->numbers, &numbers));
  const size_t num_finite = outputs->finite.size();
  for (size_t i = 0; i < num_finite; ++i) {
    if (std::isfinite(numbers[i])) continue;
    return absl::AbortedError(
        absl::StrCat(outputs->finite[i], " of update ", num_updates_ + 1, " is ", numbers[i]));
  }
  ++num_updates_;
  // Metrics and priorities.
  const float gradient_norm = numbers[num_finite - 1];
  AddMetric("loss/total", numbers[0]);
  AddMetric("grad/norm", gradient_norm);
  AddMetric("grad/clipped", gradient_norm > config_.train.grad_clip ? 1.0 : 0.0);
  for (size_t i = 0; i < outputs->metrics.size(); ++i) {
    AddMetric(outputs->metrics[i], numbers[num_finite + i]);
  }
  AddMetric("train/learning_rate", learning_rate);
  AddMetric("replay/age", batch.mean_age);
  ++num_summed_;
  if (with_errors) {
    priorities->assign(numbers.end() - batch.num_samples, numbers.end());
    // A little, so that no sample is never drawn again.
    for (float& priority : *priorities) priority += 1e-6f;
  }
  return absl::OkStatus();
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
  if (!last_batch_.has_value()) return metrics;
  const torch::NoGradGuard no_grad;
  const at::Tensor errors = model_->ComputeOpenLoopErrors(
      FirstSamples(*last_batch_, kOpenLoopSamples), kOpenLoopHorizons);
  last_batch_.reset();
  if (!errors.defined()) return metrics;
  const at::Tensor numbers = errors.to(at::kCPU, at::kFloat).contiguous();
  static constexpr const char* kNames[] = {"reward", "value", "latent"};
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t k = 0; k < numbers.size(1); ++k) {
      const float error = numbers[row][k].item<float>();
      // Not a number: no sample reaches so far.
      if (!std::isnan(error)) metrics[absl::StrCat("open_loop/", kNames[row], "_", k + 1)] = error;
    }
  }
  return metrics;
}

MetricMap Learner::ReadMetrics() {
  MetricMap means;
  for (const auto& [name, sum] : sums_) means[name] = sum / static_cast<double>(num_summed_);
  sums_.clear();
  num_summed_ = 0;
  return means;
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
    return CopyAllInto(NamedWeights(*target_), files.at("target"));
  }));
  num_updates_ = num_updates;
  last_batch_.reset();
  return device_.Wait();
}

}  // namespace lzero
