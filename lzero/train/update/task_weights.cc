#include "lzero/train/update/task_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/tensor_families.h"
#include "lzero/statistics/statistics.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

constexpr char kShared[] = "shared";

// A network of the family whose shared parts are the first weights of all tasks: they depend on the
// run's seed alone, not on which tasks there are.
absl::StatusOr<std::shared_ptr<Network>> MakeDonor(const ExperimentConfig& task, uint64_t seed,
                                                   at::Device device) {
  const ModelConfig defaults;
  ModelConfig config = task.model;
  config.encoder = EncoderKind::kVector;
  config.encoder_width = defaults.encoder_width;
  config.encoder_layers = defaults.encoder_layers;
  const WorldModelShape smallest = {.observation_shape = {1}, .num_actions = 2};
  return TensorFamilyOf(config).make_network(config, smallest, seed, device);
}

}  // namespace

absl::StatusOr<WeightCounts> CountTaskWeights(absl::Span<const ExperimentConfig> tasks,
                                              absl::Span<const WorldModelShape> shapes) {
  std::map<std::string, int64_t> sizes;
  WeightCounts counts;
  for (size_t t = 0; t < tasks.size(); ++t) {
    LZ_ASSIGN_OR_RETURN(
        const auto network,
        TensorFamilyOf(tasks[t].model).make_network(tasks[t].model, shapes[t], 0, at::kMeta));
    counts.of_views += network->num_parameters();
    for (const auto& entry : network->named_parameters()) {
      const WeightPlace place = PlaceOf(tasks[t], tasks.size(), entry.key());
      sizes[place.name] = entry.value().numel();
      if (!HasAdapter(tasks[t], place, entry.value().dim())) continue;
      counts.kept +=
          tasks[t].multitask.adapter_rank * (entry.value().size(0) + entry.value().size(1));
    }
  }
  for (const auto& [name, size] : sizes) counts.kept += size;
  return counts;
}

absl::StatusOr<TaskWeights> TaskWeights::Create(absl::Span<const ExperimentConfig> tasks,
                                                absl::Span<const WorldModelShape> shapes,
                                                uint64_t seed, at::Device device) {
  LZ_CHECK(!tasks.empty() && tasks.size() == shapes.size(), tasks.size(), " tasks, ", shapes.size(),
           " shapes");
  std::vector<std::shared_ptr<Network>> views;
  for (size_t t = 0; t < tasks.size(); ++t) {
    LZ_ASSIGN_OR_RETURN(auto view, TensorFamilyOf(tasks[t].model)
                                       .make_network(tasks[t].model, shapes[t],
                                                     static_cast<uint64_t>(tasks[t].seed), device));
    views.push_back(std::move(view));
  }
  const MultitaskConfig& multitask = tasks[0].multitask;
  if (views.size() == 1 && multitask.adapter_rank == 0 && multitask.freeze.empty()) {
    return TaskWeights(std::move(views[0]));
  }
  std::shared_ptr<Network> donor;
  if (views.size() > 1) {
    LZ_ASSIGN_OR_RETURN(donor, MakeDonor(tasks[0], seed, device));
  }
  TaskWeights made;
  for (size_t t = 0; t < tasks.size(); ++t) {
    made.AddTask(tasks[t], tasks.size(), std::move(views[t]), donor.get());
  }
  for (const std::string& owner : made.owners_) {
    made.is_frozen_.push_back(std::ranges::find(multitask.freeze, owner) != multitask.freeze.end());
  }
  made.OnWritten();
  return made;
}

TaskWeights::TaskWeights(std::shared_ptr<Network> network) {
  for (const auto& entry : network->named_parameters()) {
    Add(entry.key(), "", entry.value(), entry.value().requires_grad());
  }
  views_ = {std::move(network)};
  own_owners_ = {{0}};
  is_frozen_ = {false};
  is_stale_ = {false};
}

size_t TaskWeights::OwnerAt(const std::string& name) {
  const auto found = std::ranges::find(owners_, name);
  if (found != owners_.end()) return static_cast<size_t>(found - owners_.begin());
  owners_.push_back(name);
  return owners_.size() - 1;
}

size_t TaskWeights::Add(const std::string& name, const std::string& owner, const at::Tensor& tensor,
                        bool learns) {
  weights_.push_back({name, OwnerAt(owner), tensor, learns});
  return weights_.size() - 1;
}

void TaskWeights::AddTask(const ExperimentConfig& task, size_t num_tasks,
                          std::shared_ptr<Network> view, Network* donor) {
  const torch::NoGradGuard no_grad;
  std::vector<Use> uses;
  std::vector<size_t> owners;
  for (const auto& entry : view->named_parameters()) {
    const WeightPlace place = PlaceOf(task, num_tasks, entry.key());
    if (const size_t owner = OwnerAt(place.owner);
        std::ranges::find(owners, owner) == owners.end()) {
      owners.push_back(owner);
    }
    at::Tensor leaf = entry.value();
    const bool learns = leaf.requires_grad();
    if (place.owner == task.name) {
      Add(place.name, place.owner, leaf, learns);
      continue;
    }
    // The first task brings the weight, the others read it.
    auto kept = std::ranges::find(weights_, place.name, &OwnedWeight::name);
    if (kept == weights_.end()) {
      at::Tensor first = leaf.detach().clone();
      if (donor != nullptr && place.owner == kShared) {
        first.copy_(donor->named_parameters()[entry.key()]);
      }
      kept = weights_.begin() +
             static_cast<std::ptrdiff_t>(Add(place.name, place.owner, first, learns));
    }
    Use use = {leaf, static_cast<size_t>(kept - weights_.begin()), std::nullopt, std::nullopt};
    if (HasAdapter(task, place, leaf.dim())) {
      AddAdapter(task, num_tasks, entry.key(), &use);
      if (const size_t own = OwnerAt(task.name); std::ranges::find(owners, own) == owners.end()) {
        owners.push_back(own);
      }
    } else {
      use.leaf.set_data(weights_[use.weight].tensor);
    }
    if (learns) uses.push_back(std::move(use));
  }
  views_.push_back(std::move(view));
  uses_.push_back(std::move(uses));
  own_owners_.push_back(std::move(owners));
}

// The sum of W and up * down is W at first: up is 0.
void TaskWeights::AddAdapter(const ExperimentConfig& task, size_t num_tasks,
                             const std::string& parameter, Use* use) {
  const int64_t rank = task.multitask.adapter_rank;
  const AdapterNames names = AdapterNamesOf(task, num_tasks, parameter);
  const int64_t out = use->leaf.size(0), in = use->leaf.size(1);
  torch::manual_seed(StreamKey(static_cast<uint64_t>(task.seed), names.down) >> 1);
  // Drawn on the CPU, so that a seed gives the same weights everywhere.
  const at::Tensor down = at::randn({rank, in}) / std::sqrt(static_cast<double>(in));
  use->down = Add(names.down, task.name, down.to(use->leaf.device()), /*learns=*/true);
  use->up = Add(names.up, task.name, at::zeros({out, rank}, use->leaf.options()), /*learns=*/true);
}

Network& TaskWeights::view(size_t task) {
  if (!is_stale_[task]) return *views_[task];
  const torch::NoGradGuard no_grad;
  for (Use& use : uses_[task]) {
    if (!use.up.has_value()) continue;
    at::Tensor merged = use.leaf.detach();
    at::addmm_out(merged, weights_[use.weight].tensor, weights_[*use.up].tensor,
                  weights_[*use.down].tensor);
  }
  is_stale_[task] = false;
  return *views_[task];
}

void TaskWeights::OnWritten() {
  is_stale_.clear();
  for (size_t t = 0; t < views_.size(); ++t) {
    const bool has_adapters = !uses_.empty() && std::ranges::any_of(uses_[t], [](const Use& use) {
      return use.up.has_value();
    });
    is_stale_.push_back(has_adapters);
  }
}

std::vector<size_t> TaskWeights::ActiveOwners(absl::Span<const size_t> tasks) const {
  std::vector<size_t> active;
  for (const size_t task : tasks) {
    for (const size_t owner : own_owners_[task]) {
      if (!is_frozen_[owner]) active.push_back(owner);
    }
  }
  std::ranges::sort(active);
  active.erase(std::unique(active.begin(), active.end()), active.end());
  return active;
}

void TaskWeights::GatherGradients(size_t task) {
  if (uses_.empty()) return;
  const torch::NoGradGuard no_grad;
  Gathered gathered = {task, {}};
  for (Use& use : uses_[task]) {
    const at::Tensor gradient = use.leaf.grad();
    LZ_CHECK(gradient.defined(), "a weight takes no part in the loss");
    use.leaf.mutable_grad() = at::Tensor();
    if (use.up.has_value()) {
      OwnedWeight& down = weights_[*use.down];
      OwnedWeight& up = weights_[*use.up];
      down.tensor.mutable_grad() = at::mm(up.tensor.t(), gradient);
      up.tensor.mutable_grad() = at::mm(gradient, down.tensor.t());
    }
    gathered.gradients.push_back(gradient);
  }
  gathered_.push_back(std::move(gathered));
}

at::Tensor TaskWeights::SharedProducts(absl::Span<const Gathered> gradients) const {
  std::vector<at::Tensor> rows;
  for (const Gathered& of_task : gradients) {
    std::vector<at::Tensor> parts;
    for (size_t i = 0; i < of_task.gradients.size(); ++i) {
      const OwnedWeight& weight = weights_[uses_[of_task.task][i].weight];
      if (owners_[weight.owner] == kShared) parts.push_back(of_task.gradients[i].flatten());
    }
    if (parts.empty()) return {};  // nothing is shared
    rows.push_back(at::cat(parts));
  }
  if (rows.empty()) return {};
  const at::Tensor matrix = at::stack(rows);
  return at::mm(matrix, matrix.t());
}

void TaskWeights::DropGathered() {
  gathered_.clear();
  for (std::vector<Use>& of_task : uses_) {
    for (Use& use : of_task) use.leaf.mutable_grad() = at::Tensor();
  }
}

void TaskWeights::KeepGathered() {
  for (const Gathered& of_task : gathered_) kept_[of_task.task] = of_task;
}

TaskWeights::Products TaskWeights::TakeProducts() {
  Products taken;
  std::vector<Gathered> gradients;
  for (auto& [task, of_task] : kept_) {
    taken.tasks.push_back(task);
    gradients.push_back(std::move(of_task));
  }
  kept_.clear();
  taken.products = SharedProducts(gradients);
  return taken;
}

void TaskWeights::CombineGradients(Balance balance) {
  if (gathered_.empty()) return;
  const torch::NoGradGuard no_grad;
  const at::Tensor products = balance != Balance::kNone ? SharedProducts(gathered_) : at::Tensor();
  std::vector<double> factors(gathered_.size(), 1.0);
  if (products.defined()) {
    const at::Tensor on_host = products.to(at::kCPU, at::kDouble).contiguous();
    const auto size = static_cast<int64_t>(gathered_.size());
    std::vector<std::vector<double>> numbers;
    for (int64_t i = 0; i < size; ++i) {
      const double* row = on_host.const_data_ptr<double>() + i * size;
      numbers.emplace_back(row, row + size);
    }
    factors = BalanceFactors(balance, numbers);
  }
  // Sums, in the order of the tasks.
  for (size_t g = 0; g < gathered_.size(); ++g) {
    const std::vector<Use>& uses = uses_[gathered_[g].task];
    for (size_t i = 0; i < uses.size(); ++i) {
      OwnedWeight& weight = weights_[uses[i].weight];
      at::Tensor gradient = gathered_[g].gradients[i];
      if (owners_[weight.owner] == kShared && factors[g] != 1.0) gradient.mul_(factors[g]);
      at::Tensor& sum = weight.tensor.mutable_grad();
      sum.defined() ? static_cast<void>(sum.add_(gradient)) : static_cast<void>(sum = gradient);
    }
  }
  gathered_.clear();
}

void TaskWeights::MoveTowards(const TaskWeights& other, absl::Span<const size_t> owners,
                              double rate, const at::Tensor& skip) {
  for (const bool learns : {true, false}) {
    std::vector<at::Tensor> mine, theirs;
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i].learns != learns) continue;
      if (std::ranges::find(owners, weights_[i].owner) == owners.end()) continue;
      mine.push_back(weights_[i].tensor);
      theirs.push_back(other.weights_[i].tensor);
    }
    if (!mine.empty()) MoveTensorsTowards(mine, theirs, learns ? rate : 1.0, skip);
  }
  OnWritten();
}

void TaskWeights::CopyFrom(const TaskWeights& other) {
  const torch::NoGradGuard no_grad;
  LZ_CHECK(weights_.size() == other.weights_.size(), weights_.size(), " against ",
           other.weights_.size(), " tensors");
  for (size_t i = 0; i < weights_.size(); ++i) {
    weights_[i].tensor.copy_(other.weights_[i].tensor);
  }
  OnWritten();
}

void TaskWeights::MixWith(const TaskWeights& fresh, double share) {
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < weights_.size(); ++i) {
    const OwnedWeight& weight = weights_[i];
    if (!weight.learns) continue;
    // What predicts the next latent is no head: it is the dynamics.
    const std::string part = weight.name.substr(0, weight.name.find('.'));
    const bool is_head = part == "projector" || part == "projector_tail" || part == "predictor" ||
                         (absl::EndsWith(part, "_head") && part != "latent_head");
    weight.tensor.lerp_(fresh.weights_[i].tensor, is_head ? 1.0 : share);
  }
  OnWritten();
}

std::vector<double> BalanceFactors(Balance balance,
                                   const std::vector<std::vector<double>>& products) {
  const size_t size = products.size();
  std::vector<double> factors(size, 1.0);
  if (balance == Balance::kGradNorm) {
    std::vector<double> norms;
    for (size_t i = 0; i < size; ++i) norms.push_back(std::sqrt(products[i][i]));
    const double median = Median(norms);
    for (size_t i = 0; i < size; ++i) {
      if (norms[i] > 0.0) factors[i] = median / norms[i];
    }
  } else if (balance == Balance::kPcGrad) {
    factors.assign(size, 0.0);
    for (size_t i = 0; i < size; ++i) {
      // The gradient of task i without what points against another task's, as a sum of gradients.
      std::vector<double> mix(size, 0.0);
      mix[i] = 1.0;
      for (size_t j = 0; j < size; ++j) {
        const double product = std::inner_product(mix.begin(), mix.end(), products[j].begin(), 0.0);
        if (j != i && product < 0.0 && products[j][j] > 0.0) mix[j] -= product / products[j][j];
      }
      for (size_t k = 0; k < size; ++k) factors[k] += mix[k];
    }
  }
  return factors;
}

}  // namespace lzero
