#include "tools/bench/table/model_cases.h"

#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/encoder_rules.h"
#include "lzero/config/load.h"
#include "lzero/family/unizero/rules/unizero_rules.h"

namespace lzero {
namespace {

constexpr int64_t kImageChannels = 64;
constexpr int64_t kMostNumbers = 1 << 24;  // of one observation

BenchAxis EmbedAxis() { return {"embed", "Embedding sizes E", "64", 65536}; }
BenchAxis LayersAxis() { return {"layers", "Transformer layers L", "2", 256}; }
BenchAxis HeadsAxis() { return {"heads", "Attention heads H", "2", 1024}; }
BenchAxis ContextAxis() { return {"context", "Context lengths W in tokens", "8", 65536}; }
BenchAxis SupportAxis() { return {"support", "Support sizes S", "101", 100001}; }
BenchAxis ThreadsAxis() { return {"threads", "Threads, also of the peaks beside it", "1", 256}; }

// What the case asks of a graph, in the words of the config.
std::string GraphsOf(const std::string& runner) {
  if (absl::StartsWith(runner, "cuda_")) return "required";
  return runner == "eager" ? "off" : "preferred";
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

// Weights of the matrices of all blocks, and of a head with so many outputs (model.md section 2).
int64_t BlockWeights(const BenchCase& bench) {
  return 12 * bench.Int("embed") * bench.Int("embed") * bench.Int("layers");
}

int64_t HeadWeights(const BenchCase& bench, int64_t num_outputs) {
  return 4 * bench.Int("embed") * (bench.Int("embed") + num_outputs);
}

int64_t AllHeadWeights(const BenchCase& bench) {
  return HeadWeights(bench, bench.Int("actions")) + 2 * HeadWeights(bench, bench.Int("support")) +
         HeadWeights(bench, bench.Int("embed"));
}

}  // namespace

std::vector<BenchAxis> StepAxes(const std::string& runner) {
  return {
      {"device", "cpu or cuda", "cpu"},
      EmbedAxis(),
      LayersAxis(),
      HeadsAxis(),
      {"batch", "Environments B", "8", 65536},
      ContextAxis(),
      SupportAxis(),
      {"actions", "Actions A", "6", 65536},
      {"runner", "Runners of the config: auto, eager, packed; on a CUDA device cuda_graph", runner},
      {"dtype", "Numbers of the weights: fp32, bf16 for packed", "fp32"},
      ThreadsAxis()};
}

std::vector<BenchAxis> UpdateAxes() {
  return {{"encoder", "Encoders: vector, board, image", "vector"},
          {"observation", "Observations, as 4 or 3x64x64", "4"},
          EmbedAxis(),
          LayersAxis(),
          HeadsAxis(),
          {"batch", "Samples of an update N", "256", 65536},
          {"unroll", "Unroll steps U", "5", 10000},
          ContextAxis(),
          SupportAxis(),
          {"actions", "Actions A", "2", 65536},
          ThreadsAxis()};
}

std::vector<BenchPreset> StepPresets() {
  const std::string sizes = "embed layers heads batch";
  const std::vector<std::string> of_gpu = {
      "64 2 2 8",  "64 2 2 64",  "64 2 2 256",  "256 4 8 8", "256 4 8 64", "256 4 8 256",
      "768 2 8 8", "768 2 8 64", "768 2 8 256", "768 8 8 8", "768 8 8 64", "768 8 8 256"};
  return {{"cpu",
           sizes,
           sizes,
           {"64 2 2 1", "64 2 2 8", "64 2 2 32", "64 2 2 128", "256 4 8 8", "768 2 8 8"}},
          {"cuda", sizes, sizes, of_gpu},
          {"cpu",
           "runner dtype threads",
           "runner dtype threads",
           {"eager fp32 1", "packed fp32 1", "packed bf16 2"}},
          {"cpu", "runner", "runner", {"eager", "packed"}},
          {"cuda", "runner", "runner", {"eager", "cuda_graph"}}};
}

std::vector<BenchPreset> UpdatePresets() {
  return {{"",
           "embed layers heads batch unroll",
           "encoder observation embed heads batch unroll threads",
           {"vector 4 64 2 64 5 1", "vector 4 64 2 256 5 1", "vector 4 64 2 256 10 1",
            "image 3x64x64 768 8 64 10 2"}}};
}

absl::StatusOr<ExperimentConfig> BenchConfig(const BenchCase& bench) {
  static const auto* const kSettings = new std::map<std::string, std::string>{
      {"embed", "model.embed_dim"},      {"layers", "model.num_layers"},
      {"heads", "model.num_heads"},      {"context", "model.context_length"},
      {"support", "model.support_size"}, {"encoder", "model.encoder"},
      {"device", "inference.device"},    {"runner", "inference.runner"},
      {"dtype", "inference.dtype"},      {"threads", "inference.num_threads"}};
  std::vector<std::string> settings;
  for (const auto& [name, key] : *kSettings) {
    if (bench.Has(name)) settings.push_back(absl::StrCat(key, "=", bench.Word(name)));
  }
  if (bench.Has("runner")) {
    settings.push_back(absl::StrCat("inference.graphs=", GraphsOf(bench.Text("runner"))));
  }
  const auto rule = [](const ExperimentConfig& config) { return UniZeroModelErrors(config.model); };
  LZ_ASSIGN_OR_RETURN(LoadedConfig loaded, LoadConfigText("{}", "bench", settings, rule));
  ExperimentConfig config = std::move(loaded.config);
  if (!bench.Has("unroll")) return config;
  if (config.model.encoder == EncoderKind::kImage) config.model.encoder_channels = kImageChannels;
  config.train.batch_size = bench.Int("batch");
  config.train.num_threads = bench.Int("threads");
  config.replay.num_unroll_steps = bench.Int("unroll");
  return config;
}

bool LacksBf16(const BenchCase& bench) {
  const std::string& runner = bench.Text("runner");
  return bench.Text("dtype") == "bf16" && runner != "packed" && runner != "auto";
}

absl::Status CheckStepCase(const BenchCase& bench) {
  const std::string &runner = bench.Text("runner"), &device = bench.Text("device");
  if (absl::StartsWith(runner, "cuda_") && device != "cuda") {
    return absl::InvalidArgumentError(
        absl::StrCat("--runner ", runner, " needs --device cuda; got --device ", device));
  }
  if (LacksBf16(bench)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--dtype bf16: runner ", runner, " has fp32 alone; use --runner packed"));
  }
  return BenchConfig(bench).status();
}

absl::Status CheckUpdateCase(const BenchCase& bench) {
  LZ_ASSIGN_OR_RETURN(const ExperimentConfig config, BenchConfig(bench));
  const std::vector<int64_t> shape = ObservationShape(bench);
  int64_t size = shape.empty() ? 0 : 1;
  for (const int64_t length : shape) size = size > kMostNumbers ? size : size * length;
  const std::string option = absl::StrCat("--observation ", bench.Text("observation"));
  if (size < 1 || size > kMostNumbers) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": allowed are lengths joined by x, of 1 .. ", kMostNumbers,
                     " numbers together, e.g. 4 or 3x64x64"));
  }
  const auto misfit = FindEncoderMisfit(config.model.encoder, shape);
  if (!misfit.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(option, ": encoder ", misfit->needs));
}

std::vector<int64_t> ObservationShape(const BenchCase& bench) {
  std::vector<int64_t> shape;
  for (const absl::string_view text : absl::StrSplit(bench.Text("observation"), 'x')) {
    int64_t length = 0;
    if (!absl::SimpleAtoi(text, &length) || length < 1) return {};
    shape.push_back(length);
  }
  return shape;
}

BenchWork StepWork(const BenchCase& bench) {
  const int64_t blocks = BlockWeights(bench), heads = AllHeadWeights(bench);
  const int64_t weight_size = bench.Text("dtype") == "bf16" ? 2 : 4;
  return {2 * bench.Int("batch") * (2 * blocks + heads), weight_size * (2 * blocks + heads),
          weight_size * (blocks + heads)};
}

BenchWork UpdateWork(const BenchCase& bench) {
  const auto config = BenchConfig(bench);
  LZ_CHECK(config.ok(), config.status().message());
  const ModelConfig& model = config->model;
  const std::vector<int64_t> shape = ObservationShape(bench);
  int64_t size = 1;
  for (const int64_t length : shape) size *= length;
  const EncoderWork encoder = model.encoder == EncoderKind::kVector ? VectorWork(model, size)
                                                                    : ConvolutionWork(model, shape);
  const int64_t encode = encoder.first_layer + encoder.rest;
  const int64_t forward = encode + 2 * BlockWeights(bench) + AllHeadWeights(bench);
  const int64_t gradients = 2 * forward - encoder.first_layer;
  const int64_t target =
      2 * encode + BlockWeights(bench) + HeadWeights(bench, bench.Int("support"));
  return {2 * bench.Int("batch") * bench.Int("unroll") * (forward + gradients + target)};
}

}  // namespace lzero
