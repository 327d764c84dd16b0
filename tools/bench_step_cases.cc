#include "tools/bench_step_cases.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/load.h"
#include "tools/bench_sweep.h"

namespace lzero {
namespace {

// The table of inference.md section 5.
const BenchStepCase kStandardSizes[] = {{.embed = 64, .layers = 2, .heads = 2, .batch = 1},
                                        {.embed = 64, .layers = 2, .heads = 2, .batch = 8},
                                        {.embed = 64, .layers = 2, .heads = 2, .batch = 32},
                                        {.embed = 64, .layers = 2, .heads = 2, .batch = 128},
                                        {.embed = 256, .layers = 4, .heads = 8, .batch = 8},
                                        {.embed = 768, .layers = 2, .heads = 8, .batch = 8}};

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

// The model is held to the rules of every other config.
absl::Status CheckModel(const BenchStepCase& step) {
  const std::vector<std::string> settings = {absl::StrCat("model.embed_dim=", step.embed),
                                             absl::StrCat("model.num_layers=", step.layers),
                                             absl::StrCat("model.num_heads=", step.heads),
                                             absl::StrCat("model.context_length=", step.context),
                                             absl::StrCat("model.support_size=", step.support)};
  return LoadConfigText("{}", "bench step", settings).status();
}

absl::Status CheckCase(const BenchStepCase& step) {
  LZ_RETURN_IF_ERROR(CheckName("--runner", step.runner, {"eager", "packed"}));
  LZ_RETURN_IF_ERROR(CheckName("--dtype", step.dtype, {"fp32", "bf16"}));
  if (step.runner == "eager" && step.dtype == "bf16") {
    return absl::InvalidArgumentError(
        "--dtype bf16: runner eager has fp32 alone; use --runner packed");
  }
  LZ_RETURN_IF_ERROR(CheckRange("--batch", step.batch, 65536));
  LZ_RETURN_IF_ERROR(CheckRange("--actions", step.actions, 65536));
  LZ_RETURN_IF_ERROR(CheckRange("--threads", step.threads, 256));
  return CheckModel(step);
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
    cases.assign(std::begin(kStandardSizes), std::end(kStandardSizes));
  } else {
    cases.emplace_back();
  }
  Sweep(options.embed, &BenchStepCase::embed, &cases);
  Sweep(options.layers, &BenchStepCase::layers, &cases);
  Sweep(options.heads, &BenchStepCase::heads, &cases);
  Sweep(options.batch, &BenchStepCase::batch, &cases);
  Sweep(options.context, &BenchStepCase::context, &cases);
  Sweep(options.support, &BenchStepCase::support, &cases);
  Sweep(options.actions, &BenchStepCase::actions, &cases);
  if (options.runners.empty() && options.dtypes.empty() && options.threads.empty()) {
    cases = WithStandardRunners(cases);
  } else {
    Sweep(OrDefault<std::string>(options.runners, {"eager", "packed"}), &BenchStepCase::runner,
          &cases);
    Sweep(options.dtypes, &BenchStepCase::dtype, &cases);
    Sweep(options.threads, &BenchStepCase::threads, &cases);
    const auto has_no_case = [](const BenchStepCase& step) {
      return step.runner == "eager" && step.dtype == "bf16";
    };
    if (!std::all_of(cases.begin(), cases.end(), has_no_case)) {
      cases.erase(std::remove_if(cases.begin(), cases.end(), has_no_case), cases.end());
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
  InferenceConfig inference;
  inference.runner = step.runner == "packed" ? Runner::kPacked : Runner::kEager;
  inference.dtype = step.dtype == "bf16" ? InferenceDtype::kBf16 : InferenceDtype::kFp32;
  inference.num_threads = step.threads;
  return inference;
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
