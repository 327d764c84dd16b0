#include "lzero/train/learner.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/families.h"
#include "lzero/inference/engine_device.h"
#include "lzero/model/open_loop.h"
#include "lzero/tensor/host_memory.h"
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

// What is read back from the device, once an update, [n] float32: numbers, then metrics, and for
// new priorities the value errors [N].
at::Tensor Readings(const std::vector<LossMetric>& numbers, const LossTerms& terms,
                    bool with_errors) {
  std::vector<at::Tensor> scalars;
  for (const LossMetric& number : numbers) scalars.push_back(number.value);
  for (const LossMetric& metric : terms.metrics) scalars.push_back(metric.value);
  const at::Tensor readings = at::stack(scalars);
  return with_errors ? at::cat({readings, terms.value_errors}) : readings;
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

absl::StatusOr<std::unique_ptr<Learner>> Learner::Create(const ExperimentConfig& config,
                                                         const WorldModelShape& shape) {
  const uint64_t seed = static_cast<uint64_t>(config.seed);
  KeepTensorMemory();
  return CatchTorch([&]() -> absl::StatusOr<std::unique_ptr<Learner>> {
    LZ_ASSIGN_OR_RETURN(const at::Device device, PrepareDevice(config.inference.device));
    const ModelFamily& family = FamilyOf(config.model);
    LZ_ASSIGN_OR_RETURN(auto model, family.make_network(config.model, shape, seed, device));
    LZ_ASSIGN_OR_RETURN(auto target, family.make_network(config.model, shape, seed, device));
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
    last_batch_ = tensors;
    const bool with_errors = priorities != nullptr;
    const LossTerms terms = model_->ComputeLosses(*target_, tensors, config_.loss);
    terms.total.backward();
    // Everything is asked of the device before the one read, so it is the device that leaves out a
    // step that is not finite.
    const torch::NoGradGuard no_grad;
    const std::vector<LossMetric> finite =
        FiniteNumbers(terms, optimizer_.ClipGradients(), with_errors);
    const at::Tensor readings = Readings(finite, terms, with_errors);
    const at::Tensor is_non_finite = IsNonFinite(finite);
    optimizer_.Step(learning_rate, is_non_finite);
    target_->MoveWeightsTowards(*model_, config_.train.target_update_rate, is_non_finite);
    std::vector<float> numbers(static_cast<size_t>(readings.numel()));
    LZ_RETURN_IF_ERROR(Staging::Wrap("metrics", readings).CopyOut(absl::MakeSpan(numbers)));
    for (size_t i = 0; i < finite.size(); ++i) {
      if (std::isfinite(numbers[i])) continue;
      return absl::AbortedError(
          absl::StrCat(finite[i].name, " of update ", num_updates_ + 1, " is ", numbers[i]));
    }
    ++num_updates_;
    // Metrics and priorities.
    const float gradient_norm = numbers[finite.size() - 1];
    AddMetric("loss/total", numbers[0]);
    AddMetric("grad/norm", gradient_norm);
    AddMetric("grad/clipped", gradient_norm > config_.train.grad_clip ? 1.0 : 0.0);
    for (size_t i = 0; i < terms.metrics.size(); ++i) {
      AddMetric(terms.metrics[i].name, numbers[finite.size() + i]);
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
  });
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
