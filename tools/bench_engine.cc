#include "tools/bench_engine.h"

#include <unistd.h>

#include <fstream>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

constexpr int64_t kObservationSize = 4;

UniZeroInferenceOptions OptionsOf(const BenchEngineCase& bench) {
  UniZeroInferenceOptions options;
  options.model = BenchStepModel(bench.step);
  options.shape = {{kObservationSize}, bench.step.actions};
  options.inference = BenchStepInference(bench.step);
  options.num_envs = bench.step.batch;
  options.num_simulations = bench.simulations;
  options.discount = 0.997;
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BenchEngine>> BenchEngine::Create(const BenchEngineCase& bench) {
  at::set_num_threads(static_cast<int>(bench.step.threads));
  const UniZeroInferenceOptions options = OptionsOf(bench);
  LZ_ASSIGN_OR_RETURN(auto inference, UniZeroInference::Create(options));
  LZ_ASSIGN_OR_RETURN(const auto weights,
                      WorldModel::Create(options.model, options.shape, /*seed=*/1));
  LZ_RETURN_IF_ERROR(inference->CopyWeightsFrom(*weights));
  SearchConfig search;
  search.policy = bench.policy == "gumbel" ? SearchPolicy::kGumbel : SearchPolicy::kPuct;
  search.num_simulations = bench.simulations;
  LZ_ASSIGN_OR_RETURN(auto tree, Search::Create(search, static_cast<int>(bench.step.actions),
                                                static_cast<int>(bench.step.batch)));
  return absl::WrapUnique(new BenchEngine(bench, std::move(inference), std::move(tree)));
}

BenchEngine::BenchEngine(const BenchEngineCase& bench, std::unique_ptr<UniZeroInference> inference,
                         std::unique_ptr<Search> search)
    : bench_(bench), inference_(std::move(inference)), search_(std::move(search)) {
  const int64_t num_past = NumRootPastSteps(BenchStepModel(bench.step));
  RandomStream random(0, "bench engine");
  for (int64_t i = 0; i < (num_past + 1) * kObservationSize; ++i) {
    observations_.push_back(static_cast<float>(random.Normal()));
  }
  for (int64_t i = 0; i < num_past; ++i) {
    actions_.push_back(static_cast<int32_t>(random.UniformInt(bench.step.actions)));
  }
  legal_.assign(static_cast<size_t>(bench.step.actions), 1);
  for (int64_t env = 0; env < bench.step.batch; ++env) {
    Root root;
    root.env = EnvId(static_cast<int32_t>(env));
    root.observations = observations_;
    root.actions = actions_;
    root.step = num_past;
    root.legal_action_mask = legal_;
    roots_.push_back(root);
  }
}

absl::Status BenchEngine::RunSearch(InferenceModel* model) {
  for (Root& root : roots_) ++root.step;
  ++num_searches_;
  SearchRequest request;
  request.search_index = static_cast<uint64_t>(num_searches_);
  return search_->Run(model == nullptr ? *inference_ : *model, roots_, request, &result_);
}

std::string EngineCaseJson(const BenchEngineCase& bench) {
  const BenchStepCase& step = bench.step;
  return absl::StrCat("\"runner\":\"", step.runner, "\",\"embed\":", step.embed,
                      ",\"layers\":", step.layers, ",\"heads\":", step.heads,
                      ",\"batch\":", step.batch, ",\"context\":", step.context,
                      ",\"support\":", step.support, ",\"actions\":", step.actions, ",\"dtype\":\"",
                      step.dtype, "\",\"threads\":", step.threads, ",\"policy\":\"", bench.policy,
                      "\",\"sims\":", bench.simulations);
}

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace lzero
