#include "tools/bench/table/bench_search.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/mcts/golden/signature.h"
#include "lzero/mcts/search.h"
#include "nlohmann/json.hpp"
#include "tools/bench/table/bench_figures.h"
#include "tools/bench/table/machine_peaks.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {

namespace {

constexpr int kMinRounds = 5;
constexpr int kMinRuns = 10;          // of one case in one round
constexpr double kMeasuredNs = 10e6;  // of one case in one round

// Answers with rows of a fixed table, moved by one row a step: a few copies, so that what is left
// is tree work. What they cost is measured and subtracted.
class TableModel final : public InferenceModel {
 public:
  TableModel(int num_actions, int num_roots) : num_actions_(num_actions) {
    const size_t rows = static_cast<size_t>(num_roots) + kRows;
    RandomStream stream(/*seed=*/7, "bench search");
    for (size_t i = 0; i < rows * static_cast<size_t>(num_actions); ++i) {
      logits_.push_back(static_cast<float>(stream.Normal()));
    }
    for (size_t i = 0; i < rows; ++i) {
      values_.push_back(static_cast<float>(2.0 * stream.Uniform() - 1.0));
      rewards_.push_back(static_cast<float>(2.0 * stream.Uniform() - 1.0));
    }
    discounts_.assign(rows, 0.997f);
  }

  int num_actions() const override { return num_actions_; }

  absl::Status InitialInference(absl::Span<const Root> /*roots*/, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    step_ = 0;
    Copy(logits_, num_actions_, prior_logits);
    Copy(values_, 1, value);
    return absl::OkStatus();
  }

  absl::Status RecurrentInference(absl::Span<const NodeId> /*parents*/,
                                  absl::Span<const int32_t> /*actions*/,
                                  absl::Span<const NodeId> /*children*/, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    step_ = (step_ + 1) % kRows;
    Copy(logits_, num_actions_, prior_logits);
    Copy(rewards_, 1, rewards);
    Copy(discounts_, 1, discounts);
    Copy(values_, 1, values);
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kRows = 61;

  void Copy(const std::vector<float>& table, int width, absl::Span<float> out) const {
    const auto first = table.begin() + static_cast<ptrdiff_t>(step_) * width;
    std::copy(first, first + static_cast<ptrdiff_t>(out.size()), out.begin());
  }

  int num_actions_;
  size_t step_ = 0;
  std::vector<float> logits_;
  std::vector<float> values_;
  std::vector<float> rewards_;
  std::vector<float> discounts_;
};

double NowNs() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// One size: its search, its model, and what was measured.
struct Case {
  std::string policy;
  int actions = 0;
  int batch = 0;
  int simulations = 0;
  std::unique_ptr<Search> search;
  std::unique_ptr<TableModel> model;
  std::vector<uint8_t> mask;
  std::vector<Root> roots;
  SearchResult result;
  std::vector<float> rewards, discounts, values, logits;  // of the model alone
  double mean_depth = 0.0;
  std::vector<double> ns_per_root_sim;  // one a round

  double Steps() const { return static_cast<double>(batch) * simulations; }
};

absl::Status RunSearch(Case& bench) {
  return bench.search->Run(*bench.model, bench.roots, SearchRequest(), &bench.result);
}

// The model's part of one search.
absl::Status RunModel(Case& bench) {
  const auto rewards = absl::MakeSpan(bench.rewards);
  const auto discounts = absl::MakeSpan(bench.discounts);
  const auto values = absl::MakeSpan(bench.values);
  const auto logits = absl::MakeSpan(bench.logits);
  LZ_RETURN_IF_ERROR(bench.model->InitialInference(bench.roots, logits, values));
  for (int s = 0; s < bench.simulations; ++s) {
    LZ_RETURN_IF_ERROR(
        bench.model->RecurrentInference({}, {}, {}, rewards, discounts, values, logits));
  }
  return absl::OkStatus();
}

// Time of the fastest of a round's runs: the others were interrupted by other programs.
absl::StatusOr<double> FastestNs(Case& bench, absl::Status (*run)(Case&)) {
  double fastest = std::numeric_limits<double>::infinity();
  double total = 0.0;
  for (int i = 0; i < kMinRuns || total < kMeasuredNs; ++i) {
    const double start = NowNs();
    LZ_RETURN_IF_ERROR(run(bench));
    const double elapsed = NowNs() - start;
    fastest = std::min(fastest, elapsed);
    total += elapsed;
  }
  return fastest;
}

absl::StatusOr<Case> MakeCase(const std::string& policy, int actions, int batch, int simulations) {
  Case bench;
  bench.policy = policy;
  bench.actions = actions;
  bench.batch = batch;
  bench.simulations = simulations;
  SearchConfig config;
  config.num_simulations = simulations;
  if (policy != "puct" && policy != "gumbel") {
    return absl::InvalidArgumentError(
        absl::StrCat("--policy is \"", policy, "\"; allowed: puct, gumbel"));
  }
  config.policy = policy == "puct" ? SearchPolicy::kPuct : SearchPolicy::kGumbel;
  LZ_ASSIGN_OR_RETURN(bench.search, Search::Create(config, actions, batch));
  bench.model = std::make_unique<TableModel>(actions, batch);
  bench.mask.assign(static_cast<size_t>(actions), 1);
  bench.roots.resize(static_cast<size_t>(batch));
  for (int b = 0; b < batch; ++b) {
    bench.roots[static_cast<size_t>(b)].env = EnvId(b);
    bench.roots[static_cast<size_t>(b)].legal_action_mask = bench.mask;
  }
  const size_t num_roots = static_cast<size_t>(batch);
  for (auto* output : {&bench.rewards, &bench.discounts, &bench.values}) output->resize(num_roots);
  bench.logits.resize(num_roots * static_cast<size_t>(actions));
  LZ_RETURN_IF_ERROR(RunSearch(bench));  // warm-up, and the pages of the tree
  bench.mean_depth = bench.result.mean_depth;
  return bench;
}

absl::Status MeasureRound(Case& bench) {
  LZ_ASSIGN_OR_RETURN(const double model_ns, FastestNs(bench, RunModel));
  LZ_ASSIGN_OR_RETURN(const double search_ns, FastestNs(bench, RunSearch));
  bench.ns_per_root_sim.push_back((search_ns - model_ns) / bench.Steps());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Case>> MakeCases(const SearchBenchOptions& options) {
  std::vector<Case> cases;
  for (const std::string& policy : options.policies) {
    for (const int actions : options.actions) {
      for (const int batch : options.batches) {
        for (const int simulations : options.simulations) {
          LZ_ASSIGN_OR_RETURN(Case bench, MakeCase(policy, actions, batch, simulations));
          // The roots point at the mask, which keeps its place when the case moves.
          cases.push_back(std::move(bench));
        }
      }
    }
  }
  return cases;
}

std::string JsonOf(const Case& bench, const BenchConditions& conditions,
                   const std::string& signature) {
  const BenchTimes ns = TimesOf(bench.ns_per_root_sim);
  const nlohmann::ordered_json line = {{"bench", "search"},
                                       {"policy", bench.policy},
                                       {"actions", bench.actions},
                                       {"batch", bench.batch},
                                       {"sims", bench.simulations},
                                       {"rounds", bench.ns_per_root_sim.size()},
                                       {"ns_per_root_sim_min", ns.min},
                                       {"ns_per_root_sim_median", ns.median},
                                       {"mean_depth", bench.mean_depth},
                                       {"signature", signature},
                                       {"cpu", conditions.cpu},
                                       {"commit", conditions.commit},
                                       {"load", {conditions.load_before, conditions.load_after}}};
  return line.dump();
}

std::string TableOf(const std::vector<Case>& cases, const std::string& signature) {
  std::string table = "policy  actions  batch   sims  depth  ns_root_sim  median\n";
  for (const Case& bench : cases) {
    const BenchTimes ns = TimesOf(bench.ns_per_root_sim);
    absl::StrAppendFormat(&table, "%-7s %7d %6d %6d %6.2f %12.1f %7.1f\n", bench.policy,
                          bench.actions, bench.batch, bench.simulations, bench.mean_depth, ns.min,
                          ns.median);
  }
  return absl::StrCat(table, "signature ", signature, "\n");
}

}  // namespace

int BenchSearch(const SearchBenchOptions& options) {
  auto cases = MakeCases(options);
  if (!cases.ok()) return PrintError(cases.status(), kExitUsage);
  const auto baseline = BenchBaseline::Load(options.output.against, "search");
  if (!baseline.ok()) return PrintError(baseline.status(), kExitUsage);
  BenchConditions conditions = BeginConditions();
  for (int round = 0; round < std::max(kMinRounds, options.rounds); ++round) {
    for (Case& bench : *cases) {
      const absl::Status measured = MeasureRound(bench);
      if (!measured.ok()) return PrintError(measured, kExitFailure);
    }
  }
  conditions.load_after = LoadAverage();
  const std::string signature = absl::StrFormat("%016x", SearchSignature());
  std::vector<std::string> objects;
  for (const Case& bench : *cases) objects.push_back(JsonOf(bench, conditions, signature));
  PrintBench(objects, TableOf(*cases, signature), *baseline, options.output);
  return kExitOk;
}

}  // namespace lzero
