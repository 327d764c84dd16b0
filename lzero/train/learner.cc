#include "lzero/train/learner.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/inference/engine_device.h"
#include "lzero/model/open_loop.h"
#include "lzero/tensor/host_memory.h"
#include "lzero/tensor/tensor_arrays.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"
#include "lzero/train/model_families.h"

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

// Of a measurement of the open loop: it runs a pass a horizon.
constexpr int64_t kOpenLoopSamples = 32;
constexpr int64_t kOpenLoopHorizons = 10;

// What is read back from the device, once an update: the figures, the gradient norm, the family's
// extra figures, and for new priorities the value errors [N].
constexpr int kGradientNorm = kNumFigures;
constexpr int kFirstExtraFigure = kGradientNorm + 1;

at::Tensor Readings(const LossTerms& terms, const at::Tensor& gradient_norm, bool with_errors) {
  std::vector<at::Tensor> readings = {terms.figures, gradient_norm.view(1)};
  if (terms.extra.defined()) readings.push_back(terms.extra);
  if (with_errors) readings.push_back(terms.value_errors);
  return at::cat(readings);
}

// What must be finite, and its name in the message.
std::vector<std::pair<int, const char*>> FiniteReadings(bool with_errors) {
  std::vector<std::pair<int, const char*>> readings = {{kTotalLoss, "the loss"}};
  // The loss of a huge target is finite, its error may overflow: it cannot be a priority.
  if (with_errors) readings.emplace_back(kLargestValueError, "the largest value error");
  readings.emplace_back(kGradientNorm, "the gradient norm");
  return readings;
}

// 1 if one of these is not finite, else 0: a float32 scalar on their device.
at::Tensor IsSpoilt(const at::Tensor& readings, bool with_errors) {
  at::Tensor sum;
  for (const auto& [index, name] : FiniteReadings(with_errors)) {
    const at::Tensor zero = readings[index] - readings[index];  // not a number if not finite
    sum = sum.defined() ? sum + zero : zero;
  }
  return at::ne(sum, sum).to(at::kFloat);
}

absl::Status CheckFinite(const std::vector<float>& readings, bool with_errors, int64_t update) {
  for (const auto& [index, name] : FiniteReadings(with_errors)) {
    if (std::isfinite(readings[index])) continue;
    return absl::AbortedError(absl::StrCat(name, " of update ", update, " is ", readings[index]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Learner>> Learner::Create(const ExperimentConfig& config,
                                                         const WorldModelShape& shape) {
  const uint64_t seed = static_cast<uint64_t>(config.seed);
  KeepTensorMemory();
  return CatchTorch([&]() -> absl::StatusOr<std::unique_ptr<Learner>> {
    LZ_ASSIGN_OR_RETURN(const at::Device device, PrepareDevice(config.inference.device));
    const ModelFamily& family = FamilyOf(config.model);
    LZ_ASSIGN_OR_RETURN(auto model, family.MakeNetwork(config.model, shape, seed, device));
    LZ_ASSIGN_OR_RETURN(auto target, family.MakeNetwork(config.model, shape, seed, device));
    target->CopyWeightsFrom(*model);
    target->eval();
    for (const at::Tensor& parameter : target->parameters()) parameter.set_requires_grad(false);
    return std::unique_ptr<Learner>(new Learner(config, std::move(model), std::move(target)));
  });
}

Learner::Learner(const ExperimentConfig& config, std::shared_ptr<Network> model,
                 std::shared_ptr<Network> target)
    : config_(config),
      model_(std::move(model)),
      target_(std::move(target)),
      optimizer_(*model_, config.train),
      extra_figures_(model_->extra_figures()) {}

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
    last_batch_ = tensors;
    const bool with_errors = priorities != nullptr;
    const LossTerms terms = model_->ComputeLosses(*target_, tensors, config_.loss);
    terms.total.backward();
    // Everything is asked of the device before the one read, so it is the device that leaves out a
    // step that is spoilt.
    const torch::NoGradGuard no_grad;
    const at::Tensor readings = Readings(terms, optimizer_.ClipGradients(), with_errors);
    const at::Tensor is_spoilt = IsSpoilt(readings, with_errors);
    optimizer_.Step(learning_rate, is_spoilt);
    target_->MoveWeightsTowards(*model_, config_.train.target_update_rate, is_spoilt);
    std::vector<float> numbers(static_cast<size_t>(readings.numel()));
    LZ_RETURN_IF_ERROR(Staging::Wrap("figures", readings).CopyOut(absl::MakeSpan(numbers)));
    LZ_RETURN_IF_ERROR(CheckFinite(numbers, with_errors, num_updates_ + 1));
    ++num_updates_;
    AddMetrics(numbers, learning_rate, batch.mean_age);
    if (with_errors) {
      priorities->assign(numbers.end() - batch.num_samples, numbers.end());
      // A little, so that no sample is never drawn again.
      for (float& priority : *priorities) priority += 1e-6f;
    }
    return absl::OkStatus();
  });
}

void Learner::AddMetrics(const std::vector<float>& readings, double learning_rate,
                         double mean_age) {
  static constexpr std::pair<int, const char*> kNames[] = {
      {kTotalLoss, "loss/total"},       {kLatentLoss, "loss/latent"},
      {kRewardLoss, "loss/reward"},     {kValueLoss, "loss/value"},
      {kPolicyLoss, "loss/policy"},     {kPolicyEntropy, "policy/entropy"},
      {kValueMean, "value/mean"},       {kValueError, "value/error"},
      {kLatentSpread, "latent/spread"}, {kLatentNorm, "latent/norm"},
      {kGradientNorm, "grad/norm"}};
  for (const auto& [index, name] : kNames) AddMetric(name, readings[index]);
  for (size_t i = 0; i < extra_figures_.size(); ++i) {
    AddMetric(extra_figures_[i], readings[kFirstExtraFigure + i]);
  }
  AddMetric("grad/clipped", readings[kGradientNorm] > config_.train.grad_clip ? 1.0 : 0.0);
  AddMetric("train/learning_rate", learning_rate);
  AddMetric("replay/age", mean_age);
  ++num_summed_;
}

absl::StatusOr<MetricMap> Learner::MeasureOpenLoop() {
  if (!last_batch_.has_value()) return MetricMap();
  return CatchTorch([&]() -> absl::StatusOr<MetricMap> {
    const torch::NoGradGuard no_grad;
    const at::Tensor errors = model_->ComputeOpenLoopErrors(
        FirstSamples(*last_batch_, kOpenLoopSamples), kOpenLoopHorizons);
    last_batch_.reset();
    MetricMap metrics;
    if (!errors.defined()) return metrics;
    const at::Tensor numbers = errors.to(at::kCPU, at::kFloat).contiguous();
    static constexpr const char* kNames[] = {"reward", "value", "latent"};
    for (int64_t row = 0; row < 3; ++row) {
      for (int64_t k = 0; k < numbers.size(1); ++k) {
        const float error = numbers[row][k].item<float>();
        // Not a number: no sample reaches so far.
        if (!std::isnan(error)) {
          metrics[absl::StrCat("open_loop/", kNames[row], "_", k + 1)] = error;
        }
      }
    }
    return metrics;
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
  last_batch_.reset();
  return absl::OkStatus();
}

}  // namespace lzero
