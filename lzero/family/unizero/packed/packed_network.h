// The packed model on the CPU: the recurrent step of a batch, without a framework call, without
// allocation. Threads share a small model by environment and a large one by output column, because
// then its weights are read once. Knows no torch; packed_step.h puts tensors around it. Belongs to
// one thread, and starts others of its own when asked for more than one.
#ifndef LZERO_FAMILY_UNIZERO_PACKED_PACKED_NETWORK_H_
#define LZERO_FAMILY_UNIZERO_PACKED_PACKED_NETWORK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/family/unizero/packed/packed_weights.h"
#include "lzero/family/unizero/packed/token_pass.h"
#include "lzero/kernels/spin_team.h"

namespace lzero::packed {

struct NetworkOptions {
  NetworkShape shape;
  WeightType type = WeightType::kFp32;
  int64_t max_batch = 0;        // rows of a step
  int64_t max_root_tokens = 1;  // of one root that is rebuilt: 2 * past steps + 1
  int num_threads = 1;
};

// Inputs and outputs of one step, contiguous float32 and int64 arrays of the caller. Roots that
// continue a cached context by one real step use them too: they give observations or latents and
// have no rewards. Axes: B batch, W context length, L layers, E embed dim, P policy size, D numbers
// of a box action, obs observation size. The outputs do not overlap the inputs.
struct StepArrays {
  const float* contexts;                 // [B, W - 1, L, 2, E], right-aligned
  const int64_t* lengths;                // [B] valid context tokens
  const int64_t* actions;                // [B]; box: not read
  float* rewards;                        // [B]; of roots: nullptr
  float* values;                         // [B] of the child
  float* prior_logits;                   // [B, P] of the child
  float* tokens;                         // [B, 2, L, 2, E] action token, then latent token
  const float* action_values = nullptr;  // box: [B, D]
  const float* observations = nullptr;   // [B, obs] of roots; or nullptr:
  const float* latents = nullptr;        // [B, E] of roots, encoded elsewhere
};

// A root and its past. Axes: P past steps, obs observation size.
struct RootPast {
  int64_t num_past_steps = 0;            // P
  const float* observations = nullptr;   // [P + 1, obs], the root's own last; or nullptr:
  const float* latents = nullptr;        // [P + 1, E], encoded elsewhere
  const int32_t* actions = nullptr;      // [P]; box: not read
  const float* action_values = nullptr;  // box: [P, D]
  // Out, [2 P + 1, L, 2, E]: in each layer only the newest W - 1 tokens and what they need are
  // written, the rest is unspecified.
  float* tokens = nullptr;
};

class PackedNetwork {
 public:
  // How errors name a batch and one of its rows.
  struct RowName {
    const char* all;
    const char* before;
    const char* after;
  };

  // Allocates everything. The weights are zeros until Load.
  explicit PackedNetwork(const NetworkOptions& options);
  // Bytes that such a network holds.
  static int64_t Bytes(const NetworkOptions& options);

  // Packs the weights in place.
  void Load(const NetworkWeights& weights) { weights_.Pack(weights); }

  // One step of the first B = `batch_size` <= max_batch rows, in the shapes of StepArrays.
  // InvalidArgument, naming the row and with nothing written, for an action or a length that is out
  // of range.
  absl::Status Step(const StepArrays& arrays, int64_t batch_size);

  // Values [n] and prior logits [n, P], float32, of n roots from their pasts alone.
  // InvalidArgument, naming the root and with nothing written, for an action out of range or a past
  // that is too long.
  absl::Status RebuildRoots(absl::Span<const RootPast> roots, float* values, float* prior_logits);
  // The same for roots with a context, in the shapes of StepArrays. Errors as Step.
  absl::Status ContinueRoots(const StepArrays& arrays, int64_t batch_size);

  const NetworkShape& shape() const { return options_.shape; }
  // True when threads share products by output column, false when they share the rows.
  bool shares_columns() const { return shares_columns_; }

 private:
  // Box actions may hold any numbers.
  absl::Status CheckAction(const RowName& name, int64_t row, int64_t action) const;
  absl::Status CheckInputs(const RowName& name, const StepArrays& arrays, int64_t batch_size) const;
  void RunTwoTokens(const StepArrays& arrays, int64_t batch_size);
  // Calls body(share, begin, end, scratch) on every thread, with its part of `count` items.
  template <typename Body>
  void RunShared(int64_t count, const Body& body);
  void StepRows(const Share& share, const StepArrays& arrays, int64_t first, int64_t count,
                TokenScratch* scratch) const;
  // The token of an action, into row `row` of scratch->x.
  void PutAction(int64_t action, int64_t row, TokenScratch* scratch) const;
  void PutBoxAction(const float* values, int64_t row, TokenScratch* scratch) const;
  // Latents of the second tokens, into scratch->x.
  void SecondTokens(const Share& share, const StepArrays& arrays, int64_t first, int64_t count,
                    TokenScratch* scratch) const;
  void ReadPolicyAndValue(const Share& share, int64_t count, TokenScratch* scratch, float* values,
                          float* prior_logits) const;
  void RebuildGroup(const Share& share, absl::Span<const RootPast> roots, TokenScratch* scratch,
                    float* values, float* prior_logits) const;
  void EncodePasts(const Share& share, absl::Span<const RootPast> roots,
                   TokenScratch* scratch) const;
  void PlaceTokens(absl::Span<const RootPast> roots, TokenScratch* scratch) const;
  void RunToken(const Share& share, const StepArrays& arrays, int64_t first, int64_t count,
                int64_t token, TokenScratch* scratch) const;

  NetworkOptions options_;
  bool shares_columns_;
  int64_t rows_at_once_;
  PackedWeights weights_;
  TokenPass pass_;
  std::vector<std::unique_ptr<TokenScratch>> scratch_;  // one, or one a thread
  SpinTeam team_;
};

}  // namespace lzero::packed

#endif  // LZERO_FAMILY_UNIZERO_PACKED_PACKED_NETWORK_H_
