#include "lzero/family/unizero/runners/graph_step.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/device/device_network.h"
#include "lzero/kv_cache/step_rows.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

// What a step of M rows reads and writes beside the pool of tokens.
struct StepArrays {
  at::Tensor rows;     // [M, row size] int64, see StepRows
  at::Tensor outputs;  // [M rewards, M values, M x policy size prior logits] float32

  StepArrays(const WorldModelShape& shape, int64_t window, int64_t num_rows, at::Device device)
      : rows(at::zeros(
            {num_rows, StepRowSize(static_cast<int>(window), static_cast<int>(shape.action_dim))},
            at::TensorOptions().device(device).dtype(at::kLong))),
        outputs(at::zeros({num_rows * (2 + shape.policy_size())},
                          at::TensorOptions().device(device))) {}

  StepPlace PlaceOf(float* pool, int64_t window) const {
    float* first = outputs.mutable_data_ptr<float>();
    const int64_t num_rows = rows.size(0);
    return {{rows.const_data_ptr<int64_t>(), static_cast<int32_t>(window),
             static_cast<int32_t>(rows.size(1))},
            pool,
            first,
            first + num_rows,
            first + 2 * num_rows};
  }
};

// Buffers over `arrays` and a pool of their own: row i's context, then its child's tokens.
StepBuffers BuffersOver(const StepArrays& arrays, const WorldModel& model) {
  const int64_t num_rows = arrays.rows.size(0), row_size = arrays.rows.size(1);
  const int64_t window = model.transformer().context_length() - 1;
  const int64_t num_layers = model.transformer().num_layers(), size = model.config().embed_dim;
  const int64_t action_dim = model.shape().action_dim, policy_size = model.shape().policy_size();
  const at::Tensor pool =
      at::zeros({num_rows * (window + 2), num_layers, 2, size}, arrays.outputs.options());
  const auto numbers = arrays.rows.options();
  const at::Tensor slots = at::arange(num_rows * window, numbers).view({num_rows, window});
  const at::Tensor children = at::arange(num_rows, numbers) * 2 + num_rows * window;
  arrays.rows.narrow(1, 0, window).copy_(slots);
  arrays.rows.select(1, window + 1).copy_(children);
  StepBuffers buffers;
  buffers.contexts = {
      pool.narrow(0, 0, num_rows * window).view({num_rows, window, num_layers, 2, size}),
      arrays.rows.select(1, window)};
  buffers.tokens =
      pool.narrow(0, num_rows * window, 2 * num_rows).view({num_rows, 2, num_layers, 2, size});
  buffers.actions = action_dim > 0 ? arrays.rows.view(at::kFloat)
                                         .view({num_rows, 2 * row_size})
                                         .narrow(1, 2 * (window + 2), action_dim)
                                   : arrays.rows.select(1, window + 2);
  buffers.rewards = arrays.outputs.narrow(0, 0, num_rows);
  buffers.values = arrays.outputs.narrow(0, num_rows, num_rows);
  buffers.prior_logits =
      arrays.outputs.narrow(0, 2 * num_rows, num_rows * policy_size).view({num_rows, policy_size});
  return buffers;
}

class GraphStep : public RecurrentStep {
 public:
  // `buffers` over `arrays`, or empty where an engine's cache is the pool.
  GraphStep(StepBuffers buffers, StepArrays arrays, float* pool, int64_t window,
            std::vector<int64_t> buckets, std::unique_ptr<DeviceNetwork> network,
            GraphBackend* backend)
      : RecurrentStep(std::move(buffers)),
        backend_(backend),
        window_(window),
        buckets_(std::move(buckets)),
        arrays_(std::move(arrays)),
        place_(arrays_.PlaceOf(pool, window)),
        network_(std::move(network)),
        rows_(Staging::Wrap("rows of a step", arrays_.rows)),
        outputs_(Staging::Wrap("outputs of a step", arrays_.outputs)) {
    host_rows_.reserve(static_cast<size_t>(arrays_.rows.numel()));
  }

  ~GraphStep() override {
    const absl::Status unloaded = backend_->Unload(std::move(graphs_));
    if (!unloaded.ok()) LZ_LOG_ERROR("unloading the graphs of a step: ", unloaded.message());
  }

  absl::Status CaptureAll() {
    // The largest first: smaller ones then fit into the memory it left behind.
    graphs_.resize(buckets_.size());
    for (size_t i = buckets_.size(); i-- > 0;) {
      const auto num_rows = static_cast<int>(buckets_[i]);
      // Kept by graphs that replay by calling again, which the tests' do.
      const auto body = [this, num_rows] {
        launched_ =
            network_->LaunchStep(place_, num_rows, static_cast<DeviceStream>(backend_->stream()));
      };
      absl::Status status = backend_->WarmUp(kWarmUps, body);
      status.Update(launched_);
      LZ_RETURN_IF_ERROR(Annotate(status, absl::StrCat("warming up a step of ", num_rows)));
      absl::StatusOr<std::unique_ptr<CapturedGraph>> graph = backend_->Capture(body);
      status = graph.status();
      status.Update(launched_);
      if (!status.ok()) return Annotate(status, absl::StrCat("recording a step of ", num_rows));
      graphs_[i] = *std::move(graph);
    }
    return absl::OkStatus();
  }

  std::string name() const override { return "cuda_graph"; }
  void OnWeightsChanged() override { network_->OnWeightsChanged(); }

  absl::Status Run(int64_t batch_size) override {
    if (batch_size < 1 || batch_size > buckets_.back()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a step of ", batch_size, " rows; captured for 1 .. ", buckets_.back()));
    }
    return graphs_[BucketOf(buckets_, batch_size)]->Replay();
  }

  absl::Status RunNodes(const NodeStep& nodes, KVCacheManager* cache,
                        const StepTimes& times) override {
    const auto batch_size = static_cast<int64_t>(nodes.parents.size());
    {
      const ScopedTimer timer(times.copy);
      LZ_RETURN_IF_ERROR(PrepareRows(nodes, cache));
      LZ_RETURN_IF_ERROR(rows_.CopyInAsync(absl::MakeConstSpan(host_rows_)));
    }
    {
      const ScopedTimer timer(times.network);
      LZ_RETURN_IF_ERROR(Run(batch_size));
      LZ_RETURN_IF_ERROR(outputs_.CopyOutAsync());
      LZ_RETURN_IF_ERROR(backend_->Wait());
    }
    const float* first = outputs_.pinned<float>().data();
    const int64_t most = buckets_.back();
    std::copy_n(first, batch_size, nodes.rewards.begin());
    std::copy_n(first + most, batch_size, nodes.values.begin());
    std::copy_n(first + 2 * most, nodes.policies.size(), nodes.policies.begin());
    return absl::OkStatus();
  }

 private:
  // Fills host_rows_ for all rows of the bucket.
  absl::Status PrepareRows(const NodeStep& nodes, KVCacheManager* cache) {
    const size_t row_size = static_cast<size_t>(place_.rows.row_size);
    const size_t count = nodes.parents.size();
    host_rows_.assign(static_cast<size_t>(buckets_[BucketOf(buckets_, count)]) * row_size, 0);
    LZ_RETURN_IF_ERROR(cache->LendStep(nodes.parents, nodes.children, absl::MakeSpan(host_rows_),
                                       static_cast<int64_t>(row_size)));
    const size_t action_at = static_cast<size_t>(window_) + 2;
    const size_t action_dim = nodes.actions.values.size() / count;
    for (size_t row = 0; row * row_size < host_rows_.size(); ++row) {
      int64_t* numbers = host_rows_.data() + row * row_size;
      if (row >= count) {
        numbers[window_ + 1] = kIdleSlot;
      } else if (action_dim > 0) {
        std::memcpy(numbers + action_at, nodes.actions.values.data() + row * action_dim,
                    action_dim * sizeof(float));
      } else {
        numbers[action_at] = nodes.actions.indices[row];
      }
    }
    return absl::OkStatus();
  }

  GraphBackend* backend_;
  int64_t window_;
  std::vector<int64_t> buckets_;
  StepArrays arrays_;
  StepPlace place_;
  std::unique_ptr<DeviceNetwork> network_;
  Staging rows_, outputs_;                              // the arrays
  absl::Status launched_;                               // of the last warm-up or capture
  std::vector<std::unique_ptr<CapturedGraph>> graphs_;  // [buckets]
  std::vector<int64_t> host_rows_;                      // scratch
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecurrentStep>> MakeGraphStep(const WorldModel& model,
                                                             int64_t max_batch,
                                                             InferenceDtype dtype,
                                                             const EngineDevice& device,
                                                             KVCacheManager* cache) {
  std::unique_ptr<GraphStep> step;
  LZ_RETURN_IF_ERROR(device.OnStream([&] {
    return CatchTorch([&]() -> absl::Status {
      std::vector<int64_t> buckets = BucketsUpTo(max_batch);
      const int64_t window = model.transformer().context_length() - 1;
      StepArrays arrays(model.shape(), window, buckets.back(), model.device());
      StepBuffers buffers;
      if (cache == nullptr) {
        buffers = BuffersOver(arrays, model);
      } else {
        arrays.rows.select(1, window + 1).fill_(kIdleSlot);  // a warm-up stores nothing
      }
      float* pool = cache == nullptr
                        ? buffers.contexts.tokens.mutable_data_ptr<float>()
                        : static_cast<float*>(const_cast<void*>(cache->storage_address()));
      LZ_ASSIGN_OR_RETURN(auto network, DeviceNetwork::Create(model, buckets.back(), dtype,
                                                              *device.step_functions));
      step =
          std::make_unique<GraphStep>(std::move(buffers), std::move(arrays), pool, window,
                                      std::move(buckets), std::move(network), device.backend.get());
      return absl::OkStatus();
    });
  }));
  LZ_RETURN_IF_ERROR(step->CaptureAll());
  return step;
}

int64_t GraphStepBytes(const ModelConfig& config, const WorldModelShape& shape, int64_t max_batch,
                       InferenceDtype dtype) {
  const int64_t num_rows = BucketsUpTo(max_batch).back();
  const int64_t row_size =
      StepRowSize(static_cast<int>(config.context_length - 1), static_cast<int>(shape.action_dim));
  return DeviceNetwork::Bytes(config, shape, num_rows, dtype) +
         num_rows * (row_size * static_cast<int64_t>(sizeof(int64_t)) +
                     (2 + shape.policy_size()) * static_cast<int64_t>(sizeof(float)));
}

int64_t GraphStepNodes(int64_t num_layers) { return 11 + 14 * num_layers; }

}  // namespace lzero
