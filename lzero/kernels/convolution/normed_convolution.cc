#include "lzero/kernels/convolution/normed_convolution.h"

#include <algorithm>
#include <vector>

#include "lzero/kernels/convolution/convolution_gradients.h"
#include "lzero/kernels/convolution/plane_kernels.h"
#include "lzero/kernels/gradient_sums.h"
#include "lzero/kernels/parallel.h"

namespace lzero {
namespace {

constexpr int64_t kBlockFloats = int64_t{1} << 15;  // of the outputs of a block

float* Fit(std::vector<float>& values, int64_t size) {
  if (static_cast<int64_t>(values.size()) < size) values.resize(static_cast<size_t>(size));
  return values.data();
}

// Blocks fit the cache: there is one of them, or an even number for two threads.
int64_t SamplesABlock(int64_t samples, int64_t floats) {
  const int64_t fitting = std::max<int64_t>(1, kBlockFloats / floats);
  if (samples <= fitting) return std::max<int64_t>(1, samples);
  const int64_t pairs = (samples + 2 * fitting - 1) / (2 * fitting);
  return (samples + 2 * pairs - 1) / (2 * pairs);
}

// What a thread needs for a block; its memory stays for the next call.
struct Scratch {
  std::vector<float> convolution, units;
};

Scratch& ThreadScratch() {
  thread_local Scratch scratch;
  return scratch;
}

// Some samples of a task: one input and one output of each.
struct Block {
  PlaneSizes planes;      // of x
  int64_t in_begin = 0;   // of their numbers in x
  int64_t out_begin = 0;  // and in y
  PlaneNormTask norm;     // less what it reads and where it keeps moments of all
};

class Blocks {
 public:
  explicit Blocks(const NormedConvolutionTask& task)
      : task_(task),
        output_(task.shape.OutputOf(task.planes)),
        samples_(
            SamplesABlock(task.planes.samples, output_.height * output_.width * task.shape.out)) {}

  int64_t count() const { return (task_.planes.samples + samples_ - 1) / samples_; }
  int64_t most_out_floats() const {
    return samples_ * output_.height * output_.width * task_.shape.out;
  }

  Block operator[](int64_t index) const {
    const int64_t first = index * samples_;
    Block block;
    block.planes = task_.planes;
    block.planes.samples = std::min(samples_, task_.planes.samples - first);
    block.norm.samples = block.planes.samples;
    block.norm.cells = output_.height * output_.width;
    block.norm.channels = task_.shape.out;
    block.norm.weight = task_.norm_weight;
    block.norm.bias = task_.norm_bias;
    block.norm.relu = task_.relu;
    block.in_begin = first * task_.planes.height * task_.planes.width * task_.shape.in;
    block.out_begin = first * block.norm.cells * block.norm.channels;
    if (task_.addend != nullptr) block.norm.addend = task_.addend + block.out_begin;
    if (task_.moments != nullptr) {
      block.norm.means = task_.moments + first;
      block.norm.inverse_deviations = task_.moments + task_.planes.samples + first;
    }
    return block;
  }

 private:
  const NormedConvolutionTask& task_;
  PlaneSizes output_;
  int64_t samples_;
};

}  // namespace

void RunNormedConvolution(const NormedConvolutionTask& task, float* y) {
  thread_local PackedConvolution kept;
  PackedConvolution& packed = kept;
  packed.Pack(task.shape, task.weight);
  const Blocks blocks(task);
  ParallelFor(0, blocks.count(), 1, [&](int64_t begin, int64_t end) {
    Scratch& scratch = ThreadScratch();
    for (int64_t i = begin; i < end; ++i) {
      Block block = blocks[i];
      float* units = task.units == nullptr ? Fit(scratch.units, blocks.most_out_floats())
                                           : task.units + block.out_begin;
      packed.Run(block.planes, task.x + block.in_begin, units,
                 Fit(scratch.convolution, packed.scratch_size(block.planes)));
      block.norm.x = units;
      NormPlanes(block.norm, y + block.out_begin);
    }
  });
}

void RunNormedConvolutionBackward(const NormedConvolutionTask& task, const float* y,
                                  const float* dy, const NormedConvolutionGradients& gradients) {
  thread_local ConvolutionGradients kept;
  thread_local std::vector<float> kept_sums;
  ConvolutionGradients& packed = kept;
  packed.Pack(task.shape, task.weight);
  const Blocks blocks(task);
  float* weight_sums = Fit(kept_sums, packed.sums_size());
  const GradientPlace places[] = {{weight_sums, packed.sums_size()},
                                  {gradients.norm_weight, task.shape.out},
                                  {gradients.norm_bias, task.shape.out}};
  SumOverBlocks(places, blocks.count(), [&](float* const* sums, int64_t i) {
    Scratch& scratch = ThreadScratch();
    Block block = blocks[i];
    float* dunits = Fit(scratch.units, blocks.most_out_floats());
    float* convolution = Fit(scratch.convolution, packed.scratch_size(block.planes));
    block.norm.x = task.units + block.out_begin;
    NormPlanesBackward(
        block.norm, {y == nullptr ? nullptr : y + block.out_begin, dy + block.out_begin, dunits,
                     gradients.daddend == nullptr ? nullptr : gradients.daddend + block.out_begin,
                     sums[1], sums[2]});
    packed.AddWeights(block.planes, task.x + block.in_begin, dunits, sums[0], convolution);
    if (gradients.dx == nullptr) return;
    packed.RunInputs(block.planes, dunits, gradients.dx + block.in_begin, convolution);
  });
  packed.FinishWeights(weight_sums, gradients.weight);
}

}  // namespace lzero
