// A 3x3 convolution and residual blocks of two behind it over planes, channels last: encoders of
// boards and images, and the step of latent planes. fp32. No threads, no allocation while it runs.
// Belongs to one thread while it is loaded.
#ifndef LZERO_PACKED_PLANE_TOWER_H_
#define LZERO_PACKED_PLANE_TOWER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "lzero/kernels/convolution/packed_convolution.h"
#include "lzero/packed/weight_source.h"

namespace lzero::packed {

struct TowerBlock {
  std::string name;    // of its parts in the module, less "a" and "b"
  int64_t stride = 1;  // of the first of its two convolutions
};

struct TowerShape {
  int64_t height = 0, width = 0;  // of the input
  int64_t in = 0;                 // its channels
  int64_t channels = 0;           // of all that follows
  int64_t stem_stride = 1;
  std::vector<TowerBlock> blocks = {};
  // Rows of the table of a step, 0 for an encoder. The stem of a step sees one plane more, which
  // stands for an action; its input is added to its output, and there is no ReLU at the end.
  int64_t num_inputs = 0;

  PlaneSizes input(int64_t samples) const { return {samples, height, width}; }
  // Planes behind the stem, and at the end.
  PlaneSizes stem_output(int64_t samples) const;
  PlaneSizes output(int64_t samples) const;
};

// What a step of a tower is by: for each sample a row of the table; or numbers [samples, rows - 1]
// that all rows but the last are multiplied with, the last is added. One of the two, else null.
struct TowerInputs {
  const int64_t* rows = nullptr;
  const float* values = nullptr;
};

class PlaneTower {
 public:
  // Weights are zeros.
  explicit PlaneTower(const TowerShape& shape);
  // Bytes that such a tower holds, and floats of scratch for one call.
  static int64_t Bytes(const TowerShape& shape);
  static int64_t ScratchSize(const TowerShape& shape);

  // Weights of "`module`.stem.weight" and so on, in place. A step takes its planes from `table`
  // [rows, cells].
  void Load(const WeightSource& weights, const std::string& module,
            absl::Span<const float> table = {});

  const TowerShape& shape() const { return shape_; }
  // y [samples, cells, channels] of x [samples, cells, in].
  void Run(const float* x, const TowerInputs& inputs, int64_t samples, float* y,
           float* scratch) const;

 private:
  struct Layer {
    PackedConvolution convolution;
    std::vector<float> norm_weight, norm_bias;
  };
  // What a block of samples goes through, each with room for the largest planes.
  struct Buffers {
    float *x, *hidden, *halved, *units, *convolution;
  };

  // The convolutions of blocks have it, two a block.
  ConvolutionShape ShapeOf(size_t layer) const;
  static void ResizeLayer(const ConvolutionShape& shape, Layer* layer);
  static void LoadNorm(const WeightSource& weights, const std::string& name, int64_t channels,
                       Layer* layer);
  static void LoadLayer(const WeightSource& weights, const std::string& name,
                        const ConvolutionShape& shape, Layer* layer);
  void LoadTable(absl::Span<const float> stem_weight, absl::Span<const float> table);
  void RunBlock(const float* x, const TowerInputs& inputs, int64_t samples, float* y,
                const Buffers& buffers) const;
  void AddInputs(const TowerInputs& inputs, int64_t samples, float* units) const;

  TowerShape shape_;
  Layer stem_;
  std::vector<Layer> layers_;  // two a block
  // In a step: what each row adds to the stem's output [rows, cells, channels], and what leads
  // there: the stem's weights less those of the action's plane [channels, in, 3, 3], and these.
  std::vector<float> table_, stem_weight_, action_weight_, action_scratch_;
  PackedConvolution action_convolution_;
};

}  // namespace lzero::packed

#endif  // LZERO_PACKED_PLANE_TOWER_H_
