#include "lzero/config/experiment_config.h"

#include "lzero/config/fields.h"

namespace lzero {
namespace {

void VisitTransformer(FieldVisitor& visitor, ModelConfig& model) {
  visitor.Int({"embed_dim", "Width E of tokens and latent states", "units", kCartPole},
              &model.embed_dim, {2, 65536});
  visitor.Int({"num_layers", "Transformer blocks L", "layers", kCartPole}, &model.num_layers,
              {1, 256});
  visitor.Int({"num_heads", "Attention heads; they divide embed_dim into heads of even size",
               "heads", kCartPole},
              &model.num_heads, {1, 1024});
  visitor.Int({"context_length",
               "Window W: a token attends to itself and the W - 1 tokens before it; an "
               "environment step is two tokens",
               "tokens", kUniZero},
              &model.context_length, {2, 65536});
  visitor.Int({"support_size", "Atoms of the two-hot support of values and rewards, odd", "atoms",
               kLightZero},
              &model.support_size, {3, 100001});
  visitor.OptionalInt(
      {"head_dim", "Hidden units of the heads; null: 4 * embed_dim", "units", kLightZero},
      &model.head_dim, {1, 1048576});
  visitor.Choice({"latent_norm", "Final norm of latent states", "",
                  "LightZero (layer_norm), UniZero (sim_norm)"},
                 &model.latent_norm, {"layer_norm", "sim_norm"});
  visitor.Choice(
      {"latent_loss",
       "Loss of the next latent: mse goes with layer_norm, group_kl with sim_norm; family muzero "
       "alone: none, and cosine, the self-supervised loss of EfficientZero",
       "", "LightZero (mse), UniZero (group_kl), EfficientZero (cosine)"},
      &model.latent_loss, {"mse", "group_kl", "none", "cosine"});
  visitor.Int({"sim_norm_group", "Units in one softmax group of sim_norm", "units", kUniZero},
              &model.sim_norm_group, {2, 65536});
  visitor.Float({"dropout", "Dropped share of activations while learning", "", kPrototype},
                &model.dropout, {0, 1, false, true});
  visitor.Choice({"terminal",
                  "After a true end of an episode: absorb continues with absorbing steps, "
                  "mask leaves later steps out of the losses",
                  "", kPrototype},
                 &model.terminal, {"absorb", "mask"});
}

void VisitOptimizer(FieldVisitor& visitor, TrainConfig& train) {
  visitor.Float({"learning_rate", "AdamW learning rate", "", kPrototype}, &train.learning_rate,
                {0, 10, true});
  visitor.Choice({"learning_rate_schedule",
                  "From learning_rate to final_learning_rate, reached at the "
                  "end of the run: stop.max_env_steps or max_updates"},
                 &train.learning_rate_schedule, {"constant", "cosine", "linear"});
  visitor.Float(
      {"final_learning_rate", "Where a cosine or linear schedule ends; unused when constant"},
      &train.final_learning_rate, {0, 10});
  visitor.Int({"warmup_updates",
               "The learning rate first grows from 0 over this many; 0: no warm-up", "updates"},
              &train.warmup_updates, kSteps);
  visitor.Float({"weight_decay", "AdamW weight decay of tensors with two and more dimensions", "",
                 kLightZero},
                &train.weight_decay, {0, 10});
  visitor.Float({"beta1", "AdamW decay of the first moment", "", kLightZero}, &train.beta1,
                {0, 1, false, true});
  visitor.Float({"beta2", "AdamW decay of the second moment", "", kLightZero}, &train.beta2,
                {0, 1, false, true});
  visitor.Float({"grad_clip", "Largest global norm of the gradient", "", kCartPole},
                &train.grad_clip, {0, 1e9, true});
  visitor.Float(
      {"target_update_rate",
       "Share of the new weights that enters the target network at each update", "", kLightZero},
      &train.target_update_rate, {0, 1, true});
}

}  // namespace

void ModelConfig::Visit(FieldVisitor& visitor) {
  visitor.BeginSection("model", "The world model: encoder, transformer, heads.");
  visitor.Choice({"family",
                  "Kind of model, and with it of inference and losses: unizero is a transformer "
                  "that predicts the steps of its search, muzero and stochastic_muzero have "
                  "recurrent latent states; alphazero is a policy and a value that search in the "
                  "environment itself; of these keys it reads encoder*, embed_dim, head_dim, "
                  "support_size, latent_norm, sim_norm_group and terminal alone",
                  "", kFamilies},
                 &family, {"unizero", "muzero", "stochastic_muzero", "alphazero"});
  visitor.Choice({"encoder",
                  "Encoder of observations: an MLP for vectors, residual convolutions at "
                  "full size for boards, and with stride 2 down to 8x8 for images"},
                 &encoder, {"vector", "board", "image"});
  visitor.Int({"encoder_width", "Vector encoder: width of its hidden layers", "units", kPrototype},
              &encoder_width, {1, 65536});
  visitor.Int({"encoder_layers", "Vector encoder: number of hidden layers", "layers", kPrototype},
              &encoder_layers, {0, 64});
  visitor.Int({"encoder_channels", "Board and image encoder: channels", "channels"},
              &encoder_channels, {1, 4096});
  visitor.Int({"encoder_blocks", "Board and image encoder: residual blocks at the last size",
               "blocks", "LightZero, TicTacToe configs"},
              &encoder_blocks, {0, 256});
  VisitTransformer(visitor, *this);
  visitor.EndSection();
}

void LossConfig::Visit(FieldVisitor& visitor) {
  visitor.BeginSection("loss", "Weights of the loss terms.");
  visitor.Float({"latent_weight", "Next latent state", "", kLightZero}, &latent_weight, kWeight);
  visitor.Float({"reward_weight", "Reward", "", kLightZero}, &reward_weight, kWeight);
  visitor.Float({"value_weight", "Value", "", kLightZero}, &value_weight, kWeight);
  visitor.Float({"policy_weight", "Policy", "", kLightZero}, &policy_weight, kWeight);
  visitor.Float(
      {"entropy_weight", "Bonus on the policy's entropy, inside the policy term", "", kLightZero},
      &entropy_weight, kWeight);
  visitor.Float(
      {"chance_weight", "Family stochastic_muzero: which chance outcome follows", "", kStochastic},
      &chance_weight, kWeight);
  visitor.EndSection();
}

void ReplayConfig::Visit(FieldVisitor& visitor) {
  visitor.BeginSection("replay", "The replay buffer and the targets made from it.");
  visitor.Int({"capacity", "Newest transitions kept", "transitions"}, &capacity, {1, 1e10});
  visitor.Int(
      {"max_mebibytes", "Memory the buffer may hold; older segments are dropped beyond it", "MiB"},
      &max_mebibytes, {1, 1e7});
  visitor.Int({"segment_length", "Longest game segment; longer episodes are stored in several",
               "transitions", "LightZero, Atari segment configs"},
              &segment_length, {1, 1e6});
  visitor.Int({"num_unroll_steps", "Steps U of a training sequence", "steps", kCartPole},
              &num_unroll_steps, {1, 10000});
  visitor.Int({"td_steps", "Rewards summed in the n-step value target before the bootstrap",
               "steps", kPrototype},
              &td_steps, {1, 100000});
  visitor.Int({"num_context_steps",
               "Steps before the first unrolled one that enter the sequence without loss", "steps"},
              &num_context_steps, {0, 10000});
  visitor.Choice({"sample_from",
                  "Where training sequences begin: anywhere in an episode, or at its start, which "
                  "memory tasks need whose cue comes first",
                  "", "LightZero, sample_type"},
                 &sample_from, {"anywhere", "episode_starts"});
  visitor.Float({"discount", "Discount of future rewards", "", kMuZero}, &discount, {0, 1, true});
  visitor.Bool({"prioritized", "Sample by priority instead of uniformly"}, &prioritized);
  visitor.Float(
      {"priority_exponent", "Prioritized: sampling probability goes with priority to this power",
       "", kPriorities},
      &priority_exponent, {0, 10});
  visitor.Float(
      {"importance_exponent", "Prioritized: power of the importance weights", "", kPriorities},
      &importance_exponent, kFraction);
  visitor.Choice({"value_bootstrap",
                  "Value at the end of the n steps: stored from the search, or computed "
                  "by the target network",
                  "", kPrototype},
                 &value_bootstrap, {"search", "target_network"});
  visitor.Bool({"augment_symmetries",
                "Show each sample to the learner as one of its images under the symmetries that "
                "the environment declares, drawn at random",
                "", "AlphaGo Zero, Silver et al. 2017, Methods"},
               &augment_symmetries);
  visitor.Int({"augment_shift",
               "Pictures: show each sample to the learner moved by up to so many pixels each way, "
               "drawn at random, its border repeated",
               "pixels", "DrQ, Yarats et al. 2021; EfficientZero, Ye et al. 2021"},
              &augment_shift, {0, 16});
  visitor.Float({"reanalyze_ratio",
                 "Stored positions, drawn uniformly, that are searched again with the target "
                 "network for each step collected after train.start_env_steps: the new policy and "
                 "root value replace the stored ones. Exact over the run, in batches of "
                 "env.num_collectors; 0: never",
                 "positions", "MuZero Reanalyze, Schrittwieser et al. 2021"},
                &reanalyze_ratio, {0, 1000});
  visitor.EndSection();
}

void TrainConfig::Visit(FieldVisitor& visitor) {
  visitor.BeginSection("train", "The learner.");
  visitor.Int({"batch_size", "Sequences in one update", "sequences", kPrototype}, &batch_size,
              {1, 65536});
  visitor.Float(
      {"updates_per_env_step", "Replay ratio: updates for each collected step, exact over the run",
       "updates", kLightZero},
      &updates_per_env_step, {0, 1000, true});
  visitor.Int(
      {"start_env_steps", "Steps collected before the first update", "env steps", kPrototype},
      &start_env_steps, kSteps);
  visitor.Int({"num_threads", "Threads of the learner's tensor operations", "threads"},
              &num_threads, {1, 1024});
  visitor.Choice({"on_nan",
                  "On a loss or gradient that is not finite: stop, or go on from the last "
                  "checkpoint"},
                 &on_nan, {"stop", "rollback"});
  visitor.Int({"log_every_updates", "Updates from one line of metrics to the next", "updates"},
              &log_every_updates, {1, 1e9});
  VisitOptimizer(visitor, *this);
  visitor.EndSection();
}

void InferenceConfig::Visit(FieldVisitor& visitor) {
  visitor.BeginSection("inference", "How the world model runs inside the search.");
  visitor.Choice({"device", "Where the model runs and learns"}, &device, {"cpu", "cuda"});
  visitor.Choice(
      {"runner",
       "How a recurrent step runs: packed is lzero's own code for the CPU, eager is libtorch's "
       "operations, cuda_graph captures them once and replays them, cuda_search_graph replays a "
       "whole search, trees included, as one CUDA graph; auto: packed on the CPU, on a CUDA device "
       "cuda_graph, or eager with graphs off"},
      &runner, {"auto", "eager", "packed", "cuda_graph", "cuda_search_graph"});
  visitor.Choice({"graphs",
                  "Capture steps as graphs: required refuses to run without, preferred "
                  "falls back, off never captures"},
                 &graphs, {"required", "preferred", "off"});
  visitor.Choice({"dtype",
                  "Weights of the model inside the search; bf16: half the memory and more speed "
                  "for large models, runner packed, results differ a little"},
                 &dtype, {"fp32", "bf16"});
  visitor.Choice({"cache_storage",
                  "Cached keys and values: static is allocated once, growing doubles when "
                  "full"},
                 &cache_storage, {"static", "growing"});
  visitor.Choice({"root_context",
                  "After an update of the weights: rebuild encodes the past steps of a root "
                  "again, carry keeps the older keys and values"},
                 &root_context, {"rebuild", "carry"});
  visitor.Int({"num_threads", "Threads of one recurrent step", "threads"}, &num_threads, {1, 1024});
  visitor.EndSection();
}

void EvaluateConfig::Visit(FieldVisitor& visitor) {
  visitor.BeginSection("evaluate", "Evaluation during training: greedy actions, no noise.");
  visitor.Int({"every_updates", "Updates between two evaluations; 0: only at the end", "updates"},
              &every_updates, kSteps);
  visitor.Int({"episodes", "Episodes of one evaluation", "episodes", kPrototype}, &episodes,
              {1, 1e6});
  visitor.OptionalInt(
      {"num_simulations", "Simulations a search; null: search.num_simulations", "simulations"},
      &num_simulations, {1, 100000});
  visitor.EndSection();
}

void CheckpointConfig::Visit(FieldVisitor& visitor) {
  visitor.BeginSection("checkpoint", "What is kept to resume from.");
  visitor.Int({"every_updates", "Updates between two checkpoints; 0: only at the end and on Ctrl-C",
               "updates"},
              &every_updates, kSteps);
  visitor.Int({"keep", "Newest checkpoints kept, beside `best` (two players: the newest evaluated)",
               "checkpoints"},
              &keep, {1, 1e6});
  visitor.EndSection();
}

void StopConfig::Visit(FieldVisitor& visitor) {
  visitor.BeginSection("stop", "When a run ends: at the first limit that is reached.");
  visitor.OptionalInt({"max_env_steps", "Collected steps; null: no limit", "env steps"},
                      &max_env_steps, kPositiveSteps);
  visitor.OptionalInt({"max_updates", "Updates; null: no limit", "updates"}, &max_updates,
                      kPositiveSteps);
  visitor.OptionalFloat({"target_return",
                         "Solved when `patience` evaluations in a row have this mean return "
                         "or more; null: never. Environments of one player only: the "
                         "return of self-play is no measure of strength"},
                        &target_return, {-1e12, 1e12});
  visitor.Int(
      {"patience", "Evaluations in a row at target_return or more", "evaluations", kPrototype},
      &patience, {1, 1e6});
  visitor.Bool({"end_at_target", "End the run when it is solved; false: say so and go on"},
               &end_at_target);
  visitor.EndSection();
}

void ExperimentConfig::Visit(FieldVisitor& visitor) {
  env.Visit(visitor);
  model.Visit(visitor);
  loss.Visit(visitor);
  search.Visit(visitor);
  replay.Visit(visitor);
  train.Visit(visitor);
  inference.Visit(visitor);
  evaluate.Visit(visitor);
  checkpoint.Visit(visitor);
  stop.Visit(visitor);
  visitor.TextList(
      {"plugins",
       "Libraries that hold environments, plugin:NAME each. A path that is not absolute "
       "starts at the file that names it, on the command line where the program runs; "
       "a run keeps absolute ones, and `resume` takes others when they have moved"},
      &plugins);
  visitor.Int({"seed", "Every random stream of the run derives from it"}, &seed,
              {0, 9007199254740992.0});
  visitor.Bool({"deterministic",
                "Collect and learn in turn: the same seed gives the same metrics, byte for "
                "byte"},
               &deterministic);
}

}  // namespace lzero
