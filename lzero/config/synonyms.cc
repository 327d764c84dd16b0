#include "lzero/config/synonyms.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace lzero {
namespace {

constexpr Synonyms kSynonyms[] = {
    {"env.id", "env env_id env_name environment task game gym_id"},
    {"env.num_collectors", "n_envs num_envs collector_env_num num_actors n_actors"},
    {"env.num_evaluators", "n_eval_envs num_eval_envs evaluator_env_num"},
    {"env.num_workers", "n_workers n_jobs num_processes"},
    {"env.max_episode_steps",
     "time_limit horizon max_episode_length collect_max_episode_steps eval_max_episode_steps"},
    {"env.settings",
     "frame_stack frame_stack_num n_stack num_stack frame_skip frameskip action_repeat",
     "stack and frame_skip are settings of Atari (envs info ID lists those of any environment); "
     "elsewhere wrappers of Gymnasium do it: env.wrappers"},
    {"env.wrappers", "wrapper wrapper_class env_wrapper"},
    {"model.family", "model algo algorithm agent policy_type"},
    {"model.encoder", "model_type obs_type"},
    {"model.encoder_blocks", "num_res_blocks"},
    {"model.encoder_channels", "num_channels"},
    {"model.latent_norm", "use_sim_norm final_norm_option"},
    {"model.latent_loss", "predict_latent_loss_type"},
    {"model.embed_dim", "hidden_dim hidden_size d_model latent_state_dim n_embd"},
    {"model.num_layers", "n_layers depth n_layer"},
    {"model.num_heads", "n_heads n_head"},
    {"model.context_length", "block_size max_tokens"},
    {"model.context_length", "max_blocks infer_context_length",
     "theirs counts steps, ours tokens: two a step"},
    {"model.support_size", "num_atoms n_atoms"},
    {"model.support_size", "support_scale", "ours counts atoms: 2 * theirs + 1"},
    {"model.support_size", "reward_support_range value_support_range",
     "ours counts atoms: theirs of -50, 51, 1 has 101"},
    {"loss.value_weight", "vf_coef value_loss_weight value_coef"},
    {"loss.reward_weight", "reward_loss_weight"},
    {"loss.policy_weight", "policy_loss_weight"},
    {"loss.entropy_weight", "ent_coef entropy_coef entropy_bonus policy_entropy_weight"},
    {"loss.latent_weight", "ssl_loss_weight consistency_weight consistency_loss_weight"},
    {"search.policy", "gumbel_algo gumbel"},
    {"search.num_simulations", "sims simulations num_sims n_sims mcts_simulations num_mcts_sims"},
    {"search.temperature", "fixed_temperature_value temp"},
    {"search.temperature_decay_env_steps", "manual_temperature_decay temperature_decay",
     "theirs is a switch, ours a number of environment steps; 0: no decay"},
    {"search.temperature_decay_env_steps", "threshold_training_steps_for_final_temperature",
     "theirs counts updates, ours environment steps"},
    {"search.epsilon", "eps eps_start start_e exploration_initial_eps"},
    {"search.epsilon", "eps_greedy_exploration_in_collect",
     "theirs is a switch, ours a probability; 0: never"},
    {"search.epsilon_final", "exploration_final_eps eps_end end_e"},
    {"search.epsilon_decay_env_steps", "exploration_fraction eps_decay"},
    {"search.num_sampled_actions", "num_of_sampled_actions"},
    {"search.num_sampled_actions", "sampled_algo", "theirs is a switch, ours a number of actions"},
    {"search.root_noise_alpha", "dirichlet_alpha root_dirichlet_alpha"},
    {"search.root_noise_fraction", "dirichlet_epsilon root_exploration_fraction root_noise_weight"},
    {"search.min_max_delta", "value_delta_max"},
    {"search.pb_c_init", "c_puct cpuct"},
    {"replay.discount", "gamma discount_factor"},
    {"replay.capacity", "buffer_size replay_size replay_buffer_size memory_size"},
    {"replay.segment_length", "game_segment_length"},
    {"replay.num_unroll_steps", "num_unroll unroll unroll_steps"},
    {"replay.td_steps", "td_step n_step n_steps"},
    {"replay.sample_from", "sample_type"},
    {"replay.prioritized", "per use_priority"},
    {"replay.priority_exponent", "priority_prob_alpha per_alpha"},
    {"replay.importance_exponent", "priority_prob_beta per_beta"},
    {"replay.augment_shift", "use_augmentation augmentation"},
    {"train.batch_size", "batch minibatch_size"},
    {"train.learning_rate", "lr adam_lr step_size policy_lr q_lr"},
    {"train.learning_rate_schedule", "lr_schedule lr_scheduler scheduler"},
    {"train.learning_rate_schedule",
     "anneal_lr piecewise_decay_lr_scheduler lr_piecewise_constant_decay cos_lr_scheduler",
     "theirs is a switch, ours a choice: constant, cosine, linear"},
    {"train.warmup_updates", "warmup warmup_steps lr_warmup"},
    {"train.grad_clip", "max_grad_norm grad_clip_value clip_grad"},
    {"train.target_update_rate", "tau target_update_theta polyak"},
    {"train.target_update_rate",
     "target_update_freq target_update_interval target_network_frequency",
     "theirs counts updates or steps between two copies; ours is the share that moves at each "
     "update"},
    {"train.updates_per_env_step", "gradient_steps update_per_collect replay_ratio utd utd_ratio"},
    {"train.updates_per_env_step", "n_epochs update_epochs",
     "theirs counts passes over a rollout, ours updates for each environment step"},
    {"train.updates_per_env_step", "train_freq train_frequency",
     "theirs counts steps between two updates, ours updates for each environment step"},
    {"train.log_every_updates", "log_interval log_freq log_every"},
    {"train.start_env_steps", "learning_starts train_start_after_envsteps start_steps"},
    {"inference.device", "cuda gpu use_cuda"},
    {"train.device", "learner_device train_device"},
    {"inference.dtype", "fp16 bf16 half precision amp mixed_precision"},
    {"evaluate.every_updates", "eval_freq eval_interval"},
    {"evaluate.episodes", "n_eval_episodes n_evaluator_episode eval_episodes num_eval_episodes"},
    {"checkpoint.every_updates",
     "save_freq save_interval save_ckpt_after_iter checkpoint_freq checkpoint_interval"},
    {"stop.max_env_steps",
     "total_timesteps max_env_step max_steps num_steps max_timesteps steps timesteps"},
    {"stop.max_updates", "max_train_iter max_iterations"},
    {"stop.target_return", "stop_value reward_threshold target_reward"},
    {"deterministic", "torch_deterministic"},
    {"", "wandb wandb_project_name wandb_entity track mlflow tensorboard tensorboard_log logger",
     "every run writes metrics.jsonl and TensorBoard files into its folder, without a key"},
    {"", "optimizer optim_type optim", "the optimizer is AdamW; its keys are those of train"},
    {"",
     "gae_lambda clip_range clip_coef clip_vloss norm_adv normalize_advantage target_kl "
     "num_minibatches",
     "there is no such loss: targets come from the search"},
    {"", "policy_kwargs net_arch", "sizes of the network are keys of model"},
    {"", "clip_rewards clip_reward norm_reward normalize_reward reward_normalization",
     "rewards are taken as they are; the network learns them on a transformed scale"},
    {"model.normalize_observations", "normalize norm_obs normalize_obs"},
    {"", "observation_shape obs_shape action_space_size action_dim",
     "an environment tells its shapes itself"},
    {"", "mcts_ctree", "the search is always C++"},
    {"", "multi_gpu", "a run has one device; several runs at a time are sweep --jobs"},
    {"", "verbose progress_bar log_level",
     "the option --verbose tells more; progress is always shown"},
    {"", "capture_video save_replay render_mode",
     "eval RUN --render gif shows a checkpoint at play"},
    {"", "save_model", "checkpoints are always kept, as the keys of checkpoint say"},
    {"", "model_path load_path pretrained", "a run goes on with the verb resume"},
    {"", "run_dir log_dir logdir exp_name output_dir output out",
     "the run folder is the option --run-dir"},
};

}  // namespace

absl::Span<const Synonyms> AllSynonyms() { return kSynonyms; }

const Synonyms* FindSynonym(absl::string_view path) {
  const std::string name = absl::StrReplaceAll(
      absl::AsciiStrToLower(path.substr(path.rfind('.') + 1)), {{"-", "_"}});  // npos + 1 is 0
  for (const Synonyms& entry : kSynonyms) {
    for (const absl::string_view known : absl::StrSplit(entry.names, ' ')) {
      if (name == known) return &entry;
    }
  }
  return nullptr;
}

}  // namespace lzero
