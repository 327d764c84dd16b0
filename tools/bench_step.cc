#include "tools/bench_step.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/stopwatch.h"
#include "lzero/inference/recurrent_step.h"
#include "lzero/world_model/world_model.h"
#include "nlohmann/json.hpp"
#include "tools/machine_peaks.h"
#include "torch/torch.h"

namespace lzero {
namespace {

struct Case {
  ModelConfig model;
  int64_t batch = 0;
  int64_t actions = 0;
  int64_t threads = 1;
  std::string runner;
  std::shared_ptr<WorldModel> weights;
  std::unique_ptr<RecurrentStep> step;
  std::vector<double> seconds;  // of one step, one entry a round
  int64_t repeats = 1;
};

struct Size {
  int64_t embed, layers, heads, batch;
};

// inference.md section 5.
constexpr Size kStandardSizes[] = {{64, 2, 2, 1},   {64, 2, 2, 8},  {64, 2, 2, 32},
                                   {64, 2, 2, 128}, {256, 4, 8, 8}, {768, 2, 8, 8}};

// Floating-point operations of the products in one step of `batch` rows (two tokens, four heads).
double StepFlops(const Case& c) {
  const double e = static_cast<double>(c.model.embed_dim);
  const double l = static_cast<double>(c.model.num_layers);
  const double s = static_cast<double>(c.model.support_size);
  const double products =
      24 * e * e * l + 20 * e * e + 8 * e * s + 4 * e * static_cast<double>(c.actions);
  return 2.0 * products * static_cast<double>(c.batch);
}

// Bytes of fp32 weights that one step reads: blocks twice (two tokens), each head once.
double StepWeightBytes(const Case& c) { return 2.0 * StepFlops(c) / static_cast<double>(c.batch); }

std::vector<Size> Sizes(const BenchStepOptions& options) {
  if (options.embed.empty() && options.layers.empty() && options.batch.empty() &&
      options.heads.empty()) {
    return std::vector<Size>(std::begin(kStandardSizes), std::end(kStandardSizes));
  }
  const auto or_default = [](std::vector<int64_t> values, int64_t value) {
    return values.empty() ? std::vector<int64_t>{value} : values;
  };
  std::vector<Size> sizes;
  for (const int64_t embed : or_default(options.embed, 64)) {
    for (const int64_t layers : or_default(options.layers, 2)) {
      for (const int64_t heads : or_default(options.heads, 2)) {
        for (const int64_t batch : or_default(options.batch, 8)) {
          sizes.push_back({embed, layers, heads, batch});
        }
      }
    }
  }
  return sizes;
}

absl::StatusOr<Case> MakeCase(const Size& size, const std::string& runner, int64_t threads,
                              const BenchStepOptions& options) {
  const bool fits = size.embed > 0 && size.layers > 0 && size.heads > 0 && size.batch > 0 &&
                    size.embed % (2 * size.heads) == 0 && options.context >= 2 &&
                    options.support >= 3 && options.support % 2 == 1 && options.actions > 0;
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat(
        "embed ", size.embed, ", layers ", size.layers, ", heads ", size.heads, ", batch ",
        size.batch, ", context ", options.context, ", support ", options.support, ", actions ",
        options.actions,
        ": all positive, embed divisible by 2 * heads, context at least 2, support odd "
        "and at least 3"));
  }
  Case c;
  c.model.embed_dim = size.embed;
  c.model.num_layers = size.layers;
  c.model.num_heads = size.heads;
  c.model.context_length = options.context;
  c.model.support_size = options.support;
  c.batch = size.batch;
  c.actions = options.actions;
  c.threads = threads;
  c.runner = runner;
  InferenceConfig inference;
  if (runner == "eager") {
    inference.runner = Runner::kEager;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("runner '", runner, "' is not in this build; allowed: eager"));
  }
  auto weights = WorldModel::Create(c.model, {{4}, options.actions}, 0);
  if (!weights.ok()) return weights.status();
  c.weights = *weights;
  c.weights->eval();
  auto step = MakeRecurrentStep(inference, *c.weights, c.batch);
  if (!step.ok()) return step.status();
  c.step = *std::move(step);
  c.step->buffers().contexts.tokens.normal_();
  c.step->buffers().contexts.lengths.fill_(options.context - 1);
  return c;
}

// Seconds of one step, averaged over `repeats`.
double TimeStep(Case& c) {
  at::set_num_threads(static_cast<int>(c.threads));
  const double start = MonotonicSeconds();
  for (int64_t i = 0; i < c.repeats; ++i) {
    if (!c.step->Run(c.batch).ok()) return 0.0;
  }
  return (MonotonicSeconds() - start) / static_cast<double>(c.repeats);
}

nlohmann::ordered_json ToJson(Case& c, double peak_gflops, double peak_gbs, double load_before) {
  std::sort(c.seconds.begin(), c.seconds.end());
  const double best = c.seconds.front(), median = c.seconds[c.seconds.size() / 2];
  const auto rounded = [](double value) { return std::round(value * 100.0) / 100.0; };
  return {{"bench", "step"},
          {"runner", c.runner},
          {"embed", c.model.embed_dim},
          {"layers", c.model.num_layers},
          {"heads", c.model.num_heads},
          {"batch", c.batch},
          {"context", c.model.context_length},
          {"support", c.model.support_size},
          {"actions", c.actions},
          {"dtype", "fp32"},
          {"threads", c.threads},
          {"us_min", rounded(best * 1e6)},
          {"us_median", rounded(median * 1e6)},
          {"gflops", rounded(StepFlops(c) / best * 1e-9)},
          {"peak_gflops", rounded(peak_gflops * static_cast<double>(c.threads))},
          {"gbs", rounded(StepWeightBytes(c) / best * 1e-9)},
          {"peak_gbs", rounded(peak_gbs)},
          {"commit", SourceCommit()},
          {"load", {rounded(load_before), rounded(LoadAverage())}}};
}

}  // namespace

int BenchStep(const BenchStepOptions& options) {
  const double load_before = LoadAverage();
  std::vector<Case> cases;
  for (const Size& size : Sizes(options)) {
    for (const std::string& runner : options.runners) {
      for (const int64_t threads : options.threads) {
        auto made = MakeCase(size, runner, threads, options);
        if (!made.ok()) {
          std::fprintf(stderr, "error: bench step: %s\n",
                       std::string(made.status().message()).c_str());
          return 2;
        }
        cases.push_back(*std::move(made));
      }
    }
  }
  const double peak_gflops = MeasurePeakGflops();
  for (Case& c : cases) {  // warm up, and choose repeats for about 20 ms a round
    TimeStep(c);
    c.repeats = std::clamp<int64_t>(static_cast<int64_t>(0.02 / TimeStep(c)), 3, 1000);
  }
  for (int64_t round = 0; round < options.rounds; ++round) {
    for (Case& c : cases) c.seconds.push_back(TimeStep(c));
  }
  std::string table =
      absl::StrFormat("%-8s %6s %6s %6s %8s %10s %10s %9s %9s\n", "runner", "embed", "layers",
                      "batch", "threads", "us min", "us median", "GFLOP/s", "of peak");
  for (Case& c : cases) {
    const double peak_gbs = MeasureReadGbs(static_cast<int64_t>(StepWeightBytes(c) / 2));
    const auto json = ToJson(c, peak_gflops, peak_gbs, load_before);
    std::printf("%s\n", json.dump().c_str());
    absl::StrAppendFormat(&table, "%-8s %6d %6d %6d %8d %10.1f %10.1f %9.1f %8.0f%%\n", c.runner,
                          c.model.embed_dim, c.model.num_layers, c.batch, c.threads,
                          json["us_min"].get<double>(), json["us_median"].get<double>(),
                          json["gflops"].get<double>(),
                          100.0 * json["gflops"].get<double>() / json["peak_gflops"].get<double>());
  }
  if (!options.json_only) std::printf("%s", table.c_str());
  return 0;
}

}  // namespace lzero
