#include "lzero/config/consistency.h"

#include <utility>

#include "absl/functional/function_ref.h"
#include "lzero/base/check.h"
#include "lzero/config/scalar_text.h"
#include "lzero/config/schema.h"

namespace lzero {
namespace {

using Errors = std::vector<ConsistencyError>;

}  // namespace

std::vector<ConsistencyError> ValueBoundErrors(const SearchConfig& search) {
  Errors errors;
  Require(search.min_value < search.max_value, &errors, {"search.min_value", "search.max_value"},
          "must be less than max_value; got min_value ", FloatText(search.min_value),
          ", max_value ", FloatText(search.max_value));
  return errors;
}

namespace {

void CheckModel(const ModelConfig& model, Errors* errors) {
  Require(model.support_size % 2 == 1, errors, {"model.support_size"},
          "must be odd, so that one atom is zero; got ", model.support_size);
  const auto value_range = ParseSupportRange(model.value_support);
  Require(value_range.ok(), errors, {"model.value_support"}, value_range.status().message());
  const auto reward_range = ParseSupportRange(model.reward_support);
  Require(reward_range.ok(), errors, {"model.reward_support"}, reward_range.status().message());
  const bool sim_norm = model.latent_norm == LatentNorm::kSimNorm;
  const bool group_kl = model.latent_loss == LatentLoss::kGroupKl;
  const bool compares = group_kl || model.latent_loss == LatentLoss::kMse;
  Require(!compares || sim_norm == group_kl, errors, {"model.latent_loss", "model.latent_norm"},
          "does not fit latent_norm; got latent_loss ", group_kl ? "group_kl" : "mse",
          ", latent_norm ", sim_norm ? "sim_norm" : "layer_norm",
          "; allowed: mse with layer_norm, group_kl with sim_norm");
  Require(!sim_norm || model.embed_dim % model.sim_norm_group == 0, errors,
          {"model.sim_norm_group", "model.embed_dim", "model.latent_norm"},
          "must divide embed_dim; got sim_norm_group ", model.sim_norm_group, ", embed_dim ",
          model.embed_dim);
}

void CheckSearch(const ExperimentConfig& config, Errors* errors) {
  const SearchConfig& search = config.search;
  const bool gumbel = search.policy == SearchPolicy::kGumbel;
  const bool mixed = search.q_transform == QTransform::kCompletedByMixValue;
  const bool tree = search.q_transform == QTransform::kTreeMinMax;
  Require(gumbel || !mixed, errors, {"search.q_transform", "search.policy"},
          "completed_by_mix_value belongs to policy gumbel; got policy puct; allowed with puct: "
          "tree_min_max, parent_and_siblings, min_max");
  Require(!gumbel || mixed || tree, errors, {"search.q_transform", "search.policy"},
          "does not fit policy gumbel; got ",
          search.q_transform == QTransform::kMinMax ? "min_max" : "parent_and_siblings",
          "; allowed with gumbel: completed_by_mix_value, tree_min_max");
  for (ConsistencyError& error : ValueBoundErrors(search)) errors->push_back(std::move(error));
  Require(!search.num_sampled_actions.has_value() ||
              config.inference.runner != Runner::kCudaSearchGraph,
          errors, {"search.num_sampled_actions", "inference.runner"},
          "cuda_search_graph searches all actions of a node; got a number of sampled ones; "
          "allowed: null, or another runner");
  Require(!search.num_sampled_actions.has_value() || !search.num_interior_samples.has_value() ||
              *search.num_interior_samples <= *search.num_sampled_actions,
          errors, {"search.num_interior_samples", "search.num_sampled_actions"},
          "must be at most num_sampled_actions; got ", search.num_interior_samples.value_or(0),
          " of ", search.num_sampled_actions.value_or(0));
  Require(search.cheap_fraction == 0.0 || search.cheap_num_simulations <= search.num_simulations,
          errors, {"search.cheap_num_simulations", "search.num_simulations"},
          "must be at most num_simulations; got ", search.cheap_num_simulations, " of ",
          search.num_simulations);
  Require(search.cheap_fraction == 0.0 || config.inference.runner != Runner::kCudaSearchGraph,
          errors, {"search.cheap_fraction", "inference.runner"},
          "cuda_search_graph has searches of one size; got ", FloatText(search.cheap_fraction),
          "; allowed: 0, or another runner");
}

void CheckReplay(const ExperimentConfig& config, Errors* errors) {
  const ReplayConfig& replay = config.replay;
  Require(replay.capacity >= replay.segment_length, errors,
          {"replay.capacity", "replay.segment_length"}, "must hold a whole segment; got capacity ",
          replay.capacity, ", segment_length ", replay.segment_length);
  const int64_t sequence = replay.num_context_steps + replay.num_unroll_steps + replay.td_steps;
  Require(
      replay.capacity >= sequence, errors,
      {"replay.capacity", "replay.num_unroll_steps", "replay.td_steps", "replay.num_context_steps"},
      "must hold num_context_steps + num_unroll_steps + td_steps; got capacity ", replay.capacity,
      ", needed ", sequence);
  Require(replay.td_decay_updates == 0 || replay.td_steps_final <= replay.td_steps, errors,
          {"replay.td_steps_final", "replay.td_steps", "replay.td_decay_updates"},
          "must be at most td_steps, from where it shrinks; got td_steps_final ",
          replay.td_steps_final, ", td_steps ", replay.td_steps);
  Require(replay.num_context_steps == 0 || replay.sample_from != SampleFrom::kEpisodeStarts, errors,
          {"replay.num_context_steps", "replay.sample_from"},
          "nothing lies before the start of an episode; got num_context_steps ",
          replay.num_context_steps, " with sample_from episode_starts; allowed: 0");
  Require(replay.bootstrap_context_steps == 0 || !replay.augment_symmetries, errors,
          {"replay.bootstrap_context_steps", "replay.augment_symmetries"}, "got ",
          replay.bootstrap_context_steps, " and true; allowed: one of the two");
  Require(replay.augment_shift == 0 || !replay.augment_symmetries, errors,
          {"replay.augment_shift", "replay.augment_symmetries"}, "got ", replay.augment_shift,
          " and true; allowed: one of the two, since a shifted board is no image of "
          "the game");
  Require(replay.fresh_share == 0.0 || replay.fresh_updates > 0, errors,
          {"replay.fresh_share", "replay.fresh_updates"}, "got ", replay.fresh_share,
          " of the samples with fresh_updates 0; allowed: 0, or fresh_updates above 0");
  const double most =
      replay.fresh_updates == 0
          ? 0.0
          : replay.ReanalyzeRatioAt(replay.capacity, config.train.updates_per_env_step);
  Require(most <= 1000, errors, {"replay.fresh_share", "replay.fresh_updates", "replay.capacity"},
          "needs ", static_cast<int64_t>(most),
          " searches for each env step once replay is full; allowed: 1000 at most");
  Require(replay.fresh_share == 0.0 || replay.reanalyze_ratio == 0.0, errors,
          {"replay.fresh_share", "replay.reanalyze_ratio"}, "got ", replay.fresh_share, " and ",
          replay.reanalyze_ratio, "; allowed: one of the two, since both say how often");
  Require(replay.capacity >= config.train.batch_size, errors,
          {"replay.capacity", "train.batch_size"}, "must hold a batch; got capacity ",
          replay.capacity, ", batch_size ", config.train.batch_size);
  Require(replay.capacity >= config.train.start_env_steps, errors,
          {"replay.capacity", "train.start_env_steps"},
          "must hold what is collected before the first update; got capacity ", replay.capacity,
          ", start_env_steps ", config.train.start_env_steps);
}

void CheckTrain(const ExperimentConfig& config, Errors* errors) {
  const TrainConfig& train = config.train;
  const bool scheduled = train.learning_rate_schedule != LearningRateSchedule::kConstant;
  Require(!scheduled || train.final_learning_rate <= train.learning_rate, errors,
          {"train.final_learning_rate", "train.learning_rate", "train.learning_rate_schedule"},
          "must not be more than learning_rate; got final_learning_rate ",
          FloatText(train.final_learning_rate), ", learning_rate ", FloatText(train.learning_rate));
  Require(!scheduled || config.stop.max_env_steps.has_value(), errors,
          {"train.learning_rate_schedule", "stop.max_env_steps"},
          "cosine and linear end at stop.max_env_steps; got max_env_steps null; allowed: constant, "
          "or a number of max_env_steps");
  Require(train.tail_updates == 0 || config.stop.max_env_steps.has_value(), errors,
          {"train.tail_updates", "stop.max_env_steps"},
          "begins at stop.max_env_steps; got max_env_steps null; allowed: 0, or a number of "
          "max_env_steps");
  Require(train.reset_every_updates == 0 || config.tasks.size() <= 1, errors,
          {"train.reset_every_updates", "tasks"}, "what several tasks share is not reset; got ",
          train.reset_every_updates, "; allowed: 0, or one task");
  Require(train.on_nan == OnNan::kStop || config.checkpoint.every_updates > 0, errors,
          {"train.on_nan", "checkpoint.every_updates"},
          "rollback needs checkpoints during the run; got checkpoint.every_updates 0");
  const bool is_tf32 = train.dtype == TrainDtype::kTf32;
  Require(train.dtype == TrainDtype::kFp32 || config.learner_device().is_cuda(), errors,
          {"train.dtype", "train.device", "inference.device"}, "the learner has ",
          is_tf32 ? "tf32" : "bf16",
          " on a CUDA device alone; got device cpu; allowed: fp32, or device cuda");
  const bool records = config.inference.graphs != Graphs::kOff;
  Require(!is_tf32 || records || !config.searches_beside_updates(), errors,
          {"train.dtype", "inference.graphs", "deterministic"},
          "without graphs tf32 would reach the searches that run beside an update; got graphs off; "
          "allowed: required, preferred, inference.device cpu, or deterministic: true");
}

bool RecordsGraphs(Runner runner) {
  return runner == Runner::kCudaGraph || runner == Runner::kCudaSearchGraph;
}

void CheckRunner(const InferenceConfig& inference, Errors* errors) {
  const bool on_cpu = inference.device.is_cpu();
  Require(inference.runner != Runner::kPacked || on_cpu, errors,
          {"inference.runner", "inference.device"},
          "packed runs on the CPU; got packed on device cuda; allowed: auto, eager, cuda_graph, "
          "cuda_search_graph, or device cpu");
  const bool records = RecordsGraphs(inference.runner);
  const char* name =
      inference.runner == Runner::kCudaSearchGraph ? "cuda_search_graph" : "cuda_graph";
  Require(!records || !on_cpu, errors, {"inference.runner", "inference.device"}, name,
          " needs a CUDA device; got device cpu; allowed: auto, eager, packed, or "
          "device cuda");
  Require(!records || inference.graphs != Graphs::kOff, errors,
          {"inference.runner", "inference.graphs"}, name,
          " is nothing but graphs; got graphs off; allowed: required, preferred, or "
          "runner auto or eager");
  const bool is_eager = inference.runner == Runner::kEager ||
                        (!on_cpu && !records && inference.graphs == Graphs::kOff);
  const bool has_dtype = inference.dtype == InferenceDtype::kFp32 ||
                         (!is_eager && !(on_cpu && inference.dtype == InferenceDtype::kTf32));
  Require(has_dtype, errors, {"inference.dtype", "inference.runner", "inference.device"},
          "libtorch's operations have fp32 alone, runner packed fp32 and bf16, graphs on device "
          "cuda also tf32; got ",
          inference.dtype == InferenceDtype::kBf16 ? "bf16" : "tf32", "; allowed here: fp32",
          is_eager || !on_cpu ? "" : ", bf16");
}

}  // namespace

std::vector<ConsistencyError> GraphErrors(const InferenceConfig& inference) {
  Errors errors;
  const bool required = inference.graphs == Graphs::kRequired;
  Require(!required || inference.device.is_cuda(), &errors,
          {"inference.graphs", "inference.device", "inference.runner"},
          "no graph runner on device cpu; got required; allowed: preferred, off");
  // On the CPU the error above says all there is to say.
  Require(!required || inference.device.is_cpu() || inference.runner != Runner::kEager, &errors,
          {"inference.graphs", "inference.runner"},
          "runner eager records no graph; got required; allowed: preferred, off, or runner auto, "
          "cuda_graph or cuda_search_graph");
  const bool auto_records = inference.runner == Runner::kAuto && inference.device.is_cuda() &&
                            inference.graphs != Graphs::kOff;
  const bool records = required || auto_records || RecordsGraphs(inference.runner);
  Require(!records || inference.cache_storage == CacheStorage::kStatic, &errors,
          {"inference.cache_storage", "inference.graphs", "inference.runner"},
          "graphs need fixed addresses, growing storage moves when it grows; got growing with a "
          "graph runner; allowed: static, or graphs off with runner auto or eager");
  return errors;
}

namespace {

void CheckStop(const ExperimentConfig& config, Errors* errors) {
  const StopConfig& stop = config.stop;
  Require(stop.max_env_steps.has_value() || stop.max_updates.has_value() ||
              stop.target_return.has_value(),
          errors, {"stop.max_env_steps", "stop.max_updates", "stop.target_return"},
          "the run would never end; got null for max_env_steps, max_updates and target_return; "
          "allowed: a number for at least one");
  Require(!stop.max_env_steps.has_value() || config.train.start_env_steps < *stop.max_env_steps,
          errors, {"train.start_env_steps", "stop.max_env_steps"},
          "must be less than stop.max_env_steps, or nothing is learned; got start_env_steps ",
          config.train.start_env_steps, ", max_env_steps ", stop.max_env_steps.value_or(0),
          "; for a short new run add train.start_env_steps=", stop.max_env_steps.value_or(0) / 4);
  Require(!stop.target_return.has_value() || config.evaluate.every_updates > 0, errors,
          {"stop.target_return", "evaluate.every_updates"},
          "needs evaluations during the run; got evaluate.every_updates 0; allowed: 1 or more, or "
          "target_return null");
}

}  // namespace

std::vector<ConsistencyError> ConsistencyErrors(const ExperimentConfig& config) {
  Errors errors;
  CheckModel(config.model, &errors);
  CheckSearch(config, &errors);
  CheckReplay(config, &errors);
  CheckTrain(config, &errors);
  for (ConsistencyError& error : GraphErrors(config.inference)) errors.push_back(std::move(error));
  CheckRunner(config.inference, &errors);
  CheckStop(config, &errors);
  return errors;
}

std::vector<ConsistencyError> UnreadErrors(ExperimentConfig config,
                                           const std::vector<std::string>& keys,
                                           const std::string& chooser) {
  ExperimentConfig defaults;
  const auto fields = FieldsOf(config), default_fields = FieldsOf(defaults);
  Errors errors;
  for (const std::string& key : keys) {
    const ConfigField* field = FindField(fields, key);
    LZ_CHECK(field != nullptr, "no field ", key);
    const std::string otherwise = ValueText(*FindField(default_fields, key));
    if (ValueText(*field) == otherwise) continue;
    Require(false, &errors, {key, chooser}, "it has no effect with ", chooser, " ",
            ValueText(*FindField(fields, chooser)), "; got ", ValueText(*field),
            "; allowed: ", otherwise, ", its default, or another ", chooser);
    errors.back().only_if_set_after = true;
  }
  return errors;
}

namespace {

// What is unread: `keys` where `holds`, because of `chooser`.
using UnreadCall =
    absl::FunctionRef<void(bool holds, const char* chooser, const std::vector<std::string>& keys)>;

void UnreadOfModel(const ExperimentConfig& config, UnreadCall unread) {
  const bool vector = config.model.encoder == EncoderKind::kVector;
  unread(vector, "model.encoder",
         {"model.encoder_channels", "model.encoder_blocks", "model.head_pooling"});
  unread(!vector, "model.encoder", {"model.encoder_width", "model.encoder_layers"});
  unread(config.model.latent_loss != LatentLoss::kCosine, "model.latent_loss",
         {"model.projector_layers"});
  unread(config.model.projector_layers == 1, "model.projector_layers", {"model.projector_norm"});
  unread(config.model.latent_norm != LatentNorm::kSimNorm, "model.latent_norm",
         {"model.sim_norm_group"});
  unread(!config.model.value_support.empty() &&
             (!config.model.reward_support.empty() || config.model.family == Family::kAlphaZero),
         "model.value_support", {"model.support_size"});
}

// How the search chooses, and how an action is drawn from what it found.
void UnreadOfSearch(const SearchConfig& search, UnreadCall unread) {
  const bool puct = search.policy == SearchPolicy::kPuct;
  const bool of_tree = search.q_transform == QTransform::kTreeMinMax;
  const bool of_config = search.q_transform == QTransform::kMinMax;
  const bool completed = search.q_transform == QTransform::kCompletedByMixValue;
  const bool decays = search.temperature_decay_env_steps > 0;
  const bool epsilon_decays = search.epsilon_decay_env_steps > 0;
  const bool explores = search.epsilon > 0.0 || (epsilon_decays && search.epsilon_final > 0.0);
  unread(puct, "search.policy",
         {"search.max_num_considered_actions", "search.value_scale", "search.maxvisit_init",
          "search.rescale_values", "search.use_mixed_value", "search.gumbel_scale"});
  unread(!puct, "search.policy",
         {"search.root_noise_alpha", "search.root_noise_fraction", "search.pb_c_init",
          "search.pb_c_base", "search.temperature_steps", "search.root_policy_temperature",
          "search.forced_playouts"});
  unread(search.cheap_fraction == 0.0, "search.cheap_fraction", {"search.cheap_num_simulations"});
  unread(puct && search.root_noise_fraction == 0.0, "search.root_noise_fraction",
         {"search.root_noise_alpha"});
  unread(!decays, "search.temperature_decay_env_steps",
         {"search.temperature_final", "search.temperature_schedule"});
  unread(decays && search.temperature_schedule == TemperatureSchedule::kHalves,
         "search.temperature_schedule", {"search.temperature_final"});
  unread(!epsilon_decays, "search.epsilon_decay_env_steps", {"search.epsilon_final"});
  unread(!explores, "search.epsilon", {"search.epsilon_max_hold"});
  unread(!of_config, "search.q_transform", {"search.min_value", "search.max_value"});
  unread(!of_tree, "search.q_transform", {"search.min_max_delta"});
  unread(of_tree || of_config, "search.q_transform", {"search.q_epsilon"});
  unread(!puct && !completed, "search.q_transform", {"search.rescale_values"});
  unread(!search.num_sampled_actions.has_value(), "search.num_sampled_actions",
         {"search.num_interior_samples", "search.sample_temperature",
          "search.uniform_sample_fraction", "search.root_wide_fraction", "search.sample_prior"});
  unread(search.root_wide_fraction == 0.0, "search.root_wide_fraction", {"search.root_wide_scale"});
}

}  // namespace

std::vector<ConsistencyError> UnreadSettings(const ExperimentConfig& config) {
  Errors errors;
  const auto unread = [&](bool holds, const char* chooser, const std::vector<std::string>& keys) {
    if (!holds) return;
    for (ConsistencyError& error : UnreadErrors(config, keys, chooser)) {
      errors.push_back(std::move(error));
    }
  };
  UnreadOfModel(config, unread);
  unread(!config.replay.prioritized, "replay.prioritized",
         {"replay.priority_exponent", "replay.importance_exponent", "replay.min_importance_weight",
          "replay.priority_error", "replay.initial_priority"});
  unread(config.replay.td_decay_updates == 0, "replay.td_decay_updates", {"replay.td_steps_final"});
  unread(config.replay.value_bootstrap == ValueBootstrap::kSearch, "replay.value_bootstrap",
         {"replay.bootstrap_context_steps"});
  unread(config.replay.root_value_share == 0.0, "replay.root_value_share",
         {"replay.root_value_min_age"});
  unread(config.train.learning_rate_schedule == LearningRateSchedule::kConstant,
         "train.learning_rate_schedule", {"train.final_learning_rate"});
  unread(config.train.reset_every_updates == 0, "train.reset_every_updates", {"train.reset_share"});
  unread(config.env.count_bonus == 0.0, "env.count_bonus", {"env.count_bonus_once"});
  unread(config.env.random_opening_fraction == 0.0, "env.random_opening_fraction",
         {"env.random_opening_plies"});
  unread(!config.stop.target_return.has_value(), "stop.target_return",
         {"stop.patience", "stop.end_at_target"});
  UnreadOfSearch(config.search, unread);
  return errors;
}

absl::Status FirstError(const std::vector<ConsistencyError>& errors) {
  if (errors.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(errors[0].keys.front(), ": ", errors[0].message));
}

}  // namespace lzero
