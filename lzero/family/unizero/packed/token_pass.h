// Rows of tokens through the packed transformer and its heads: one block of rows, whole on one
// thread or shared by a team that splits products by output column and the rest by row. Not a step
// or an initial inference: those say which tokens see which (packed_network.h). All arrays float32.
// No allocation after the scratch is made.
#ifndef LZERO_FAMILY_UNIZERO_PACKED_TOKEN_PASS_H_
#define LZERO_FAMILY_UNIZERO_PACKED_TOKEN_PASS_H_

#include <cstdint>
#include <vector>

#include "lzero/family/unizero/packed/packed_weights.h"
#include "lzero/kernels/product/aligned_array.h"
#include "lzero/kernels/product/product_kernels.h"
#include "lzero/kernels/spin_team.h"

namespace lzero::packed {

// Working memory of one pass. Axes: R rows, W context length.
struct TokenScratch {
  TokenScratch(const NetworkShape& shape, WeightType type, int64_t max_rows, int num_members);
  static int64_t Bytes(const NetworkShape& shape, WeightType type, int64_t max_rows,
                       int num_members);

  int64_t max_rows;
  int64_t x_stride, wide_stride;
  AlignedArray<float> x;             // [R, x_stride] tokens in, the transformer's output after
  AlignedArray<float> normal;        // [R, x_stride] x normalised
  AlignedArray<float> mixed;         // [R, x_stride] attention
  AlignedArray<float> hidden;        // [R, wide_stride] of feed-forward, heads, encoder
  AlignedArray<float> observations;  // [R, observation size]
  AlignedArray<float> outputs;       // [R, wide_stride] query, key, value; outputs of heads
  // For each member of the team:
  std::vector<AlignedArray<float>> scores;
  std::vector<AlignedArray<uint32_t>> half_rows;
  std::vector<const float*> windows;  // [R, W] what each row sees, its own token last
  std::vector<int32_t> window_sizes;  // [R]
  std::vector<float*> tokens;         // [R] where the row's own keys and values go, [L, 2, E]
  // [R] of how many layers the row's output is needed; in the others only its keys and values are.
  std::vector<int32_t> num_output_layers;
};

// Which part of a pass this thread does.
struct Share {
  int member = 0;
  int num_members = 1;
  SpinTeam* team = nullptr;  // of num_members > 1

  void Barrier() const {
    if (num_members > 1) team->Barrier();
  }
};

class TokenPass {
 public:
  // All outlive the object.
  TokenPass(const NetworkShape& shape, const PackedWeights& weights);
  // Bytes of the rotation tables.
  static int64_t Bytes(const NetworkShape& shape);

  // Runs tokens in scratch->x [num_rows, E], with windows, window_sizes and tokens filled in,
  // through all blocks; the output is in scratch->x. Keys and values of each row are written to its
  // `tokens`.
  void RunBlocks(const Share& share, int64_t num_rows, TokenScratch* scratch) const;
  // The same with num_output_layers filled in: a row is left out of all that its output is not
  // needed for, and rows move up. Returns the rows that are left, those of all layers, in their
  // order. A row that is left out of a layer's output must not need the keys and values of later
  // layers.
  int64_t RunBlocksOfSome(const Share& share, int64_t num_rows, TokenScratch* scratch) const;

  // Normalises scratch->x [num_rows, E] into scratch->normal: what heads read.
  void NormalizeOutputs(const Share& share, int64_t num_rows, TokenScratch* scratch) const;
  // The head's last layer at each row: scratch->outputs [num_rows, out].
  void RunHead(const Share& share, const PackedHead& head, int64_t num_rows,
               TokenScratch* scratch) const;
  // As RunHead for a two-hot head, then decoded into values [num_rows]. [MuZero App. F]
  void RunScalarHead(const Share& share, const PackedHead& head, const ValueSupport& support,
                     int64_t num_rows, TokenScratch* scratch, float* values) const;
  // scratch->outputs [num_rows, E] -> latents in scratch->x [num_rows, E], the final norm applied.
  void NormalizeLatents(const Share& share, int64_t num_rows, TokenScratch* scratch) const;
  // observations [num_rows, observation size] -> latents in scratch->x [num_rows, E].
  void Encode(const Share& share, const float* observations, int64_t num_rows,
              TokenScratch* scratch) const;

  const NetworkShape& shape() const { return shape_; }

 private:
  struct Rows {
    int64_t begin, end;
  };
  static Rows RowsOf(const Share& share, int64_t num_rows);

  void Linear(const Share& share, const PackedMatrix& matrix, Epilogue epilogue, const float* x,
              int64_t x_stride, int64_t num_rows, TokenScratch* scratch, float* y,
              int64_t y_stride) const;
  void StartBlock(const Share& share, int64_t layer, int64_t num_rows, TokenScratch* scratch) const;
  void FinishBlock(const Share& share, int64_t layer, int64_t num_rows,
                   TokenScratch* scratch) const;
  int64_t DropRows(const Share& share, int64_t layer, int64_t num_rows,
                   TokenScratch* scratch) const;
  void Normalize(const Share& share, int64_t num_rows, TokenScratch* scratch) const;
  // A norm with weight and bias, then GELU, of the share's rows of y, in place.
  static void NormalizeGelu(const Share& share, const float* weight, const float* bias,
                            int64_t num_rows, int64_t size, float* y, int64_t y_stride);
  void StoreTokens(const Share& share, int64_t layer, int64_t num_rows,
                   TokenScratch* scratch) const;
  void Attend(const Share& share, int64_t layer, int64_t num_rows, TokenScratch* scratch) const;

  const NetworkShape& shape_;
  const PackedWeights& weights_;
  AlignedArray<float> cosines_, sines_;  // [W, PaddedSize(D)] by distance
};

}  // namespace lzero::packed

#endif  // LZERO_FAMILY_UNIZERO_PACKED_TOKEN_PASS_H_
