#include "tools/bench/table/model_cases.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "lzero/base/check.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/load.h"
#include "lzero/config/model/encoder_rules.h"
#include "lzero/family/unizero/rules/unizero_rules.h"

namespace lzero {
namespace {

constexpr int64_t kImageChannels = 64;
constexpr int64_t kMostNumbers = 1 << 24;  // of one observation

// What the case asks of a graph, in the words of the config.
std::string GraphsOf(const std::string& runner) {
  if (absl::StartsWith(runner, "cuda_")) return "required";
  return runner == "eager" ? "off" : "preferred";
}

// Multiplications of the encoder for one observation: of its first layer, and of all.
std::pair<int64_t, int64_t> EncoderWork(const ModelConfig& model,
                                        const std::vector<int64_t>& shape) {
  if (model.encoder == EncoderKind::kVector) {
    const int64_t width = model.encoder_layers == 0 ? model.embed_dim : model.encoder_width;
    int64_t first = width;
    for (const int64_t length : shape) first *= length;
    if (model.encoder_layers == 0) return {first, first};
    return {first, first + (model.encoder_layers - 1) * width * width + width * model.embed_dim};
  }
  const int64_t channels = model.encoder_channels;
  std::vector<PlaneSize> sizes = {{shape[1], shape[2]}};
  if (model.encoder == EncoderKind::kImage) sizes = ImageEncoderSizes(shape[1], shape[2]);
  const auto cells = [](const PlaneSize& size) { return size.height * size.width; };
  const int64_t block = 2 * 9 * channels * channels;  // a cell
  const int64_t first = 9 * shape[0] * channels * cells(sizes.front());
  int64_t all = first;
  for (size_t i = 1; i < sizes.size(); ++i) all += block * cells(sizes[i]);
  all += cells(sizes.back()) * (model.encoder_blocks * block + channels * model.embed_dim);
  return {first, all};
}

// Weights of the matrices of all blocks, and of a head with so many outputs.
int64_t BlockWeights(const BenchCase& bench) {
  return 12 * bench.Int("embed") * bench.Int("embed") * bench.Int("layers");
}

int64_t HeadWeights(const BenchCase& bench, int64_t num_outputs) {
  return 4 * bench.Int("embed") * (bench.Int("embed") + num_outputs);
}

int UpToTwoThreads() { return std::min(2, MachineCores()); }

int64_t AllHeadWeights(const BenchCase& bench) {
  return HeadWeights(bench, bench.Int("actions")) + 2 * HeadWeights(bench, bench.Int("support")) +
         HeadWeights(bench, bench.Int("embed"));
}

}  // namespace

std::vector<BenchAxis> ModelAxes(absl::string_view names) {
  BenchAxis cycle = {"cycle", "Cycles", "10", 10000};
  cycle.counts_up = true;
  const std::vector<BenchAxis> known = {
      {"device", "cpu, cuda or cuda:N", "cpu"},
      {"config", "YAML files of one task", ""},
      {"part", "Parts of a run", "search,update", 0, 1, "search,update"},
      {"encoder", "Encoders: vector, board, image", "vector"},
      {"observation", "Observations, as 4 or 3x64x64", "4"},
      {"embed", "Embedding sizes E", "64", 65536},
      {"layers", "Transformer layers L", "2", 256},
      {"heads", "Attention heads H", "2", 1024},
      {"batch", "Environments B", "8", 65536},
      {"unroll", "Unroll steps U", "5", 10000},
      {"context", "Context lengths W in tokens", "8", 65536},
      {"support", "Support sizes S", "101", 100001},
      {"actions", "Actions A", "6", 65536},
      {"runner", "Runners of the config: auto, eager, packed; on a CUDA device cuda_graph",
       "eager"},
      {"dtype", "Numbers of products: fp32, bf16; on a CUDA device also tf32", "fp32"},
      {"threads", "Threads, also of the peaks beside it", "1", MachineCores()},
      {"policy", "Policies of the search", "puct", 0, 1, "puct,gumbel"},
      {"sims", "Simulations of a search", "25", 100000},
      {"past", "Steps of the episode before the first that is timed", "2", 10000000},
      {"searches", "Searches of B roots each", "100", 100000},
      cycle};
  std::vector<BenchAxis> axes;
  for (const absl::string_view word : absl::StrSplit(names, ' ')) {
    const std::vector<std::string> parts = absl::StrSplit(word, '=');
    const auto is_it = [&](const BenchAxis& axis) { return axis.name == parts[0]; };
    axes.push_back(*absl::c_find_if(known, is_it));
    if (parts.size() > 1) axes.back().defaults = parts[1];
  }
  return axes;
}

std::vector<BenchPreset> StepPresets() {
  const std::string sizes = "embed layers heads batch", runners = "runner dtype threads";
  return {
      {"cpu", sizes, {"64 2 2 1", "64 2 2 8", "64 2 2 32", "64 2 2 128", "256 4 8 8", "768 2 8 8"}},
      {"cuda",
       sizes,
       {"64 2 2 8", "64 2 2 64", "64 2 2 256", "256 4 8 8", "256 4 8 64", "256 4 8 256",
        "768 2 8 8", "768 2 8 64", "768 2 8 256", "768 8 8 8", "768 8 8 64", "768 8 8 256"}},
      {"cpu",
       runners,
       {"eager fp32 1", "packed fp32 1", absl::StrCat("packed bf16 ", UpToTwoThreads())}},
      {"cpu", "runner", {"eager", "packed"}},
      {"cuda", "runner", {"eager", "cuda_graph"}}};
}

std::vector<BenchPreset> UpdatePresets() {
  return {{"",
           "encoder observation embed heads batch unroll threads",
           {"vector 4 64 2 64 5 1", "vector 4 64 2 256 5 1", "vector 4 64 2 256 10 1",
            absl::StrCat("image 3x64x64 768 8 64 10 ", UpToTwoThreads())},
           "embed layers heads batch unroll"}};
}

absl::StatusOr<ExperimentConfig> BenchConfig(const BenchCase& bench) {
  static constexpr std::pair<absl::string_view, absl::string_view> kSettings[] = {
      {"context", "model.context_length"}, {"device", "inference.device"},
      {"dtype", "inference.dtype"},        {"embed", "model.embed_dim"},
      {"encoder", "model.encoder"},        {"heads", "model.num_heads"},
      {"layers", "model.num_layers"},      {"runner", "inference.runner"},
      {"support", "model.support_size"},   {"threads", "inference.num_threads"}};
  std::vector<std::string> settings;
  for (const auto& [name, key] : kSettings) {
    if (bench.Has(name)) settings.push_back(absl::StrCat(key, "=", bench.Word(name)));
  }
  if (bench.Has("runner")) {
    settings.push_back(absl::StrCat("inference.graphs=", GraphsOf(bench.Word("runner"))));
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

bool LacksDtype(const BenchCase& bench) {
  return bench.Word("runner") == "eager" && bench.Word("dtype") != "fp32";
}

absl::Status CheckStepCase(const BenchCase& bench) {
  const std::string runner = bench.Word("runner"), device = bench.Word("device");
  if (absl::StartsWith(runner, "cuda_") && !absl::StartsWith(device, "cuda")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--runner ", runner, " needs --device cuda; got --device ", device));
  }
  if (LacksDtype(bench)) {
    return absl::InvalidArgumentError(absl::StrCat("--dtype ", bench.Word("dtype"),
                                                   ": runner eager has fp32 alone; use --runner "
                                                   "packed, or on a CUDA device cuda_graph"));
  }
  return BenchConfig(bench).status();
}

absl::Status CheckUpdateCase(const BenchCase& bench) {
  LZ_ASSIGN_OR_RETURN(const ExperimentConfig config, BenchConfig(bench));
  const std::vector<int64_t> shape = ObservationShape(bench);
  const std::string option = absl::StrCat("--observation ", bench.Word("observation"));
  if (shape.empty()) {
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
  int64_t size = 1, length = 0;
  for (const absl::string_view text : absl::StrSplit(bench.Word("observation"), 'x')) {
    if (!absl::SimpleAtoi(text, &length) || length < 1 || length > kMostNumbers / size) return {};
    size *= length;
    shape.push_back(length);
  }
  return shape;
}

BenchWork StepWork(const BenchCase& bench) {
  const int64_t blocks = BlockWeights(bench), heads = AllHeadWeights(bench);
  const int64_t weight_size = bench.Word("dtype") == "bf16" ? 2 : 4;
  return {2 * bench.Int("batch") * (2 * blocks + heads), weight_size * (2 * blocks + heads),
          weight_size * (blocks + heads)};
}

BenchWork UpdateWork(const BenchCase& bench) {
  const auto config = BenchConfig(bench);
  LZ_CHECK(config.ok(), config.status().message());
  const auto [first, encode] = EncoderWork(config->model, ObservationShape(bench));
  const int64_t forward = encode + 2 * BlockWeights(bench) + AllHeadWeights(bench);
  const int64_t gradients = 2 * forward - first;
  const int64_t target =
      2 * encode + BlockWeights(bench) + HeadWeights(bench, bench.Int("support"));
  return {2 * bench.Int("batch") * bench.Int("unroll") * (forward + gradients + target)};
}

BenchCase SearchDifferences(const std::vector<SearchResult>& got,
                            const std::vector<SearchResult>& expected) {
  double value_error = 0.0, search_error = 0.0, largest_value = 1.0;
  double roots = 0.0, changed_roots = 0.0, changed_actions = 0.0, visits = 0.0, moved_visits = 0.0;
  const auto keep_largest = [](double error, double* largest) {
    if (std::isnan(error) || error > *largest) *largest = error;  // once NaN it stays so
  };
  for (size_t i = 0; i < expected.size(); ++i) {
    const SearchResult &here = got[i], &there = expected[i];
    const auto num_actions = static_cast<size_t>(there.num_actions);
    for (size_t b = 0; b < static_cast<size_t>(there.num_roots); ++b) {
      const double value = there.network_values[b];
      if (std::isfinite(value)) largest_value = std::max(largest_value, std::abs(value));
      keep_largest(std::abs(here.network_values[b] - value), &value_error);
      keep_largest(std::abs(double{here.root_values[b]} - there.root_values[b]), &search_error);
      int moved = 0;
      for (size_t j = b * num_actions; j < (b + 1) * num_actions; ++j) {
        moved += std::abs(here.visit_counts[j] - there.visit_counts[j]);
        visits += there.visit_counts[j];
      }
      roots += 1;
      changed_roots += moved > 0;
      moved_visits += moved / 2;  // each left one action and came to another
      changed_actions += here.best_actions[b] != there.best_actions[b];
    }
  }
  return {{"value_error_ratio", value_error / largest_value},
          {"search_value_error_ratio", search_error / largest_value},
          {"changed_roots_share", changed_roots / roots},
          {"moved_visits_share", moved_visits / visits},
          {"changed_actions_share", changed_actions / roots}};
}

}  // namespace lzero
