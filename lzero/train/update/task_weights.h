// The weights of one model for several tasks: a network for each task, an ordinary one to whoever
// runs it, and who owns which of its weights. Networks of several tasks read the same numbers where
// they share; an adapter is merged into a task's own copy of them. Gradients of what is shared are
// gathered here. One network without adapters is the plain case: all its weights, under their own
// names. All tensors float32 on one device. Learner's thread only.
#ifndef LZERO_TRAIN_UPDATE_TASK_WEIGHTS_H_
#define LZERO_TRAIN_UPDATE_TASK_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/model/network.h"
#include "lzero/player/weight_names.h"

namespace lzero {

// A weight as files and the optimiser know it.
struct OwnedWeight {
  std::string name;  // "shared.transformer.block0.qkv.weight", "task.pong.policy_head.last.bias"
  size_t owner = 0;  // owners learn, or not, as one
  at::Tensor tensor;
  bool learns = true;  // false: a statistic, which no gradient changes
};

// Numbers of all weights, adapters among them, each counted once; and of the networks of the tasks,
// where what is shared counts for each. Allocates none of them. `shapes`, one a task.
struct WeightCounts {
  int64_t kept = 0, of_views = 0;
};
absl::StatusOr<WeightCounts> CountTaskWeights(absl::Span<const ExperimentConfig> tasks,
                                              absl::Span<const WorldModelShape> shapes);

class TaskWeights {
 public:
  // Fresh weights on `device`: of each task a function of its own seed, of what is shared one of
  // `seed`. `tasks`, as TaskConfigs gives them. Errors as ModelFamily::make_network.
  static absl::StatusOr<TaskWeights> Create(absl::Span<const ExperimentConfig> tasks,
                                            absl::Span<const WorldModelShape> shapes, uint64_t seed,
                                            at::Device device);
  // The plain case, of a network that is there.
  explicit TaskWeights(std::shared_ptr<Network> network);

  at::Device device() const { return views_[0]->device(); }
  // The network of a task, its adapters merged, by work on the current stream where they are stale.
  Network& view(size_t task);
  bool IsStale(size_t task) const { return is_stale_[task]; }
  const std::vector<OwnedWeight>& weights() const { return weights_; }
  const std::vector<std::string>& owners() const { return owners_; }
  // The owners that an update of these tasks changes: those of their weights that are not frozen.
  std::vector<size_t> ActiveOwners(absl::Span<const size_t> tasks) const;

  // After the backward pass of `task`, with gradients in its view: puts those of what is shared
  // aside. What is the task's own keeps them.
  void GatherGradients(size_t task);
  // Forgets what was put aside, and what views hold, as after an update that failed half-way.
  void DropGathered();
  // Ends the gathering: what is shared gets the combined gradients of the tasks gathered since the
  // last call.
  void CombineGradients(Balance balance);

  // Before CombineGradients: keeps the gathered gradients, the last of each task, to compare tasks
  // whose updates are made apart.
  void KeepGathered();
  // The tasks whose gradients are kept and the [T, T] float32 products of their shared parts,
  // undefined where nothing is shared. They are forgotten.
  struct Products {
    std::vector<size_t> tasks;
    at::Tensor products;
  };
  Products TakeProducts();
  void ForgetKept() { kept_.clear(); }

  // In place, without gradient; both have the same tasks. Only the weights of `owners` move, their
  // statistics all the way.
  void MoveTowards(const TaskWeights& other, absl::Span<const size_t> owners, double rate,
                   const at::Tensor& skip);
  void CopyFrom(const TaskWeights& other);
  // Shrink and perturb [Schwarzer et al. 2023]: heads become those of `fresh`, of the other weights
  // a share does; statistics stay. `fresh` has the same tasks.
  void MixWith(const TaskWeights& fresh, double share);
  // The caller has written weights: views merge their adapters anew.
  void OnWritten();

 private:
  // A parameter of a view that is kept elsewhere.
  struct Use {
    at::Tensor leaf;  // of the view
    size_t weight;    // in weights_
    std::optional<size_t> down, up;
  };
  struct Gathered {
    size_t task;
    std::vector<at::Tensor> gradients;  // of its uses
  };

  TaskWeights() = default;
  // Products [T, T] of these gradients of the shared parts; undefined where nothing is.
  at::Tensor SharedProducts(absl::Span<const Gathered> gradients) const;
  // Registers what `task` adds: weights that no task before it has, and its uses.
  void AddTask(const ExperimentConfig& task, size_t num_tasks, std::shared_ptr<Network> view,
               Network* donor);
  void AddAdapter(const ExperimentConfig& task, size_t num_tasks, const std::string& parameter,
                  Use* use);
  size_t OwnerAt(const std::string& name);
  size_t Add(const std::string& name, const std::string& owner, const at::Tensor& tensor,
             bool learns);

  std::vector<std::shared_ptr<Network>> views_;
  std::vector<std::string> owners_;
  std::vector<bool> is_frozen_;                  // by owner
  std::vector<std::vector<size_t>> own_owners_;  // by task
  std::vector<OwnedWeight> weights_;
  std::vector<std::vector<Use>> uses_;  // by task; none in the plain case
  std::vector<bool> is_stale_;          // by task: adapters are to be merged
  std::vector<Gathered> gathered_;
  std::map<size_t, Gathered> kept_;  // by task
};

// How much of each gathered gradient enters the combined one, [T]: from their products [T, T].
std::vector<double> BalanceFactors(Balance balance,
                                   const std::vector<std::vector<double>>& products);

}  // namespace lzero

#endif  // LZERO_TRAIN_UPDATE_TASK_WEIGHTS_H_
