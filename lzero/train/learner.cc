#include "lzero/train/learner.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/inference/engine_device.h"
#include "lzero/tensor/host_memory.h"
#include "lzero/tensor/tensor_arrays.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"
#include "lzero/world_model/losses.h"

namespace lzero {
namespace {

std::vector<std::pair<std::string, at::Tensor>> NamedWeights(const WorldModel& model) {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  for (const auto& entry : model.named_parameters())
    tensors.emplace_back(entry.key(), entry.value());
  return tensors;
}

std::vector<NamedArray> ExportWeights(const WorldModel& model) {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : NamedWeights(model))
    arrays.push_back(ToNamedArray(name, tensor));
  return arrays;
}

// Value errors [N], and a little so that no sample is never drawn again.
absl::Status ReadPriorities(const at::Tensor& value_errors, std::vector<float>* priorities) {
  priorities->resize(value_errors.numel());
  LZ_RETURN_IF_ERROR(Staging::Wrap("value errors", value_errors.contiguous())
                         .CopyOut(absl::MakeSpan(*priorities)));
  for (float& priority : *priorities) priority += 1e-6f;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Learner>> Learner::Create(const ExperimentConfig& config,
                                                         const WorldModelShape& shape) {
  const uint64_t seed = static_cast<uint64_t>(config.seed);
  KeepTensorMemory();
  return CatchTorch([&]() -> absl::StatusOr<std::unique_ptr<Learner>> {
    LZ_ASSIGN_OR_RETURN(const at::Device device, PrepareDevice(config.inference.device));
    LZ_ASSIGN_OR_RETURN(auto model, WorldModel::Create(config.model, shape, seed, device));
    LZ_ASSIGN_OR_RETURN(auto target, WorldModel::Create(config.model, shape, seed, device));
    target->CopyWeightsFrom(*model);
    target->eval();
    for (const at::Tensor& parameter : target->parameters()) parameter.set_requires_grad(false);
    return std::unique_ptr<Learner>(new Learner(config, std::move(model), std::move(target)));
  });
}

Learner::Learner(const ExperimentConfig& config, std::shared_ptr<WorldModel> model,
                 std::shared_ptr<WorldModel> target)
    : config_(config),
      model_(std::move(model)),
      target_(std::move(target)),
      optimizer_(*model_, config.train) {}

absl::StatusOr<BatchTensors> Learner::Stage(const TrainBatch& batch) {
  if (!staging_.has_value() || staging_->shape() != batch.shape()) {
    LZ_ASSIGN_OR_RETURN(staging_, BatchStaging::Create(batch.shape(), model_->device()));
  }
  return staging_->Load(batch);
}

absl::Status Learner::Update(const TrainBatch& batch, double learning_rate,
                             std::vector<float>* priorities) {
  return CatchTorch([&]() -> absl::Status {
    optimizer_.ClearGradients();
    if (config_.model.dropout > 0.0) {
      // Dropout draws from libtorch's own generator: keyed by the update, so that a resumed run
      // draws the same.
      torch::manual_seed(StreamKey(static_cast<uint64_t>(config_.seed), "dropout",
                                   static_cast<uint64_t>(num_updates_)) >>
                         1);
    }
    LZ_ASSIGN_OR_RETURN(const BatchTensors tensors, Stage(batch));
    const LossTerms terms = ComputeLosses(*model_, *target_, tensors, config_.loss);
    const double total = terms.total.item<double>();
    if (!std::isfinite(total)) {
      return absl::AbortedError(
          absl::StrCat("the loss of update ", num_updates_ + 1, " is ", total));
    }
    if (priorities != nullptr) {
      // The loss of a huge target is finite, its error may overflow: it cannot be a priority.
      const double largest = terms.value_errors.max().item<double>();
      if (!std::isfinite(largest)) {
        return absl::AbortedError(
            absl::StrCat("the largest value error of update ", num_updates_ + 1, " is ", largest));
      }
    }
    terms.total.backward();
    const double gradient_norm = optimizer_.ClipGradients();
    if (!std::isfinite(gradient_norm)) {
      return absl::AbortedError(
          absl::StrCat("the gradient norm of update ", num_updates_ + 1, " is ", gradient_norm));
    }
    optimizer_.Step(learning_rate);
    target_->MoveWeightsTowards(*model_, config_.train.target_update_rate);
    ++num_updates_;

    AddMetric("loss/total", total);
    AddMetric("loss/latent", terms.latent.item<double>());
    AddMetric("loss/reward", terms.reward.item<double>());
    AddMetric("loss/value", terms.value.item<double>());
    AddMetric("loss/policy", terms.policy.item<double>());
    AddMetric("policy/entropy", terms.entropy.item<double>());
    AddMetric("value/mean", terms.value_mean.item<double>());
    AddMetric("value/error", terms.value_errors.mean().item<double>());
    // Both in one read from the device.
    const at::Tensor latent = at::stack({terms.latent_spread, terms.latent_norm}).cpu();
    AddMetric("latent/spread", latent[0].item<double>());
    AddMetric("latent/norm", latent[1].item<double>());
    AddMetric("grad/norm", gradient_norm);
    AddMetric("grad/clipped", gradient_norm > config_.train.grad_clip ? 1.0 : 0.0);
    AddMetric("train/learning_rate", learning_rate);
    AddMetric("replay/age", batch.mean_age);
    ++num_summed_;
    if (priorities != nullptr) {
      LZ_RETURN_IF_ERROR(ReadPriorities(terms.value_errors, priorities));
    }
    return absl::OkStatus();
  });
}

MetricMap Learner::ReadMetrics() {
  MetricMap means;
  for (const auto& [name, sum] : sums_) means[name] = sum / static_cast<double>(num_summed_);
  sums_.clear();
  num_summed_ = 0;
  return means;
}

std::map<std::string, std::vector<NamedArray>> Learner::Export() const {
  return {{"model", ExportWeights(*model_)},
          {"target", ExportWeights(*target_)},
          {"optimizer", optimizer_.Export()}};
}

absl::Status Learner::Import(const std::map<std::string, std::vector<NamedArray>>& files,
                             int64_t num_updates) {
  for (const char* name : {"model", "target", "optimizer"}) {
    if (!files.contains(name)) {
      return absl::NotFoundError(absl::StrCat("the checkpoint has no ", name, ".safetensors"));
    }
  }
  // All three are compared before the first is written.
  LZ_RETURN_IF_ERROR(CompareAll(NamedWeights(*model_), files.at("model")));
  LZ_RETURN_IF_ERROR(CompareAll(NamedWeights(*target_), files.at("target")));
  LZ_RETURN_IF_ERROR(optimizer_.Import(files.at("optimizer")));
  LZ_RETURN_IF_ERROR(CopyAllInto(NamedWeights(*model_), files.at("model")));
  LZ_RETURN_IF_ERROR(CopyAllInto(NamedWeights(*target_), files.at("target")));
  num_updates_ = num_updates;
  return absl::OkStatus();
}

}  // namespace lzero
