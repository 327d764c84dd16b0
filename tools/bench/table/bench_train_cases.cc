#include "tools/bench/table/bench_train_cases.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/consistency.h"
#include "lzero/config/encoder_rules.h"
#include "lzero/config/load.h"
#include "tools/bench/table/bench_sweep.h"

namespace lzero {
namespace {

constexpr int64_t kImageChannels = 64;
constexpr int64_t kMostNumbers = 1 << 24;  // of one observation

// The table of training.md section 3, and a net for images.
std::vector<BenchTrainCase> StandardCases() {
  BenchTrainCase small, large, longer, image;
  small.batch = 64;
  longer.unroll = 10;
  image.embed = 768;
  image.heads = 8;
  image.batch = 64;
  image.unroll = 10;
  image.encoder = "image";
  image.observation = "3x64x64";
  image.threads = 2;
  return {small, large, longer, image};
}

const std::vector<std::string>& EncoderNames() {
  static const auto* const names = new std::vector<std::string>{"vector", "board", "image"};
  return *names;
}

EncoderKind KindOf(const std::string& name) {
  const std::vector<std::string>& names = EncoderNames();
  return static_cast<EncoderKind>(std::find(names.begin(), names.end(), name) - names.begin());
}

absl::Status CheckObservation(const BenchTrainCase& train) {
  const std::vector<int64_t> shape = ObservationShape(train);
  int64_t size = shape.empty() ? 0 : 1;
  for (const int64_t length : shape) size = size > kMostNumbers ? size : size * length;
  if (size < 1 || size > kMostNumbers) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--observation ", train.observation, ": allowed are lengths joined by x, of 1 .. ",
        kMostNumbers, " numbers together, e.g. 4 or 3x64x64"));
  }
  const auto misfit = FindEncoderMisfit(KindOf(train.encoder), shape);
  if (!misfit.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--observation ", train.observation, ": encoder ", misfit->needs));
}

// The model is held to the rules of every other config.
absl::Status CheckCase(const BenchTrainCase& train) {
  LZ_RETURN_IF_ERROR(CheckName("--encoder", train.encoder, EncoderNames()));
  LZ_RETURN_IF_ERROR(CheckRange("--batch", train.batch, 65536));
  LZ_RETURN_IF_ERROR(CheckRange("--unroll", train.unroll, 10000));
  LZ_RETURN_IF_ERROR(CheckRange("--actions", train.actions, 65536));
  LZ_RETURN_IF_ERROR(CheckRange("--threads", train.threads, 256));
  LZ_RETURN_IF_ERROR(CheckObservation(train));
  const std::vector<std::string> settings = {absl::StrCat("model.embed_dim=", train.embed),
                                             absl::StrCat("model.num_layers=", train.layers),
                                             absl::StrCat("model.num_heads=", train.heads),
                                             absl::StrCat("model.context_length=", train.context),
                                             absl::StrCat("model.support_size=", train.support)};
  const auto rule = [](const ExperimentConfig& config) { return UniZeroModelErrors(config.model); };
  return LoadConfigText("{}", "bench train", settings, rule).status();
}

// Multiplications of the encoder for one observation.
struct EncoderWork {
  int64_t first_layer = 0;
  int64_t rest = 0;
};

EncoderWork VectorWork(const ModelConfig& model, int64_t size) {
  if (model.encoder_layers == 0) return {size * model.embed_dim, 0};
  const int64_t width = model.encoder_width;
  return {size * width, (model.encoder_layers - 1) * width * width + width * model.embed_dim};
}

EncoderWork ConvolutionWork(const ModelConfig& model, const std::vector<int64_t>& shape) {
  const int64_t channels = model.encoder_channels;
  std::vector<PlaneSize> sizes = {{shape[1], shape[2]}};
  if (model.encoder == EncoderKind::kImage) sizes = ImageEncoderSizes(shape[1], shape[2]);
  const auto cells = [](const PlaneSize& size) { return size.height * size.width; };
  const int64_t block = 2 * 9 * channels * channels;  // a cell
  EncoderWork work = {9 * shape[0] * channels * cells(sizes.front()), 0};
  for (size_t i = 1; i < sizes.size(); ++i) work.rest += block * cells(sizes[i]);
  work.rest += cells(sizes.back()) * (model.encoder_blocks * block + channels * model.embed_dim);
  return work;
}

}  // namespace

absl::StatusOr<std::vector<BenchTrainCase>> BenchTrainCases(const BenchTrainOptions& options) {
  std::vector<BenchTrainCase> cases = {BenchTrainCase()};
  if (options.embed.empty() && options.layers.empty() && options.heads.empty() &&
      options.batch.empty() && options.unroll.empty()) {
    cases = StandardCases();
  }
  Sweep(options.embed, &BenchTrainCase::embed, &cases);
  Sweep(options.layers, &BenchTrainCase::layers, &cases);
  Sweep(options.heads, &BenchTrainCase::heads, &cases);
  Sweep(options.batch, &BenchTrainCase::batch, &cases);
  Sweep(options.unroll, &BenchTrainCase::unroll, &cases);
  Sweep(options.context, &BenchTrainCase::context, &cases);
  Sweep(options.support, &BenchTrainCase::support, &cases);
  Sweep(options.actions, &BenchTrainCase::actions, &cases);
  Sweep(options.encoders, &BenchTrainCase::encoder, &cases);
  Sweep(options.observations, &BenchTrainCase::observation, &cases);
  Sweep(options.threads, &BenchTrainCase::threads, &cases);
  for (const BenchTrainCase& train : cases) LZ_RETURN_IF_ERROR(CheckCase(train));
  return cases;
}

std::vector<int64_t> ObservationShape(const BenchTrainCase& train) {
  std::vector<int64_t> shape;
  for (const absl::string_view text : absl::StrSplit(train.observation, 'x')) {
    int64_t length = 0;
    if (!absl::SimpleAtoi(text, &length) || length < 1) return {};
    shape.push_back(length);
  }
  return shape;
}

ExperimentConfig BenchTrainConfig(const BenchTrainCase& train) {
  ExperimentConfig config;
  config.model.encoder = KindOf(train.encoder);
  if (config.model.encoder == EncoderKind::kImage) config.model.encoder_channels = kImageChannels;
  config.model.embed_dim = train.embed;
  config.model.num_layers = train.layers;
  config.model.num_heads = train.heads;
  config.model.context_length = train.context;
  config.model.support_size = train.support;
  config.train.batch_size = train.batch;
  config.train.num_threads = train.threads;
  config.replay.num_unroll_steps = train.unroll;
  return config;
}

int64_t UpdateFlops(const BenchTrainCase& train) {
  const ModelConfig model = BenchTrainConfig(train).model;
  const std::vector<int64_t> shape = ObservationShape(train);
  int64_t size = 1;
  for (const int64_t length : shape) size *= length;
  const EncoderWork encoder = model.encoder == EncoderKind::kVector ? VectorWork(model, size)
                                                                    : ConvolutionWork(model, shape);
  const int64_t encode = encoder.first_layer + encoder.rest;
  const int64_t blocks = 12 * train.embed * train.embed * train.layers;  // of one token
  const int64_t head_dim = 4 * train.embed;
  const auto head = [&](int64_t out) { return head_dim * (train.embed + out); };
  const int64_t heads = head(train.actions) + 2 * head(train.support) + head(train.embed);
  const int64_t forward = encode + 2 * blocks + heads;
  const int64_t gradients = 2 * forward - encoder.first_layer;
  const int64_t target = 2 * encode + blocks + head(train.support);
  return 2 * train.batch * train.unroll * (forward + gradients + target);
}

}  // namespace lzero
