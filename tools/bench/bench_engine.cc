#include "tools/bench/bench_engine.h"

#include <cmath>
#include <utility>

#include "absl/memory/memory.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/build.h"
#include "tools/bench/table/model_cases.h"

namespace lzero {
namespace {

constexpr int64_t kObservationSize = 4;

absl::StatusOr<EngineOptions> OptionsOf(const BenchCase& bench) {
  LZ_ASSIGN_OR_RETURN(const ExperimentConfig config, BenchConfig(bench));
  EngineOptions options;
  options.model = config.model;
  options.shape = {{kObservationSize}, bench.Int("actions")};
  options.inference = config.inference;
  options.num_envs = bench.Int("batch");
  options.search.policy =
      bench.Text("policy") == "gumbel" ? SearchPolicy::kGumbel : SearchPolicy::kPuct;
  options.search.num_simulations = bench.Int("sims");
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

std::vector<BenchAxis> EngineAxes(const std::string& runner, const std::string& sims) {
  std::vector<BenchAxis> axes = StepAxes(runner);
  axes.push_back({"policy", "Policies of the search", "puct", 0, 1, "puct,gumbel"});
  axes.push_back({"sims", "Simulations of a search", sims, 100000});
  return axes;
}

absl::StatusOr<std::unique_ptr<BenchEngine>> BenchEngine::Create(const BenchCase& bench) {
  SetTensorThreads(static_cast<int>(bench.Int("threads")));
  LZ_ASSIGN_OR_RETURN(const EngineOptions options, OptionsOf(bench));
  LZ_ASSIGN_OR_RETURN(auto inference, UniZeroInference::Create(options));
  LZ_ASSIGN_OR_RETURN(const auto weights,
                      WorldModel::Create(options.model, options.shape, /*seed=*/1));
  RandomizeWeights(*weights);
  if (!inference->model().device().is_cpu()) weights->to(inference->model().device());
  LZ_RETURN_IF_ERROR(inference->CopyWeightsFrom(*weights));
  LZ_ASSIGN_OR_RETURN(auto searcher, BuildSearcher(options, inference.get()));
  return absl::WrapUnique(new BenchEngine(options, std::move(inference), std::move(searcher)));
}

BenchEngine::BenchEngine(const EngineOptions& options, std::unique_ptr<UniZeroInference> inference,
                         std::unique_ptr<Searcher> searcher)
    : num_envs_(options.num_envs),
      num_actions_(options.shape.num_actions),
      num_past_(NumRootPastSteps(options.model)),
      inference_(std::move(inference)),
      searcher_(std::move(searcher)) {
  legal_.assign(static_cast<size_t>(num_actions_), 1);
  BeginEpisodes(/*seed=*/0);
}

void BenchEngine::BeginEpisodes(uint64_t seed) {
  const int64_t num_observed = (num_past_ + 1) * kObservationSize;
  RandomStream random(seed, "bench engine");
  observations_.resize(static_cast<size_t>(num_envs_ * num_observed));
  actions_.resize(static_cast<size_t>(num_envs_ * num_past_));
  for (float& number : observations_) number = static_cast<float>(random.Normal());
  for (int32_t& action : actions_) {
    action = static_cast<int32_t>(random.UniformInt(num_actions_));
  }
  roots_.clear();
  for (int64_t env = 0; env < num_envs_; ++env) {
    Root root;
    root.env = EnvId(static_cast<int32_t>(env));
    root.observations =
        absl::MakeConstSpan(observations_).subspan(env * num_observed, num_observed);
    root.actions = absl::MakeConstSpan(actions_).subspan(env * num_past_, num_past_);
    root.step = num_past_;
    root.legal_action_mask = legal_;
    roots_.push_back(root);
    inference_->cache().EndEpisode(root.env);
  }
}

absl::Status BenchEngine::RunSearch() {
  for (Root& root : roots_) ++root.step;
  ++num_searches_;
  SearchRequest request;
  request.search_index = static_cast<uint64_t>(num_searches_);
  return searcher_->Run(*inference_, roots_, request, &result_);
}

}  // namespace lzero
