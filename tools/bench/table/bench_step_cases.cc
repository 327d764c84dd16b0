#include "tools/bench/table/bench_step_cases.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/consistency.h"
#include "lzero/config/load.h"
#include "tools/bench/table/bench_sweep.h"

namespace lzero {
namespace {

// The table of inference.md section 5.
const BenchStepCase kStandardSizes[] = {{.embed = 64, .layers = 2, .heads = 2, .batch = 1},
                                        {.embed = 64, .layers = 2, .heads = 2, .batch = 8},
                                        {.embed = 64, .layers = 2, .heads = 2, .batch = 32},
                                        {.embed = 64, .layers = 2, .heads = 2, .batch = 128},
                                        {.embed = 256, .layers = 4, .heads = 8, .batch = 8},
                                        {.embed = 768, .layers = 2, .heads = 8, .batch = 8}};

// The sizes of the same section for a GPU.
std::vector<BenchStepCase> StandardSizes(const std::string& device) {
  if (device != "cuda") return {std::begin(kStandardSizes), std::end(kStandardSizes)};
  std::vector<BenchStepCase> sizes = {{.embed = 64, .layers = 2, .heads = 2},
                                      {.embed = 256, .layers = 4, .heads = 8},
                                      {.embed = 768, .layers = 2, .heads = 8},
                                      {.embed = 768, .layers = 8, .heads = 8}};
  Sweep<int64_t>({8, 64, 256}, &BenchStepCase::batch, &sizes);
  return sizes;
}

// The columns of the same table: eager beside packed on one thread, packed bf16 on two.
std::vector<BenchStepCase> WithStandardRunners(const std::vector<BenchStepCase>& sizes) {
  std::vector<BenchStepCase> cases;
  for (BenchStepCase step : sizes) {
    step.runner = "eager";
    cases.push_back(step);
    step.runner = "packed";
    cases.push_back(step);
    step.dtype = "bf16";
    step.threads = 2;
    cases.push_back(step);
  }
  return cases;
}

template <typename T>
std::vector<T> OrDefault(const std::vector<T>& values, std::vector<T> otherwise) {
  return values.empty() ? otherwise : values;
}

// What the case asks of a graph, in the words of the config.
std::string GraphsOf(const BenchStepCase& step) {
  if (absl::StartsWith(step.runner, "cuda_")) return "required";
  return step.runner == "eager" ? "off" : "preferred";
}

// The case is held to the rules of every other config.
absl::StatusOr<ExperimentConfig> ConfigOf(const BenchStepCase& step) {
  const std::vector<std::string> settings = {absl::StrCat("model.embed_dim=", step.embed),
                                             absl::StrCat("model.num_layers=", step.layers),
                                             absl::StrCat("model.num_heads=", step.heads),
                                             absl::StrCat("model.context_length=", step.context),
                                             absl::StrCat("model.support_size=", step.support),
                                             absl::StrCat("inference.device=", step.device),
                                             absl::StrCat("inference.runner=", step.runner),
                                             absl::StrCat("inference.dtype=", step.dtype),
                                             absl::StrCat("inference.num_threads=", step.threads),
                                             absl::StrCat("inference.graphs=", GraphsOf(step))};
  const auto rule = [](const ExperimentConfig& config) { return UniZeroModelErrors(config.model); };
  LZ_ASSIGN_OR_RETURN(LoadedConfig loaded, LoadConfigText("{}", "bench", settings, rule));
  return std::move(loaded.config);
}

bool HasNoBf16(const BenchStepCase& step) {
  return step.dtype == "bf16" && step.runner != "packed" && step.runner != "auto";
}

absl::Status CheckCase(const BenchStepCase& step) {
  if (absl::StartsWith(step.runner, "cuda_") && step.device != "cuda") {
    return absl::InvalidArgumentError(
        absl::StrCat("--runner ", step.runner, " needs --device cuda; got --device ", step.device));
  }
  if (HasNoBf16(step)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--dtype bf16: runner ", step.runner, " has fp32 alone; use --runner packed"));
  }
  LZ_RETURN_IF_ERROR(CheckRange("--batch", step.batch, 65536));
  LZ_RETURN_IF_ERROR(CheckRange("--actions", step.actions, 65536));
  LZ_RETURN_IF_ERROR(CheckRange("--threads", step.threads, 256));
  return ConfigOf(step).status();
}

// Weights of the matrices of all blocks and of all heads (model.md section 2).
int64_t BlockWeights(const BenchStepCase& step) {
  return 12 * step.embed * step.embed * step.layers;
}

int64_t WeightSize(const BenchStepCase& step) { return step.dtype == "bf16" ? 2 : 4; }

int64_t HeadWeights(const BenchStepCase& step) {
  const int64_t head_dim = 4 * step.embed;
  const int64_t outputs = step.actions + 2 * step.support + step.embed;
  return head_dim * (4 * step.embed + outputs);
}

}  // namespace

absl::StatusOr<std::vector<BenchStepCase>> BenchStepCases(const BenchStepOptions& options) {
  std::vector<BenchStepCase> cases;
  if (options.embed.empty() && options.layers.empty() && options.heads.empty() &&
      options.batch.empty()) {
    cases = StandardSizes(options.device);
  } else {
    cases.emplace_back();
  }
  Sweep<std::string>({options.device}, &BenchStepCase::device, &cases);
  Sweep(options.embed, &BenchStepCase::embed, &cases);
  Sweep(options.layers, &BenchStepCase::layers, &cases);
  Sweep(options.heads, &BenchStepCase::heads, &cases);
  Sweep(options.batch, &BenchStepCase::batch, &cases);
  Sweep(options.context, &BenchStepCase::context, &cases);
  Sweep(options.support, &BenchStepCase::support, &cases);
  Sweep(options.actions, &BenchStepCase::actions, &cases);
  const bool on_cpu = options.device != "cuda";
  if (on_cpu && options.runners.empty() && options.dtypes.empty() && options.threads.empty()) {
    cases = WithStandardRunners(cases);
  } else {
    Sweep(OrDefault<std::string>(options.runners, {"eager", on_cpu ? "packed" : "cuda_graph"}),
          &BenchStepCase::runner, &cases);
    Sweep(options.dtypes, &BenchStepCase::dtype, &cases);
    Sweep(options.threads, &BenchStepCase::threads, &cases);
    if (!std::all_of(cases.begin(), cases.end(), HasNoBf16)) {
      cases.erase(std::remove_if(cases.begin(), cases.end(), HasNoBf16), cases.end());
    }
  }
  for (const BenchStepCase& step : cases) LZ_RETURN_IF_ERROR(CheckCase(step));
  return cases;
}

ModelConfig BenchStepModel(const BenchStepCase& step) {
  ModelConfig model;
  model.embed_dim = step.embed;
  model.num_layers = step.layers;
  model.num_heads = step.heads;
  model.context_length = step.context;
  model.support_size = step.support;
  return model;
}

InferenceConfig BenchStepInference(const BenchStepCase& step) {
  const auto config = ConfigOf(step);
  LZ_CHECK(config.ok(), config.status().message());
  return config->inference;
}

int64_t StepFlops(const BenchStepCase& step) {
  return 2 * step.batch * (2 * BlockWeights(step) + HeadWeights(step));
}

int64_t StepReadBytes(const BenchStepCase& step) {
  return WeightSize(step) * (2 * BlockWeights(step) + HeadWeights(step));
}

int64_t StepWeightBytes(const BenchStepCase& step) {
  return WeightSize(step) * (BlockWeights(step) + HeadWeights(step));
}

}  // namespace lzero
