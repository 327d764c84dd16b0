#include "tools/bench/bench_engine.h"

#include <cmath>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/build.h"

namespace lzero {
namespace {

constexpr int64_t kObservationSize = 4;

EngineOptions OptionsOf(const BenchEngineCase& bench) {
  EngineOptions options;
  options.model = BenchStepModel(bench.step);
  options.shape = {{kObservationSize}, bench.step.actions};
  options.inference = BenchStepInference(bench.step);
  options.num_envs = bench.step.batch;
  options.search.policy = bench.policy == "gumbel" ? SearchPolicy::kGumbel : SearchPolicy::kPuct;
  options.search.num_simulations = bench.simulations;
  options.discount = 0.997;
  return options;
}

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

}  // namespace

absl::StatusOr<std::unique_ptr<BenchEngine>> BenchEngine::Create(const BenchEngineCase& bench) {
  SetTensorThreads(static_cast<int>(bench.step.threads));
  const EngineOptions options = OptionsOf(bench);
  LZ_ASSIGN_OR_RETURN(auto inference, UniZeroInference::Create(options));
  LZ_ASSIGN_OR_RETURN(const auto weights,
                      WorldModel::Create(options.model, options.shape, /*seed=*/1));
  RandomizeWeights(*weights);
  if (!inference->model().device().is_cpu()) weights->to(inference->model().device());
  LZ_RETURN_IF_ERROR(inference->CopyWeightsFrom(*weights));
  LZ_ASSIGN_OR_RETURN(auto searcher, BuildSearcher(options, inference.get()));
  return absl::WrapUnique(new BenchEngine(bench, std::move(inference), std::move(searcher)));
}

BenchEngine::BenchEngine(const BenchEngineCase& bench, std::unique_ptr<UniZeroInference> inference,
                         std::unique_ptr<Searcher> searcher)
    : bench_(bench), inference_(std::move(inference)), searcher_(std::move(searcher)) {
  legal_.assign(static_cast<size_t>(bench.step.actions), 1);
  BeginEpisodes(/*seed=*/0);
}

void BenchEngine::BeginEpisodes(uint64_t seed) {
  const int64_t num_envs = bench_.step.batch;
  const int64_t num_past = NumRootPastSteps(BenchStepModel(bench_.step));
  const int64_t num_observed = (num_past + 1) * kObservationSize;
  RandomStream random(seed, "bench engine");
  observations_.resize(static_cast<size_t>(num_envs * num_observed));
  actions_.resize(static_cast<size_t>(num_envs * num_past));
  for (float& number : observations_) number = static_cast<float>(random.Normal());
  for (int32_t& action : actions_) {
    action = static_cast<int32_t>(random.UniformInt(bench_.step.actions));
  }
  roots_.clear();
  for (int64_t env = 0; env < num_envs; ++env) {
    Root root;
    root.env = EnvId(static_cast<int32_t>(env));
    root.observations =
        absl::MakeConstSpan(observations_).subspan(env * num_observed, num_observed);
    root.actions = absl::MakeConstSpan(actions_).subspan(env * num_past, num_past);
    root.step = num_past;
    root.legal_action_mask = legal_;
    roots_.push_back(root);
    inference_->cache().EndEpisode(root.env);
  }
}

absl::Status BenchEngine::RunSearch(InferenceModel* model) {
  for (Root& root : roots_) ++root.step;
  ++num_searches_;
  SearchRequest request;
  request.search_index = static_cast<uint64_t>(num_searches_);
  return searcher_->Run(model == nullptr ? *inference_ : *model, roots_, request, &result_);
}

std::string EngineCaseJson(const BenchEngineCase& bench) {
  const BenchStepCase& step = bench.step;
  return absl::StrCat(
      "\"device\":\"", step.device, "\",\"runner\":\"", step.runner, "\",\"embed\":", step.embed,
      ",\"layers\":", step.layers, ",\"heads\":", step.heads, ",\"batch\":", step.batch,
      ",\"context\":", step.context, ",\"support\":", step.support, ",\"actions\":", step.actions,
      ",\"dtype\":\"", step.dtype, "\",\"threads\":", step.threads, ",\"policy\":\"", bench.policy,
      "\",\"sims\":", bench.simulations);
}

}  // namespace lzero
