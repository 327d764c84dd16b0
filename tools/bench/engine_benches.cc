// Benchmarks of whole engines under a search, as a collector has them: model, cache, runner, tree
// and roots of endless episodes. None is a test: nothing fails by being slow.
// `lzero bench search --runner ...`: the time of searches by their simulations. A simulation must
// not cost more because of what came before it: sweep --sims and --past to see it.
// `lzero bench unload`: the memory of the process and of the device after each cycle of load,
// search and unload. Not interleaved as elsewhere: the memory after a cycle is all that any runner
// left, so only cycles without another one between them show whether this one grows. `lzero bench
// parity`: the same searches as on eager; gpu_table.py judges what differs.
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/machine.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/family/tensor_families.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/mcts/searcher.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/build.h"
#include "tools/bench/bench_device.h"
#include "tools/bench/table/model_cases.h"

namespace lzero {
namespace {

constexpr int64_t kObservationSize = 4;
constexpr char kEngineAxes[] =
    "device embed layers heads batch context support actions runner=packed dtype threads policy ";

struct BenchEngine {
  std::unique_ptr<UniZeroInference> inference;
  std::unique_ptr<Searcher> searcher;
  int64_t num_past = 0;
  std::vector<uint8_t> legal;
  std::vector<float> observations = {};  // [B, P + 1, observation size]
  std::vector<int32_t> actions = {};     // [B, P]
  std::vector<Root> roots = {};
  SearchResult result = {};  // of the last search
  uint64_t num_searches = 0;

  // Other episodes from now on, a function of `seed`: the next search rebuilds its roots.
  void BeginEpisodes(uint64_t seed) {
    const size_t num_observed = static_cast<size_t>((num_past + 1) * kObservationSize);
    const size_t past_size = static_cast<size_t>(num_past);
    RandomStream random(seed, "bench engine");
    observations.resize(roots.size() * num_observed);
    actions.resize(roots.size() * past_size);
    for (float& number : observations) number = static_cast<float>(random.Normal());
    for (int32_t& action : actions) {
      action = static_cast<int32_t>(random.UniformInt(static_cast<int64_t>(legal.size())));
    }
    for (size_t b = 0; b < roots.size(); ++b) {
      roots[b] = {};
      roots[b].env = EnvId(static_cast<int32_t>(b));
      roots[b].observations =
          absl::MakeConstSpan(observations).subspan(b * num_observed, num_observed);
      roots[b].actions = absl::MakeConstSpan(actions).subspan(b * past_size, past_size);
      roots[b].step = num_past;
      roots[b].legal_action_mask = legal;
      inference->EndEpisode(roots[b].env);
    }
  }

  // One environment step later: roots continue the contexts of the search before, then a whole
  // search.
  absl::Status RunSearch() {
    for (Root& root : roots) ++root.step;
    SearchRequest request;
    request.search_index = ++num_searches;
    return searcher->Run(*inference, roots, request, &result);
  }
};

// Fresh weights have zero last layers: here every output depends on every input.
void RandomizeWeights(WorldModel& model) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  for (at::Tensor& weight : model.parameters()) {
    if (weight.dim() < 2) continue;
    const int64_t inputs = weight.numel() / weight.size(0);
    weight.normal_(0.0, 1.0 / std::sqrt(static_cast<double>(inputs)));
  }
}

// Random weights that all matter and random full pasts, the same for every case of a size. Errors
// as MakeEngine and BuildSearcher.
absl::StatusOr<std::shared_ptr<BenchEngine>> MakeBenchEngine(const BenchCase& bench) {
  SetTensorThreads(static_cast<int>(bench.Int("threads")));
  LZ_ASSIGN_OR_RETURN(const ExperimentConfig config, BenchConfig(bench));
  EngineOptions options;
  options.model = config.model;
  options.shape = {{kObservationSize}, bench.Int("actions")};
  options.inference = config.inference;
  options.num_envs = bench.Int("batch");
  options.search.policy =
      bench.Word("policy") == "gumbel" ? SearchPolicy::kGumbel : SearchPolicy::kPuct;
  options.search.num_simulations = bench.Int("sims");
  options.discount = 0.997;
  if (config.inference.device.is_cpu()) {
    LZ_ASSIGN_OR_RETURN(const int64_t bytes, EngineBytes(options, nullptr));
    LZ_RETURN_IF_ERROR(CheckBenchMemory(bytes));
  }
  LZ_ASSIGN_OR_RETURN(auto made, MakeEngine(options, nullptr));
  std::unique_ptr<UniZeroInference> inference(dynamic_cast<UniZeroInference*>(made.release()));
  LZ_ASSIGN_OR_RETURN(const auto weights,
                      WorldModel::Create(options.model, options.shape, /*seed=*/1));
  RandomizeWeights(*weights);
  LZ_RETURN_IF_ERROR(inference->CopyWeightsFrom(NetworkWeights(*weights)));
  LZ_ASSIGN_OR_RETURN(auto searcher, BuildSearcher(options, inference.get()));
  auto engine = std::make_shared<BenchEngine>(
      BenchEngine{std::move(inference), std::move(searcher), NumRootPastSteps(options.model),
                  std::vector<uint8_t>(static_cast<size_t>(options.shape.num_actions), 1)});
  engine->roots.resize(static_cast<size_t>(options.num_envs));
  engine->BeginEpisodes(/*seed=*/0);
  return engine;
}

// The first search rebuilds its roots, all others continue them.
absl::StatusOr<BenchSubject> PrepareSearches(const BenchCase& bench) {
  constexpr double kMeasuredSeconds = 0.05;
  constexpr int64_t kMinSearches = 2;
  LZ_ASSIGN_OR_RETURN(const BenchDevice* device, BenchDevice::Open(bench.Word("device")));
  LZ_ASSIGN_OR_RETURN(const auto engine, MakeBenchEngine(bench));
  for (int64_t i = 0; i < bench.Int("past"); ++i) LZ_RETURN_IF_ERROR(engine->RunSearch());
  BenchSubject subject;
  subject.run_round = [=](std::vector<double>* seconds) -> absl::Status {
    SetTensorThreads(static_cast<int>(bench.Int("threads")));
    LZ_ASSIGN_OR_RETURN(const double mean, TimeRuns(*device, kMinSearches, kMeasuredSeconds,
                                                    [&] { return engine->RunSearch(); }));
    seconds->push_back(mean / static_cast<double>(bench.Int("sims")));
    return absl::OkStatus();
  };
  subject.metrics = [=]() -> BenchCase {
    return {{"cache_bytes", engine->inference->cache().stats().bytes},
            {"resident_mib", Mebibytes(ResidentBytes())}};
  };
  return subject;
}

// One cycle; all its times include waiting for the device.
absl::StatusOr<BenchCase> RunCycle(const BenchCase& bench) {
  LZ_ASSIGN_OR_RETURN(const BenchDevice* device, BenchDevice::Open(bench.Word("device")));
  const double start = MonotonicSeconds();
  LZ_ASSIGN_OR_RETURN(auto engine, MakeBenchEngine(bench));
  LZ_RETURN_IF_ERROR(device->Wait());
  const double loaded = MonotonicSeconds();
  for (int i = 0; i < 2; ++i) LZ_RETURN_IF_ERROR(engine->RunSearch());
  LZ_RETURN_IF_ERROR(device->Wait());
  const double searched = MonotonicSeconds();
  const double loaded_mib = Mebibytes(ResidentBytes());
  DeviceMemoryUse held, after;
  if (!device->is_cpu()) {
    LZ_ASSIGN_OR_RETURN(held, device->MemoryUse());
  }
  const double measured = MonotonicSeconds();
  engine.reset();
  const double unloaded = MonotonicSeconds();
  BenchCase metrics = {{"load_ms", (loaded - start) * 1e3},
                       {"search_ms", (searched - loaded) * 1e3},
                       {"unload_ms", (unloaded - measured) * 1e3},
                       {"loaded_mib", loaded_mib},
                       {"resident_mib", Mebibytes(ResidentBytes())}};
  if (device->is_cpu()) return metrics;
  LZ_ASSIGN_OR_RETURN(after, device->MemoryUse());
  metrics.Add({{"device_loaded_mib", Mebibytes(held.used_bytes)},
               {"device_mib", Mebibytes(after.used_bytes)},
               {"device_reserved_mib", Mebibytes(after.reserved_bytes)}});
  return metrics;
}

absl::StatusOr<BenchCase> RunParity(const BenchCase& bench) {
  BenchCase eager = bench;
  eager.Add({{"runner", "eager"}, {"dtype", "fp32"}});
  std::vector<SearchResult> results[2];
  LZ_ASSIGN_OR_RETURN(const auto expected, MakeBenchEngine(eager));
  LZ_ASSIGN_OR_RETURN(const auto got, MakeBenchEngine(bench));
  for (int64_t i = 0; i < bench.Int("searches"); ++i) {
    for (BenchEngine* engine : {expected.get(), got.get()}) {
      engine->BeginEpisodes(static_cast<uint64_t>(i));
      LZ_RETURN_IF_ERROR(engine->RunSearch());
      results[engine == got.get()].push_back(engine->result);
    }
  }
  return SearchDifferences(results[1], results[0]);
}

// A case that is run once and says all in its metrics.
template <absl::StatusOr<BenchCase> (*Run)(const BenchCase& bench)>
absl::StatusOr<BenchSubject> PrepareOnce(const BenchCase& bench) {
  const auto metrics = std::make_shared<BenchCase>();
  BenchSubject subject;
  subject.run_round = [=](std::vector<double>*) -> absl::Status {
    LZ_ASSIGN_OR_RETURN(*metrics, Run(bench));
    return absl::OkStatus();
  };
  subject.metrics = [=] { return *metrics; };
  return subject;
}

}  // namespace

BenchTable EngineSearchTable() {
  BenchTable table = StepTable();
  table.verb = "search";
  table.kind = "engine";
  table.unit = "us_per_sim";
  table.rounds = 7;
  table.axes = ModelAxes(absl::StrCat(kEngineAxes, "sims=50 past"));
  table.prepare = PrepareSearches;
  return table;
}

BenchTable UnloadTable() {
  BenchTable table;
  table.verb = "unload";
  table.help = "Load, search and unload an engine again and again: memory after each cycle";
  table.rounds = 0;
  table.axes = ModelAxes(absl::StrCat(kEngineAxes, "sims cycle"));
  table.presets = {{"cuda", "runner", {"eager", "cuda_graph"}}};
  table.check = CheckStepCase;
  table.prepare = PrepareOnce<RunCycle>;
  return table;
}

BenchTable ParityTable() {
  BenchTable table;
  table.verb = "parity";
  table.help = "The same searches on another runner as on eager: what differs";
  table.rounds = 0;
  table.axes = ModelAxes(absl::StrCat(kEngineAxes, "sims searches"));
  table.presets = {{"cpu", "runner dtype", {"packed fp32", "packed bf16"}},
                   {"cuda", "runner", {"cuda_graph"}}};
  table.check = CheckStepCase;
  table.prepare = PrepareOnce<RunParity>;
  return table;
}

}  // namespace lzero
