#include "lzero/family/unizero/device/device_network.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

// What NVIDIA recommends for Hopper [cuBLAS documentation, cublasSetWorkspace].
constexpr int64_t kWorkspaceBytes = 32 << 20;

at::ScalarType OperandsOf(InferenceDtype dtype) {
  return dtype == InferenceDtype::kBf16 ? at::kBFloat16 : at::kFloat;
}

ProductType TypeOf(InferenceDtype dtype) {
  if (dtype == InferenceDtype::kBf16) return ProductType::kBf16;
  return dtype == InferenceDtype::kTf32 ? ProductType::kTf32 : ProductType::kFp32;
}

float* Floats(const at::Tensor& tensor) { return tensor.mutable_data_ptr<float>(); }

NormPointers PointersOf(const DeviceNorm& norm) { return {Floats(norm.weight), Floats(norm.bias)}; }

// Widths of the scratch.
struct Widths {
  int64_t hidden, wide, active, outputs;

  Widths(const ModelConfig& config, const WorldModelShape& shape)
      : hidden(config.head_units()),
        wide(std::max(3 * config.embed_dim, 2 * hidden)),
        active(std::max(4 * config.embed_dim, 2 * hidden)),
        outputs(std::max(config.embed_dim, shape.policy_size())) {}
};

}  // namespace

// The launches of one step, one after the other; after an error none.
class DeviceNetwork::Launches {
 public:
  Launches(const DeviceNetwork& network, const StepPlace& place, int num_rows, DeviceStream stream)
      : network_(network),
        functions_(network.functions_),
        type_(network.type_),
        place_(place),
        num_rows_(num_rows),
        size_(static_cast<int>(network.config_.embed_dim)),
        stream_(stream) {}

  int error() const { return error_; }
  const std::string& failed_product() const { return failed_product_; }

  void PutActions() {
    const PutActionTask task = {place_.rows,
                                Floats(network_.weights_.action_table()),
                                static_cast<int>(network_.shape_.action_dim),
                                size_,
                                FirstNorm(),
                                Floats(network_.x_),
                                network_.normal_.mutable_data_ptr()};
    Add([&] { return functions_.put_action(type_, &task, num_rows_, stream_); });
  }

  // The blocks, from the normalised token to the one that heads read.
  void RunBlocks(int token) {
    const auto& blocks = network_.weights_.blocks();
    for (size_t layer = 0; layer < blocks.size(); ++layer) {
      const DeviceBlock& block = blocks[layer];
      Multiply(block.query_key_value, network_.normal_, network_.wide_);
      Attend(block, token, static_cast<int>(layer));
      Multiply(block.projection, network_.mixed_, network_.x_, /*adds=*/true);
      AddAndNormalize(block.projection, PointersOf(block.norm_feed_forward));
      Multiply(block.expand, network_.normal_, network_.active_, false, &block.gelu_bias);
      Multiply(block.contract, network_.active_, network_.x_, /*adds=*/true);
      const bool is_last = layer + 1 == blocks.size();
      AddAndNormalize(block.contract, is_last ? NormPointers{nullptr, nullptr}
                                              : PointersOf(blocks[layer + 1].norm_attention));
    }
  }

  // Both heads, up to the biases of their last layers.
  void RunHeads(const DeviceHeads& heads) {
    Multiply(heads.first, network_.normal_, network_.wide_);
    const int64_t units = heads.norm.weight.size(0) / 2;
    const HeadsGeluTask task = {Floats(network_.wide_), Floats(heads.first.bias),
                                PointersOf(heads.norm), static_cast<int>(units),
                                network_.active_.mutable_data_ptr()};
    Add([&] { return functions_.heads_gelu(type_, &task, num_rows_, stream_); });
    MultiplyHalf(heads.last[0], 0, units, network_.logits_);
    MultiplyHalf(heads.last[1], units, units, network_.outputs_);
  }

  void ReadActions() {
    const DeviceHeads& heads = network_.weights_.action_heads();
    const ModelConfig& config = network_.config_;
    const bool is_sim_norm = config.latent_norm == LatentNorm::kSimNorm;
    const ReadActionTask task = {DecodeOf(heads, network_.reward_support_, place_.rewards),
                                 Floats(network_.outputs_),
                                 Floats(heads.last[1].bias),
                                 size_,
                                 is_sim_norm ? static_cast<int>(config.sim_norm_group) : 0,
                                 FirstNorm(),
                                 Floats(network_.x_),
                                 network_.normal_.mutable_data_ptr()};
    Add([&] { return functions_.read_action(type_, &task, num_rows_, stream_); });
  }

  void ReadLatents() {
    const DeviceHeads& heads = network_.weights_.latent_heads();
    const ReadLatentTask task = {DecodeOf(heads, network_.value_support_, place_.values),
                                 Floats(network_.outputs_), Floats(heads.last[1].bias),
                                 static_cast<int>(network_.shape_.policy_size()),
                                 place_.prior_logits};
    Add([&] { return functions_.read_latent(&task, num_rows_, stream_); });
  }

 private:
  template <typename Launch>
  void Add(const Launch& launch) {
    if (error_ == 0) error_ = launch();
  }
  NormPointers FirstNorm() const {
    return PointersOf(network_.weights_.blocks().front().norm_attention);
  }
  DecodeTask DecodeOf(const DeviceHeads& heads, const ValueSupport& support, float* values) const {
    return {Floats(network_.logits_), Floats(heads.last[0].bias), support, values};
  }
  void Attend(const DeviceBlock& block, int token, int layer) {
    const auto num_heads = static_cast<int>(network_.config_.num_heads);
    const AttendTask task = {place_.rows,
                             token,
                             layer,
                             static_cast<int>(network_.config_.num_layers),
                             num_heads,
                             size_ / num_heads,
                             Floats(network_.wide_),
                             Floats(block.query_key_value.bias),
                             Floats(network_.weights_.rotations()),
                             place_.pool,
                             network_.mixed_.mutable_data_ptr()};
    Add([&] { return functions_.attend(type_, &task, num_rows_, stream_); });
  }
  void AddAndNormalize(const DeviceLinear& last, const NormPointers& norm) {
    const AddAndNormalizeTask task = {Floats(last.bias), size_, norm, Floats(network_.x_),
                                      network_.normal_.mutable_data_ptr()};
    Add([&] { return functions_.add_and_normalize(type_, &task, num_rows_, stream_); });
  }
  void Multiply(const DeviceLinear& linear, const at::Tensor& x, const at::Tensor& y,
                bool adds = false, const at::Tensor* gelu_bias = nullptr) {
    const int64_t in = linear.weight.size(1);
    Multiply({x.const_data_ptr(), linear.weight.const_data_ptr(), y.mutable_data_ptr(), in,
              num_rows_, static_cast<int>(in), static_cast<int>(linear.weight.size(0)), adds,
              gelu_bias != nullptr ? gelu_bias->const_data_ptr() : nullptr});
  }
  // Reads `units` columns of the active hidden layers, from `first` on.
  void MultiplyHalf(const DeviceLinear& linear, int64_t first, int64_t units, const at::Tensor& y) {
    const auto* x = static_cast<const char*>(network_.active_.const_data_ptr());
    Multiply({x + first * static_cast<int64_t>(network_.active_.element_size()),
              linear.weight.const_data_ptr(), y.mutable_data_ptr(), 2 * units, num_rows_,
              static_cast<int>(units), static_cast<int>(linear.weight.size(0)), false, nullptr});
  }
  void Multiply(const ProductTask& task) {
    if (error_ != 0) return;
    error_ = functions_.product(network_.products_, &task, stream_);
    if (error_ == 0) return;
    failed_product_ =
        absl::StrCat(" ([", task.rows, ", ", task.in, "] by [", task.in, ", ", task.out, "])");
  }

  const DeviceNetwork& network_;
  const StepFunctions& functions_;
  ProductType type_;
  const StepPlace& place_;
  int num_rows_;
  int size_;
  DeviceStream stream_;
  int error_ = 0;
  std::string failed_product_;  // its shape, in words
};

absl::StatusOr<std::unique_ptr<DeviceNetwork>> DeviceNetwork::Create(
    const WorldModel& model, int64_t max_rows, InferenceDtype dtype,
    const StepFunctions& functions) {
  const int64_t head_size = model.config().embed_dim / model.config().num_heads;
  if (head_size > kMostHeadSize) {
    return absl::InvalidArgumentError(absl::StrCat(
        "heads of ", head_size, " channels (model.embed_dim / model.num_heads); allowed on device ",
        "cuda with graphs: ", kMostHeadSize, " at most"));
  }
  return CatchTorch([&]() -> absl::StatusOr<std::unique_ptr<DeviceNetwork>> {
    auto network = absl::WrapUnique(new DeviceNetwork(model, max_rows, dtype, functions));
    const int error =
        functions.make_products(network->type_, network->workspace_.mutable_data_ptr(),
                                kWorkspaceBytes, &network->products_);
    if (error != 0) {
      return absl::InternalError(absl::StrCat("products of a step: ", functions.error_text(error)));
    }
    network->OnWeightsChanged();
    return network;
  });
}

DeviceNetwork::DeviceNetwork(const WorldModel& model, int64_t max_rows, InferenceDtype dtype,
                             const StepFunctions& functions)
    : functions_(functions),
      config_(model.config()),
      shape_(model.shape()),
      type_(TypeOf(dtype)),
      value_support_(SupportOf(config_.value_range(), config_.support_size)),
      reward_support_(SupportOf(config_.reward_range(), config_.support_size)),
      weights_(model, OperandsOf(dtype)) {
  const auto floats = at::TensorOptions().device(model.device());
  const auto operands = floats.dtype(OperandsOf(dtype));
  const Widths widths(config_, shape_);
  workspace_ = at::empty({kWorkspaceBytes}, floats.dtype(at::kByte));
  x_ = at::empty({max_rows, config_.embed_dim}, floats);
  normal_ = at::empty({max_rows, config_.embed_dim}, operands);
  mixed_ = at::empty({max_rows, config_.embed_dim}, operands);
  wide_ = at::empty({max_rows, widths.wide}, floats);
  active_ = at::empty({max_rows, widths.active}, operands);
  logits_ = at::empty({max_rows, std::max(config_.value_bins(), config_.reward_bins())}, floats);
  outputs_ = at::empty({max_rows, widths.outputs}, floats);
}

DeviceNetwork::~DeviceNetwork() { functions_.free_products(products_); }

absl::Status DeviceNetwork::LaunchStep(const StepPlace& place, int num_rows,
                                       DeviceStream stream) const {
  Launches launches(*this, place, num_rows, stream);
  launches.PutActions();
  launches.RunBlocks(/*token=*/0);
  launches.RunHeads(weights_.action_heads());
  launches.ReadActions();
  launches.RunBlocks(/*token=*/1);
  launches.RunHeads(weights_.latent_heads());
  launches.ReadLatents();
  if (launches.error() == 0) [[likely]]
    return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("a step on the device: ", functions_.error_text(launches.error()),
                   launches.failed_product()));
}

int64_t DeviceNetwork::Bytes(const ModelConfig& config, const WorldModelShape& shape,
                             int64_t max_rows, InferenceDtype dtype) {
  const Widths widths(config, shape);
  const at::ScalarType type = OperandsOf(dtype);
  const int64_t floats = config.embed_dim + widths.wide +
                         std::max(config.value_bins(), config.reward_bins()) + widths.outputs;
  const int64_t operands = 2 * config.embed_dim + widths.active;
  return kWorkspaceBytes + DeviceWeights::Bytes(config, shape, type) +
         max_rows * (floats * static_cast<int64_t>(sizeof(float)) +
                     operands * static_cast<int64_t>(c10::elementSize(type)));
}

}  // namespace lzero
