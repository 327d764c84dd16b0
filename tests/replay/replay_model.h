// An independent model of the replay buffer for tests: whole episodes in plain lists, every rule
// written out literally, nothing shared with the code under test but the plain structs of its
// interface. Also drives a buffer and the model with the same random play.
#ifndef LZERO_TESTS_REPLAY_REPLAY_MODEL_H_
#define LZERO_TESTS_REPLAY_REPLAY_MODEL_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "lzero/config/experiment_config.h"
#include "lzero/replay/batch/train_batch.h"
#include "lzero/replay/replay_buffer.h"
#include "lzero/replay/replay_plan.h"

namespace lzero {

// A buffer of settings that must be right.
std::unique_ptr<ReplayBuffer> MakeBuffer(const ReplayConfig& config, const ReplayShape& shape);

enum class ModelEnd { kGoingOn, kTerminated, kTruncated, kAbandoned };

// One more observation than steps. Observation element 0 is a number unique in the whole run.
struct ModelEpisode {
  std::vector<std::vector<float>> observations;
  std::vector<std::vector<uint8_t>> legal;
  std::vector<int> to_play;
  std::vector<int> actions;
  std::vector<float> rewards;
  std::vector<float> root_values;
  std::vector<std::vector<float>> policies;
  std::vector<int64_t> sequences;
  ModelEnd end = ModelEnd::kGoingOn;
  int first_kept = 0;  // steps before are evicted

  int size() const { return static_cast<int>(actions.size()); }
};

class ReplayModel {
 public:
  ReplayModel(const ReplayConfig& config, const ReplayShape& shape);

  void Begin(int env, const std::vector<float>& observation, const std::vector<uint8_t>& legal,
             int to_play);
  void Append(int env, const Transition& step);

  // The search at the position with this observation was made again.
  void ReplaceSearch(float observation_number, const std::vector<float>& policy, float root_value);

  bool IsEligible(const ModelEpisode& episode, int position) const;
  int64_t CountEligible() const;
  int64_t num_transitions() const { return num_transitions_; }
  bool has_episode(int env) const { return current_[env] >= 0; }
  const std::deque<ModelEpisode>& episodes() const { return episodes_; }
  // Episode and step whose observation this is as the start of a position, by element 0.
  std::pair<const ModelEpisode*, int> Locate(float observation_number) const;

  // Compares a batch, row by row, with what the model says; failures are gtest failures.
  void ExpectBatch(const TrainBatch& batch) const;

 private:
  struct Piece {
    int episode, begin, end;
  };
  void Finish(int env, ModelEnd end);
  void ExpectSequence(const TrainBatch& batch, int row, const ModelEpisode& e, int t) const;
  void ExpectStep(const TrainBatch& batch, int row, int k, const ModelEpisode& e, int t) const;
  void ExpectValue(const TrainBatch& batch, int row, int k, const ModelEpisode& e, int s) const;

  ReplayConfig config_;
  ReplayShape shape_;
  std::deque<ModelEpisode> episodes_;
  std::vector<int> current_;                // per environment, index into episodes_, -1: none
  std::vector<std::pair<int, int>> where_;  // by observation number: episode, step
  std::vector<int> cut_;  // per environment, first step of the segment being filled
  std::deque<Piece> finished_;
  int64_t num_transitions_ = 0;
  int64_t num_appended_ = 0;
};

// Random episodes into a buffer and, where given, the model, which needs observations of float32:
// those of uint8 have no number in element 0, and stacked frames are shared as declared.
class RandomPlay {
 public:
  struct Options {
    int num_players = 1;
    double terminate = 0.05;  // probability a step
    double truncate = 0.03;
    double abandon = 0.01;
  };
  RandomPlay(const ReplayShape& shape, const Options& options, uint64_t seed)
      : shape_(shape),
        options_(options),
        random_(seed),
        ended_(shape.num_envs, true),
        last_(shape.num_envs) {}

  // One transition, in the next environment in turn.
  void Step(ReplayBuffer* buffer, ReplayModel* model = nullptr);

 private:
  double Draw() { return std::uniform_real_distribution<double>(0.0, 1.0)(random_); }
  // The first of an episode, or the one after last_[env].
  std::vector<float> Observation(int env, bool begins);
  std::vector<uint8_t> Legal();
  void Begin(int env, ReplayBuffer* buffer, ReplayModel* model);

  ReplayShape shape_;
  Options options_;
  std::mt19937_64 random_;
  std::vector<bool> ended_;
  std::vector<std::vector<float>> last_;  // observation of each environment
  int next_env_ = 0;
  int64_t num_observations_ = 0;
};

}  // namespace lzero

#endif  // LZERO_TESTS_REPLAY_REPLAY_MODEL_H_
