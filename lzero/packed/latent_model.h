// Networks whose nodes are latent states, in packed form: what encodes observations, what steps a
// latent state by an action or an outcome, and heads that read it; a network of policy and value
// alone has no steps. Vectors or planes, by the encoder of the config; planes are kept with
// channels last. fp32. Knows no torch and no family: a family names the parts. All arrays float32
// unless said; no allocation once it has run. Belongs to one thread, and starts others of its own
// when asked for more than one; they share the rows.
#ifndef LZERO_PACKED_LATENT_MODEL_H_
#define LZERO_PACKED_LATENT_MODEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/kernels/product/aligned_array.h"
#include "lzero/kernels/spin_team.h"
#include "lzero/packed/latent_parts.h"
#include "lzero/packed/observation_encoder.h"
#include "lzero/packed/plane_tower.h"
#include "lzero/packed/weight_source.h"

namespace lzero::packed {

// What leads from one latent state to the next: a module, and the table whose rows stand for
// actions or outcomes.
struct StepPart {
  std::string module, table;
  int64_t num_inputs = 0;  // rows of the table
};

struct LatentModelOptions {
  ModelConfig model;
  std::vector<int64_t> observation_shape;
  bool has_planes = false;  // latents of boards and images are planes; else vectors
  std::vector<StepPart> steps = {};
  std::vector<HeadPart> heads = {};
  int64_t max_rows = 0;
  int num_threads = 1;
};

// Where outputs [rows, out] of a head go, or the means [rows] of a scalar one.
struct Reading {
  size_t head;  // number of it among the options
  float* to;
};

class LatentModel {
 public:
  // The caller must give an encoder that fits the observations.
  explicit LatentModel(const LatentModelOptions& options);
  // Bytes that such a model holds.
  static int64_t Bytes(const LatentModelOptions& options);

  // Numbers of a latent state, S.
  static int64_t LatentSize(const LatentModelOptions& options);
  int64_t latent_size() const { return latents_.size; }

  // Packs the weights, in place after the first time.
  void Load(const WeightSource& weights);

  // Latents [S] of observations [rows, observation size] to to[row] (null: nowhere), and what heads
  // say of them.
  void Encode(const float* observations, int64_t rows, float* const* to,
              absl::Span<const Reading> readings);
  // Step number `step` of the options, from the latents from[row] to to[row].
  void Step(size_t step, const float* const* from, const TowerInputs& inputs, int64_t rows,
            float* const* to, absl::Span<const Reading> readings);

 private:
  // What a thread needs for its share of the rows.
  struct Scratch {
    AlignedArray<float> latents, next;  // [rows, S]
    AlignedArray<float> outputs;        // [rows, out] of the widest head
    AlignedArray<float> parts;          // what a part needs
  };

  // Calls body(first, count, scratch) for shares of the rows, on every thread.
  template <typename Body>
  void RunShared(int64_t rows, const Body& body);
  void Finish(int64_t first, int64_t count, float* const* to, absl::Span<const Reading> readings,
              Scratch* scratch) const;
  void NormalizeLatents(int64_t count, Scratch* scratch) const;

  LatentModelOptions options_;
  LatentShape latents_;
  int64_t observation_size_;
  ObservationEncoder encoder_;
  std::vector<LatentStep> steps_;
  std::vector<LatentHead> heads_;
  std::vector<Scratch> scratch_;  // one a thread
  SpinTeam team_;
};

}  // namespace lzero::packed

#endif  // LZERO_PACKED_LATENT_MODEL_H_
