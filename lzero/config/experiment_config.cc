#include "lzero/config/experiment_config.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "lzero/base/machine.h"
#include "lzero/config/field_sources.h"
#include "lzero/config/fields.h"

namespace lzero {
namespace {

constexpr Range kWeight = {0, 1e6};
constexpr Range kPositiveSteps = {1, 1e12};

// The number of threads, with auto as it is on this machine.
int ThreadsOr(const std::optional<int64_t>& configured) {
  return static_cast<int>(configured.value_or(std::min(2, MachineCores())));
}

}  // namespace

void EnvConfig::Visit(FieldList& field) {
  field.Begin("env", "The environment, and how many copies of it run.");
  field("id", &id, "Name of the environment, see: lzero envs list");
  field("board_size", &board_size, {0, 1000},
        "Rows and columns of a square board; 0: what the environment says", "squares");
  field("settings", &settings, "Settings of this environment alone, see: lzero envs info ID");
  field("max_episode_steps", &max_episode_steps, {0, 1e9},
        "Episodes are truncated after this many steps; 0: what the environment says", "steps");
  field("num_collectors", &num_collectors, {1, 4096},
        "Environments that collect together, one row of the search batch each", "environments",
        kCartPole);
  field("num_evaluators", &num_evaluators, {1, 4096}, "Environments that evaluate together",
        "environments", kTrialRuns);
  field("num_threads", &num_threads, {1, 1024},
        "Threads that step the environments of a role together; at most the cores of the machine. "
        "Changes no result",
        "threads");
  field("random_opening_fraction", &random_opening_fraction, kFractionRange,
        "Share of collected episodes that begin with uniformly random legal moves", "",
        "trial runs on TicTacToe");
  field("random_opening_plies", &random_opening_plies, {1, 10000},
        "Longest random opening; its length is uniform from 1 to this", "moves",
        "trial runs on TicTacToe");
  field("count_bonus", &count_bonus, {0, 1000},
        "Added while collecting to the reward of a step: this over the square root of how often "
        "the run has seen the observation that the step led to: for grids and other observations "
        "that come again exactly; 0: nothing",
        "reward", kCountBonus);
  field("count_bonus_once", &count_bonus_once,
        "count_bonus is given where an episode sees an observation for the first time only", "",
        kEpisodicCounts);
  field("num_workers", &num_workers, {0, 1024},
        "Processes that the Python environments of a role are shared among; 0: one for each core, "
        "no more than environments; changes no result",
        "processes");
  field("max_restarts", &max_restarts, {0, 1000000},
        "Times that a worker process may die and be started again before the run stops; the "
        "episodes it was playing are truncated",
        "restarts");
  field("step_timeout_s", &step_timeout_s, {0, 86400, true},
        "A worker process that answers no message for so long is ended, as if it had died",
        "seconds");
  field("python", &python,
        "Interpreter of Python environments; auto: that of tools/setup.sh --python-envs, else "
        "python3");
  field("python_path", &python_path,
        "Folders where modules of environments and wrappers are looked for, before the one where "
        "the program runs and PYTHONPATH. Relative ones start as those of `plugins`; a run keeps "
        "where it found its modules");
  field("wrappers", &wrappers,
        "gymnasium:<id> alone: module:function each, called with the environment in this order, as "
        "gymnasium.wrappers:FlattenObservation; arguments may follow as Python writes them, "
        "module:function(84, name=[1, 2])");
  field("observation", &observation, {std::begin(kObservationForms), std::end(kObservationForms)},
        "How observations of Python environments are read. picture_last: [height, width, "
        "channels], given channels first, bytes / 255; picture_first: channels are first already; "
        "board_last, board_first: likewise, elements as they are; vector: flat, as they are; auto: "
        "chosen by shape and bounds, see envs/add_python.md");
}

void LossConfig::Visit(FieldList& field) {
  field.Begin("loss", "Weights of the loss terms.");
  field("latent_weight", &latent_weight, kWeight, "Next latent state", "", kLightZero);
  field("reward_weight", &reward_weight, kWeight, "Reward", "", kLightZero);
  field("value_weight", &value_weight, kWeight, "Value", "", kLightZero);
  field("policy_weight", &policy_weight, kWeight, "Policy", "", kLightZero);
  field("entropy_weight", &entropy_weight, kWeight,
        "Bonus on the policy's entropy, inside the policy term", "", kLightZero);
  field("chance_weight", &chance_weight, kWeight,
        "Family stochastic_muzero: which chance outcome follows", "", kStochastic);
}

void ReplayConfig::Visit(FieldList& field) {
  field.Begin("replay", "The replay buffer and the targets made from it.");
  field("capacity", &capacity, {1, 1e10}, "Newest transitions kept", "transitions");
  field("max_mebibytes", &max_mebibytes, {1, 1e7},
        "Memory the buffer may hold; older segments are dropped beyond it", "MiB");
  field("segment_length", &segment_length, {1, 1e6},
        "Longest game segment; longer episodes are stored in several", "transitions",
        "LightZero, Atari segment configs");
  field("num_unroll_steps", &num_unroll_steps, {1, 10000}, "Steps U of a training sequence",
        "steps", kCartPole);
  field("td_steps", &td_steps, {1, 100000},
        "Rewards summed in the n-step value target before the bootstrap", "steps", kTrialRuns);
  field("td_decay_updates", &td_decay_updates, kStepsRange,
        "td_steps shrinks geometrically to td_steps_final over so many updates, anew after each "
        "reset of the network; 0: it stays",
        "updates", kBbf);
  field("td_steps_final", &td_steps_final, {1, 100000}, "Where td_decay_updates ends", "steps",
        kBbf);
  field("td_age", &td_age, kStepsRange,
        "A sample so old has one step of td_steps less, one twice as old two less, down to 1: what "
        "an older policy did counts for less; 0: never",
        "transitions", "EfficientZero, Ye et al. 2021");
  field("num_context_steps", &num_context_steps, {0, 10000},
        "Steps before the first unrolled one that enter the sequence without loss", "steps");
  field("sample_from", &sample_from, {"anywhere", "episode_starts"},
        "Where training sequences begin: anywhere in an episode, or at its start, which memory "
        "tasks need whose cue comes first",
        "", "LightZero, sample_type");
  field("discount", &discount, {0, 1, true}, "Discount of future rewards", "", kMuZero);
  VisitTargets(field);
  VisitSampling(field);
}

void ReplayConfig::VisitTargets(FieldList& field) {
  field("prioritized", &prioritized, "Sample by priority instead of uniformly");
  field("priority_exponent", &priority_exponent, {0, 10},
        "Prioritized: sampling probability goes with priority to this power", "", kPriorities);
  field("importance_exponent", &importance_exponent, kFractionRange,
        "Prioritized: power of the importance weights", "", kPriorities);
  field("min_importance_weight", &min_importance_weight, kFractionRange,
        "Prioritized: importance weights, of which the largest in a batch is 1, are no less", "",
        kEfficientZeroV2);
  field("priority_error", &priority_error, {"mean", "first"},
        "Prioritized: the new priority of a sample, the mean error of its values, or that of its "
        "first position",
        "", kEfficientZeroV2);
  field("initial_priority", &initial_priority, {"largest", "own_error"},
        "Prioritized: of positions that were not sampled yet, the largest priority so far, or how "
        "far the network's value was from rewards and values of the searches that followed",
        "", kEfficientZeroV2);
  field(
      "value_bootstrap", &value_bootstrap, {"search", "target_network"},
      "Value at the end of the n steps: stored from the search, or computed by the target network",
      "", kTrialRuns);
  field(
      "bootstrap_context_steps", &bootstrap_context_steps, {0, 10000},
      "Family unizero with value_bootstrap target_network: the target network reads so many steps "
      "before an observation that it gives the value of, as a search reads them before its root; "
      "0: the observation alone",
      "steps", "LightZero, UniZero buffer");
  field("root_value_share", &root_value_share, kFractionRange,
        "Share of value targets that is the value which the search found at their own position; "
        "the rest is the return of n steps",
        "", kKataGo);
  field("root_value_min_age", &root_value_min_age, kStepsRange,
        "Only samples at least so old have root_value_share in their targets, the others have "
        "none: with share 1 and reanalyze, old samples take the value of a fresh search in the "
        "place of rewards that an older policy got",
        "transitions", kEfficientZeroV2);
}

void ReplayConfig::VisitSampling(FieldList& field) {
  field("augment_symmetries", &augment_symmetries,
        "Show each sample to the learner as one of its images under the symmetries that the "
        "environment declares, drawn at random",
        "", "AlphaGo Zero, Silver et al. 2017, Methods");
  field("augment_shift", &augment_shift, {0, 16},
        "Pictures: show each sample to the learner moved by up to so many pixels each way, drawn "
        "at random, its border repeated",
        "pixels", "DrQ, Yarats et al. 2021; EfficientZero, Ye et al. 2021");
  field("augment_intensity", &augment_intensity, {0, 0.5},
        "Pictures: show each sample to the learner multiplied by 1 + this * n, n normal and cut at "
        "2 either way",
        "", "DrQ, Yarats et al. 2021; EfficientZero, Ye et al. 2021");
  field("reanalyze_ratio", &reanalyze_ratio, {0, 1000},
        "Stored positions, drawn uniformly, that are searched again with the target network for "
        "each step collected after train.start_env_steps: the new policy and root value replace "
        "the stored ones. Exact over the run, in batches of those that a step of all collectors is "
        "owed, 64 at most; 0: "
        "never",
        "positions", "MuZero Reanalyze, Schrittwieser et al. 2021");
  field("fresh_share", &fresh_share, {0, 1, false, true},
        "In the place of reanalyze_ratio: search so many positions again, more as replay fills, "
        "that this share of uniform samples has a search no older than fresh_updates; 0: "
        "reanalyze_ratio counts",
        "");
  field("fresh_updates", &fresh_updates, kStepsRange,
        "How old a search may be for fresh_share, and for the share that metrics tell "
        "(replay/fresh_share); 0: none is told",
        "updates");
}

// A search is replaced as often as a uniform draw hits it: of those that nothing has hit for k
// updates a share of exp(-ratio * k / (num_stored * updates_per_env_step)) is left.
double ReplayConfig::ReanalyzeRatioAt(int64_t num_stored, double updates_per_env_step) const {
  if (fresh_share == 0.0) return reanalyze_ratio;
  return -std::log1p(-fresh_share) * static_cast<double>(num_stored) * updates_per_env_step /
         static_cast<double>(fresh_updates);
}

int TrainConfig::threads() const { return ThreadsOr(num_threads); }
int InferenceConfig::threads() const { return ThreadsOr(num_threads); }

void TrainConfig::Visit(FieldList& field) {
  field.Begin("train", "The learner.");
  field("batch_size", &batch_size, {1, 65536}, "Sequences in one update", "sequences", kTrialRuns);
  field("updates_per_env_step", &updates_per_env_step, {0, 1000, true},
        "Replay ratio: updates for each env step after start_env_steps", "updates", kLightZero);
  field("start_env_steps", &start_env_steps, kStepsRange, "Steps collected before the first update",
        "env steps", kTrialRuns);
  field("tail_updates", &tail_updates, kStepsRange,
        "Updates after the last env step, from what was collected; stored positions go on being "
        "searched again as often for each update",
        "updates", kEfficientZeroV2);
  field("reset_every_updates", &reset_every_updates, kStepsRange,
        "After so many updates heads begin anew and all other weights are mixed with fresh ones, "
        "which keeps a network able to learn at high replay ratios; as long as the run goes on for "
        "as many more; 0: never",
        "updates", kBbf);
  field("reset_share", &reset_share, kFractionRange,
        "A reset: share of fresh weights in those that are not a head's", "", kBbf);
  field("steps_per_round", &steps_per_round, {1, 1e6},
        "Steps of each environment before the updates that are due for them", "steps");
  field("num_threads", &num_threads, {1, 1024},
        "Threads of the learner; at most the cores of the machine. auto: two, one on a machine of "
        "one core. Those that searches need are left to them. Changes no result",
        "threads");
  field.IsAutoWithoutValue();
  field("on_nan", &on_nan, {"stop", "rollback"},
        "On a loss or gradient that is not finite: stop, or go on from the last checkpoint");
  field(
      "device", &device,
      "Where the learner runs; null: inference.device. On another device than the searches neither "
      "waits for the other's work: a CPU can collect while a GPU learns. Its weights are copied "
      "from one to the other after the updates of a step");
  field("dtype", &dtype, {"fp32", "tf32", "bf16"},
        "Products of an update on a CUDA device: fp32 exact, tf32 with operands of 10 bits, bf16 "
        "with numbers of 8 bits (autocast); weights and optimiser are float32 in all three");
  field("log_every_updates", &log_every_updates, {1, 1e9},
        "Updates from one line of metrics to the next", "updates");
  field("learning_rate", &learning_rate, {0, 10, true}, "AdamW learning rate", "", kTrialRuns);
  field("learning_rate_schedule", &learning_rate_schedule, {"constant", "cosine", "linear"},
        "From learning_rate to final_learning_rate, reached at the end of the run: "
        "stop.max_env_steps or max_updates");
  field("final_learning_rate", &final_learning_rate, {0, 10},
        "Where a cosine or linear schedule ends; unused when constant");
  field("warmup_updates", &warmup_updates, kStepsRange,
        "The learning rate first grows from 0 over this many; 0: no warm-up", "updates");
  field("weight_decay", &weight_decay, {0, 10},
        "AdamW weight decay of tensors with two and more dimensions", "", kLightZero);
  field("beta1", &beta1, {0, 1, false, true}, "AdamW decay of the first moment", "", kLightZero);
  field("beta2", &beta2, {0, 1, false, true}, "AdamW decay of the second moment", "", kLightZero);
  field("grad_clip", &grad_clip, {0, 1e9, true}, "Largest global norm of the gradient", "",
        kCartPole);
  field("target_update_rate", &target_update_rate, {0, 1, true},
        "Share of the new weights that enters the target network at each update", "", kLightZero);
}

void InferenceConfig::Visit(FieldList& field) {
  field.Begin("inference", "How the world model runs inside the search.");
  field(
      "device", &device,
      "Where the searches of collector, evaluator and reanalyzer run, and the learner unless "
      "train.device says another; cuda is the first CUDA device of the machine, cuda:1 the second");
  field("runner", &runner, {"auto", "eager", "packed", "cuda_graph", "cuda_search_graph"},
        "How a recurrent step runs: packed is lzero's own code for the CPU, eager is libtorch's "
        "operations, cuda_graph captures them once and replays them, cuda_search_graph replays a "
        "whole search, trees included, as one CUDA graph; auto: packed on the CPU; on a CUDA "
        "device cuda_search_graph, cuda_graph where actions are sampled, eager with graphs off "
        "and in the other families than unizero");
  field("graphs", &graphs, {"required", "preferred", "off"},
        "Capture steps, searches and the learner's updates as graphs: required refuses to run "
        "without, preferred falls back, off never captures");
  field("dtype", &dtype, {"fp32", "tf32", "bf16"},
        "Numbers that the products of a recurrent step read; sums stay fp32. bf16: half the memory "
        "and more speed for large models, results differ a little; on the CPU with runner packed. "
        "On a CUDA device with graphs also tf32, fp32 numbers whose last 13 bits are left out, "
        "which roots have there with bf16 too");
  field("cache_storage", &cache_storage, {"static", "growing"},
        "Cached keys and values: static is allocated once, growing doubles when full");
  field("root_context", &root_context, {"rebuild", "carry"},
        "After an update of the weights: rebuild encodes the past steps of a root again, carry "
        "keeps the older keys and values");
  field("num_threads", &num_threads, {1, 1024},
        "Threads of the network in searches; at most the cores of the machine. auto: two, one on a "
        "machine of one core. Those that updates need are left to them. Changes no result",
        "threads");
  field.IsAutoWithoutValue();
}

void EvaluateConfig::Visit(FieldList& field) {
  field.Begin("evaluate", "Evaluation during training: greedy actions, no noise.");
  field("every_updates", &every_updates, kStepsRange,
        "Updates between two evaluations; 0: only at the end", "updates");
  field("episodes", &episodes, {1, 1e6}, "Episodes of one evaluation", "episodes", kTrialRuns);
  field("num_simulations", &num_simulations, {1, SearchConfig::kMostSimulations},
        "Simulations a search; null: search.num_simulations", "simulations");
}

void CheckpointConfig::Visit(FieldList& field) {
  field.Begin("checkpoint", "What is kept to resume from.");
  field("every_updates", &every_updates, kStepsRange,
        "Updates between two checkpoints; 0: only at the end and on Ctrl-C", "updates");
  field("keep", &keep, {1, 1e6},
        "Newest checkpoints kept, beside `best` (two players: the newest evaluated)",
        "checkpoints");
}

void StopConfig::Visit(FieldList& field) {
  field.Begin("stop", "When a run ends: at the first limit that is reached.");
  field("max_env_steps", &max_env_steps, kPositiveSteps, "Collected steps; null: no limit",
        "env steps");
  field("max_updates", &max_updates, kPositiveSteps, "Updates; null: no limit", "updates");
  field("target_return", &target_return, {-1e12, 1e12},
        "Solved when `patience` evaluations in a row have this mean return or more; null: never. "
        "Environments of one player only: the return of self-play is no measure of strength");
  field("patience", &patience, {1, 1e6}, "Evaluations in a row at target_return or more",
        "evaluations", kTrialRuns);
  field("end_at_target", &end_at_target, "End the run when it is solved; false: say so and go on");
}

void ExperimentConfig::Visit(FieldList& field) {
  env.Visit(field);
  model.Visit(field);
  loss.Visit(field);
  search.Visit(field);
  replay.Visit(field);
  train.Visit(field);
  inference.Visit(field);
  evaluate.Visit(field);
  checkpoint.Visit(field);
  stop.Visit(field);
  score.Visit(field);
  multitask.Visit(field);
  init.Visit(field);
  field.Begin("", "");
  field("plugins", &plugins,
        "Libraries that hold environments, plugin:NAME each. A path that is not absolute starts at "
        "the file that names it, on the command line where the program runs; a run keeps absolute "
        "ones, and `resume` takes others when they have moved");
  field("seed", &seed, {0, 9007199254740992.0}, "Every random stream of the run derives from it");
  field("deterministic", &deterministic,
        "Collect and learn in turn, not at once, and leave speeds out of metrics.jsonl: the same "
        "seed writes the same file, byte for byte, on device cpu. On cuda sums may be rounded in "
        "another order each time. Another schedule, so other weights than without it; those repeat "
        "too");
}

}  // namespace lzero
