// Tests of ConsistencyErrors: each rule broken alone, and the values next to it.
#include "lzero/config/consistency.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/load.h"

namespace lzero::consistency_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct BrokenRule {
  std::vector<std::string> overrides;
  const char* key;
  const char* message;
};

const BrokenRule kBrokenRules[] = {
    {{"model.support_size=100"}, "model.support_size", "must be odd"},
    {{"model.latent_norm=sim_norm"},
     "model.latent_loss",
     "got latent_loss mse, latent_norm sim_norm; allowed: mse with layer_norm, group_kl with "
     "sim_norm"},
    {{"model.latent_loss=group_kl"},
     "model.latent_loss",
     "got latent_loss group_kl, latent_norm layer_norm"},
    {{"search.num_sampled_actions=4", "inference.device=cuda",
      "inference.runner=cuda_search_graph"},
     "search.num_sampled_actions",
     "cuda_search_graph searches all actions of a node"},
    {{"search.cheap_fraction=0.5", "inference.device=cuda", "inference.runner=cuda_search_graph"},
     "search.cheap_fraction",
     "cuda_search_graph has searches of one size"},
    {{"search.cheap_fraction=0.5", "search.cheap_num_simulations=26"},
     "search.cheap_num_simulations",
     "must be at most num_simulations; got 26 of 25"},
    {{"model.value_support={min: 1, max: 1, bins: 3}"},
     "model.value_support",
     "must be {} or {min: A, max: B, bins: N}"},
    {{"model.reward_support={max: 1, bins: 3}"},
     "model.reward_support",
     "must be {} or {min: A, max: B, bins: N}"},
    {{"model.latent_norm=sim_norm", "model.latent_loss=group_kl", "model.sim_norm_group=6"},
     "model.sim_norm_group",
     "must divide embed_dim; got sim_norm_group 6, embed_dim 64"},
    {{"replay.num_context_steps=4", "replay.sample_from=episode_starts"},
     "replay.num_context_steps",
     "nothing lies before the start of an episode; got num_context_steps 4"},
    {{"replay.fresh_share=0.5"},
     "replay.fresh_share",
     "got 0.5 of the samples with fresh_updates 0; allowed: 0, or fresh_updates above 0"},
    {{"replay.fresh_share=0.5", "replay.fresh_updates=9"},
     "replay.fresh_share",
     "needs 1925 searches for each env step once replay is full; allowed: 1000 at most"},
    {{"replay.fresh_share=0.5", "replay.fresh_updates=900", "replay.reanalyze_ratio=2"},
     "replay.fresh_share",
     "got 0.5 and 2; allowed: one of the two, since both say how often"},
    {{"search.num_sampled_actions=2", "search.num_interior_samples=3"},
     "search.num_interior_samples",
     "must be at most num_sampled_actions; got 3"},
    {{"replay.td_decay_updates=5", "replay.td_steps=2"},
     "replay.td_steps_final",
     "must be at most td_steps, from where it shrinks; got td_steps_final 3, td_steps 2"},
    {{"train.tail_updates=5", "stop.max_env_steps=null", "stop.max_updates=9"},
     "train.tail_updates",
     "begins at stop.max_env_steps; got max_env_steps null"},
    {{"replay.bootstrap_context_steps=2", "replay.augment_symmetries=true"},
     "replay.bootstrap_context_steps",
     "got 2 and true; allowed: one of the two"},
    {{"replay.augment_shift=2", "replay.augment_symmetries=true"},
     "replay.augment_shift",
     "got 2 and true; allowed: one of the two, since a shifted board is no image of the game"},
    {{"search.q_transform=completed_by_mix_value"},
     "search.q_transform",
     "completed_by_mix_value belongs to policy gumbel"},
    {{"search.policy=gumbel", "search.q_transform=min_max"},
     "search.q_transform",
     "does not fit policy gumbel; got min_max; allowed with gumbel: completed_by_mix_value, "
     "tree_min_max"},
    {{"search.policy=gumbel", "search.q_transform=parent_and_siblings"},
     "search.q_transform",
     "got parent_and_siblings"},
    {{"search.min_value=1"},
     "search.min_value",
     "must be less than max_value; got min_value 1, max_value 1"},
    {{"replay.capacity=199", "train.start_env_steps=0"},
     "replay.capacity",
     "must hold a whole segment; got capacity 199, segment_length 200"},
    {{"replay.td_steps=99996"},
     "replay.capacity",
     "must hold num_context_steps + num_unroll_steps + td_steps; got capacity 100000, needed "
     "100001"},
    {{"replay.capacity=500", "train.batch_size=501"},
     "replay.capacity",
     "must hold a batch; got capacity 500, batch_size 501"},
    {{"replay.capacity=499"},
     "replay.capacity",
     "must hold what is collected before the first update; got capacity 499, start_env_steps 500"},
    {{"train.learning_rate_schedule=cosine", "train.final_learning_rate=0.01"},
     "train.final_learning_rate",
     "must not be more than learning_rate; got final_learning_rate 0.01, learning_rate 0.001"},
    {{"train.learning_rate_schedule=linear", "stop.max_env_steps=null", "stop.max_updates=10"},
     "train.learning_rate_schedule",
     "cosine and linear end at stop.max_env_steps"},
    {{"train.on_nan=rollback", "checkpoint.every_updates=0"},
     "train.on_nan",
     "rollback needs checkpoints during the run"},
    {{"train.dtype=tf32"},
     "train.dtype",
     "the learner has tf32 on a CUDA device alone; got device cpu; allowed: fp32, or device cuda"},
    {{"train.dtype=bf16"},
     "train.dtype",
     "the learner has bf16 on a CUDA device alone; got device cpu; allowed: fp32, or device cuda"},
    {{"train.dtype=tf32", "inference.device=cuda", "inference.graphs=off"},
     "train.dtype",
     "without graphs tf32 would reach the searches that run beside an update; got graphs off"},
    {{"inference.graphs=required"},
     "inference.graphs",
     "no graph runner on device cpu; got required; allowed: preferred, off"},
    {{"inference.device=cuda", "inference.graphs=required", "inference.runner=eager"},
     "inference.graphs",
     "runner eager records no graph; got required"},
    {{"inference.device=cuda", "inference.runner=packed"},
     "inference.runner",
     "packed runs on the CPU; got packed on device cuda"},
    {{"inference.runner=cuda_graph"},
     "inference.runner",
     "cuda_graph needs a CUDA device; got device cpu"},
    {{"inference.device=cuda", "inference.runner=cuda_graph", "inference.graphs=off"},
     "inference.runner",
     "cuda_graph is nothing but graphs; got graphs off"},
    {{"inference.device=cuda", "inference.runner=cuda_graph", "inference.cache_storage=growing"},
     "inference.cache_storage",
     "graphs need fixed addresses, growing storage moves when it grows"},
    {{"inference.device=cuda", "inference.cache_storage=growing"},
     "inference.cache_storage",
     "graphs need fixed addresses, growing storage moves when it grows"},
    {{"inference.runner=cuda_search_graph"},
     "inference.runner",
     "cuda_search_graph needs a CUDA device; got device cpu"},
    {{"inference.device=cuda", "inference.runner=cuda_search_graph", "inference.graphs=off"},
     "inference.runner",
     "cuda_search_graph is nothing but graphs; got graphs off"},
    {{"inference.device=cuda", "inference.runner=cuda_search_graph",
      "inference.cache_storage=growing"},
     "inference.cache_storage",
     "graphs need fixed addresses, growing storage moves when it grows"},
    {{"inference.runner=eager", "inference.dtype=bf16"},
     "inference.dtype",
     "libtorch's operations have fp32 alone, runner packed fp32 and bf16, graphs on device cuda "
     "also "
     "tf32; got bf16; allowed here: fp32"},
    {{"inference.dtype=tf32"}, "inference.dtype", "got tf32; allowed here: fp32, bf16"},
    {{"inference.device=cuda", "inference.graphs=off", "inference.dtype=bf16"},
     "inference.dtype",
     "got bf16; allowed here: fp32"},
    {{"stop.max_env_steps=null"}, "stop.max_env_steps", "the run would never end"},
    {{"stop.max_env_steps=500"},
     "train.start_env_steps",
     "must be less than stop.max_env_steps, or nothing is learned; got start_env_steps 500, "
     "max_env_steps 500"},
    {{"stop.target_return=1", "evaluate.every_updates=0"},
     "stop.target_return",
     "needs evaluations during the run"},
};

TEST(Consistency, DefaultsKeepEveryRule) {
  EXPECT_THAT(ConsistencyErrors(ExperimentConfig()), IsEmpty());
}

TEST(Consistency, NamesEachBrokenRule) {
  for (const BrokenRule& test : kBrokenRules) {
    const auto loaded = LoadConfigText("{}", "text", test.overrides);
    ASSERT_FALSE(loaded.ok()) << test.message;
    const std::string message(loaded.status().message());
    EXPECT_THAT(message, ContainsRegex(absl::StrCat(test.key, "(=[^ ]+)?: "))) << test.message;
    EXPECT_THAT(message, HasSubstr(test.message));
    EXPECT_THAT(message, Not(HasSubstr("\n"))) << "only this rule";
  }
}

TEST(Consistency, GrowingStorageWithRequiredGraphsIsRefusedInWords) {
  ExperimentConfig config;
  config.inference.graphs = Graphs::kRequired;
  config.inference.cache_storage = CacheStorage::kGrowing;
  const auto errors = ConsistencyErrors(config);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_THAT(errors[1].keys,
              ElementsAre("inference.cache_storage", "inference.graphs", "inference.runner"));
  EXPECT_THAT(errors[1].message,
              HasSubstr("graphs need fixed addresses, growing storage moves when it grows"));
}

TEST(Consistency, AllowsWhatIsNextToARule) {
  const std::vector<std::string> good[] = {
      {"model.support_size=3"},
      {"model.latent_norm=sim_norm", "model.latent_loss=group_kl"},
      {"model.family=muzero", "model.latent_loss=cosine"},
      {"model.family=muzero", "model.latent_loss=none", "model.latent_norm=sim_norm"},
      {"model.sim_norm_group=6"},  // not used with layer_norm
      {"search.policy=gumbel"},
      {"search.policy=gumbel", "search.q_transform=completed_by_mix_value"},
      {"search.q_transform=min_max", "search.min_value=0.5"},
      {"replay.capacity=500"},
      {"replay.td_steps=99995"},
      {"train.learning_rate_schedule=linear", "train.final_learning_rate=0.001"},
      {"train.final_learning_rate=1"},  // not used when constant
      {"train.on_nan=rollback"},
      {"train.dtype=tf32", "inference.device=cuda"},
      {"train.dtype=tf32", "inference.device=cuda", "inference.graphs=off", "deterministic=true"},
      {"train.dtype=tf32", "train.device=cuda", "inference.graphs=off"},
      {"train.dtype=bf16", "inference.device=cuda", "inference.graphs=off"},
      {"inference.graphs=off", "inference.cache_storage=growing"},
      {"inference.dtype=bf16"},
      {"inference.dtype=bf16", "inference.runner=packed"},
      {"inference.device=cuda"},
      {"inference.device=cuda", "inference.dtype=tf32"},
      {"inference.device=cuda", "inference.runner=cuda_search_graph", "inference.dtype=bf16"},
      {"inference.device=cuda", "inference.runner=cuda_graph", "inference.graphs=required"},
      {"inference.device=cuda", "inference.runner=cuda_search_graph", "inference.graphs=required"},
      {"inference.device=cuda", "inference.runner=eager"},
      {"inference.device=cuda", "inference.graphs=off", "inference.cache_storage=growing"},
      {"stop.max_env_steps=null", "stop.max_updates=10"},
      {"stop.max_env_steps=null", "stop.target_return=10"},
      {"stop.max_env_steps=501"},
  };
  for (const auto& overrides : good) {
    const auto loaded = LoadConfigText("{}", "text", overrides);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
  }
}

TEST(FirstErrorTest, IsTheFirstKeyAndItsSentence) {
  EXPECT_TRUE(FirstError({}).ok());
  EXPECT_EQ(FirstError({{{"a.b", "c.d"}, "too small"}, {{"e.f"}, "too large"}}),
            absl::InvalidArgumentError("a.b: too small"));
}

}  // namespace
}  // namespace lzero::consistency_test
