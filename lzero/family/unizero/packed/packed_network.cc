#include "lzero/family/unizero/packed/packed_network.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/kernels/parallel.h"

namespace lzero::packed {
namespace {

// Above this width the weights do not fit the cache of a core, and threads share the columns.
constexpr int64_t kWidestByRows = 256;
// Rows that go through the model together: their activations stay in the nearest caches.
constexpr int64_t kRowsAtOnce = 32;
constexpr int64_t kWideRowsAtOnce = 64;

constexpr PackedNetwork::RowName kStepRow = {"a step of ", "row ", " of a step"};
constexpr PackedNetwork::RowName kRoot = {"roots of ", "root ", ""};

bool SharesColumns(const NetworkOptions& options) {
  return options.num_threads > 1 && options.shape.embed_dim > kWidestByRows;
}

int64_t RowsAtOnce(const NetworkOptions& options) {
  const int64_t most = options.shape.embed_dim > kWidestByRows ? kWideRowsAtOnce : kRowsAtOnce;
  return std::min(options.max_batch, most);
}

int64_t ScratchRows(const NetworkOptions& options) {
  return std::max(RowsAtOnce(options), options.max_root_tokens);
}

int NumScratches(const NetworkOptions& options) {
  return SharesColumns(options) ? 1 : options.num_threads;
}

int NumMembers(const NetworkOptions& options) {
  return SharesColumns(options) ? options.num_threads : 1;
}

}  // namespace

PackedNetwork::PackedNetwork(const NetworkOptions& options)
    : options_(options),
      shares_columns_(SharesColumns(options)),
      rows_at_once_(RowsAtOnce(options)),
      weights_(options.shape, options.type),
      pass_(options_.shape, weights_),
      team_(options.num_threads) {
  LZ_CHECK(options.max_batch >= 1, "a batch of ", options.max_batch);
  for (int i = 0; i < NumScratches(options); ++i) {
    scratch_.push_back(std::make_unique<TokenScratch>(options_.shape, options.type,
                                                      ScratchRows(options), NumMembers(options)));
  }
}

int64_t PackedNetwork::Bytes(const NetworkOptions& options) {
  return PackedWeights::Bytes(options.shape, options.type) + TokenPass::Bytes(options.shape) +
         NumScratches(options) * TokenScratch::Bytes(options.shape, options.type,
                                                     ScratchRows(options), NumMembers(options));
}

absl::Status PackedNetwork::CheckAction(const RowName& name, int64_t row, int64_t action) const {
  if (action >= 0 && action < options_.shape.num_actions) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name.before, row, name.after, ": action ", action,
                                                 "; allowed: 0 .. ",
                                                 options_.shape.num_actions - 1));
}

absl::Status PackedNetwork::CheckInputs(const RowName& name, const StepArrays& arrays,
                                        int64_t batch_size) const {
  if (batch_size < 0 || batch_size > options_.max_batch) {
    return absl::InvalidArgumentError(
        absl::StrCat(name.all, batch_size, " rows, made for at most ", options_.max_batch));
  }
  const bool is_box = options_.shape.action_dim > 0;
  for (int64_t row = 0; row < batch_size; ++row) {
    if (!is_box) LZ_RETURN_IF_ERROR(CheckAction(name, row, arrays.actions[row]));
    const int64_t length = arrays.lengths[row];
    if (length < 0 || length >= options_.shape.context_length) {
      return absl::InvalidArgumentError(
          absl::StrCat(name.before, row, name.after, ": a context of ", length,
                       " tokens; allowed: 0 .. ", options_.shape.context_length - 1));
    }
  }
  return absl::OkStatus();
}

template <typename Body>
void PackedNetwork::RunShared(int64_t count, const Body& body) {
  const int num_members = team_.num_members();
  if (shares_columns_) {
    if (!HasSpareCores()) return body(Share(), 0, count, scratch_[0].get());
    team_.Run(num_members, [&](int member) {
      body(Share{member, num_members, &team_}, 0, count, scratch_[0].get());
    });
    return;
  }
  RunOnSpareCores(&team_, num_members, [&](int member) {
    body(Share(), count * member / num_members, count * (member + 1) / num_members,
         scratch_[static_cast<size_t>(member)].get());
  });
}

void PackedNetwork::RunTwoTokens(const StepArrays& arrays, int64_t batch_size) {
  RunShared(batch_size, [&](const Share& share, int64_t begin, int64_t end, TokenScratch* scratch) {
    const int64_t num_parts = (end - begin + rows_at_once_ - 1) / rows_at_once_;
    for (int64_t i = 0; i < num_parts; ++i) {
      const int64_t count = (end - begin) / (num_parts - i);
      StepRows(share, arrays, begin, count, scratch);
      begin += count;
    }
  });
}

absl::Status PackedNetwork::Step(const StepArrays& arrays, int64_t batch_size) {
  LZ_RETURN_IF_ERROR(CheckInputs(kStepRow, arrays, batch_size));
  RunTwoTokens(arrays, batch_size);
  return absl::OkStatus();
}

absl::Status PackedNetwork::ContinueRoots(const StepArrays& arrays, int64_t batch_size) {
  LZ_RETURN_IF_ERROR(CheckInputs(kRoot, arrays, batch_size));
  RunTwoTokens(arrays, batch_size);
  return absl::OkStatus();
}

absl::Status PackedNetwork::RebuildRoots(absl::Span<const RootPast> roots, float* values,
                                         float* prior_logits) {
  // Check everything before anything is written.
  for (size_t i = 0; i < roots.size(); ++i) {
    const int64_t num_tokens = 2 * roots[i].num_past_steps + 1;
    if (roots[i].num_past_steps < 0 || num_tokens > options_.max_root_tokens) {
      return absl::InvalidArgumentError(absl::StrCat("root ", i, ": a past of ", num_tokens,
                                                     " tokens, made for at most ",
                                                     options_.max_root_tokens));
    }
    if (options_.shape.action_dim > 0) continue;
    for (int64_t t = 0; t < roots[i].num_past_steps; ++t) {
      LZ_RETURN_IF_ERROR(CheckAction(kRoot, static_cast<int64_t>(i), roots[i].actions[t]));
    }
  }
  // Each thread takes as many roots at once as its scratch holds.
  const int64_t policy_size = options_.shape.policy_size();
  RunShared(static_cast<int64_t>(roots.size()), [&](const Share& share, int64_t begin, int64_t end,
                                                    TokenScratch* scratch) {
    while (begin < end) {
      int64_t group_end = begin, num_tokens = 0;
      for (; group_end < end; ++group_end) {
        num_tokens += 2 * roots[static_cast<size_t>(group_end)].num_past_steps + 1;
        if (num_tokens > scratch->max_rows) break;
      }
      RebuildGroup(
          share, roots.subspan(static_cast<size_t>(begin), static_cast<size_t>(group_end - begin)),
          scratch, values + begin, prior_logits + begin * policy_size);
      begin = group_end;
    }
  });
  return absl::OkStatus();
}

// The windows of one of the two tokens, and the token through all blocks.
void PackedNetwork::RunToken(const Share& share, const StepArrays& arrays, int64_t first,
                             int64_t count, int64_t token, TokenScratch* scratch) const {
  const NetworkShape& shape = options_.shape;
  const int64_t kept = shape.context_length - 1, token_size = shape.token_size();
  if (share.member == 0) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = first + i;
      float* own = arrays.tokens + row * 2 * token_size;
      const float* context_end = arrays.contexts + (row + 1) * kept * token_size;
      // The window slides: in front of the latent token stands the action token.
      const int64_t before = token == 0 ? 0 : std::min<int64_t>(kept, 1);
      const int64_t from_context = std::min(arrays.lengths[row], kept - before);
      const float** window = scratch->windows.data() + i * shape.context_length;
      for (int64_t j = from_context; j >= 1; --j) *window++ = context_end - j * token_size;
      if (before == 1) *window++ = own;
      *window = own + token * token_size;
      scratch->window_sizes[static_cast<size_t>(i)] =
          static_cast<int32_t>(from_context + before + 1);
      scratch->tokens[static_cast<size_t>(i)] = own + token * token_size;
    }
  }
  share.Barrier();
  pass_.RunBlocks(share, count, scratch);
  if (token == 0) pass_.NormalizeOutputs(share, count, scratch);
}

void PackedNetwork::StepRows(const Share& share, const StepArrays& arrays, int64_t first,
                             int64_t count, TokenScratch* scratch) const {
  if (share.member == 0) {
    const int64_t dim = options_.shape.action_dim;
    for (int64_t i = 0; i < count; ++i) {
      if (dim > 0) {
        PutBoxAction(arrays.action_values + (first + i) * dim, i, scratch);
      } else {
        PutAction(arrays.actions[first + i], i, scratch);
      }
    }
  }
  RunToken(share, arrays, first, count, 0, scratch);
  if (arrays.rewards != nullptr) {
    pass_.RunScalarHead(share, weights_.reward(), options_.shape.reward_support, count, scratch,
                        arrays.rewards + first);
  }
  SecondTokens(share, arrays, first, count, scratch);
  RunToken(share, arrays, first, count, 1, scratch);
  ReadPolicyAndValue(share, count, scratch, arrays.values + first,
                     arrays.prior_logits + first * options_.shape.policy_size());
}

void PackedNetwork::SecondTokens(const Share& share, const StepArrays& arrays, int64_t first,
                                 int64_t count, TokenScratch* scratch) const {
  const NetworkShape& shape = options_.shape;
  if (arrays.observations != nullptr) {
    pass_.Encode(share, arrays.observations + first * shape.observation_size, count, scratch);
  } else if (arrays.latents == nullptr) {
    pass_.RunHead(share, weights_.latent(), count, scratch);
    pass_.NormalizeLatents(share, count, scratch);
  } else if (share.member == 0) {
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(arrays.latents + (first + i) * shape.embed_dim, shape.embed_dim,
                  scratch->x.data() + i * scratch->x_stride);
    }
  }
}

void PackedNetwork::ReadPolicyAndValue(const Share& share, int64_t count, TokenScratch* scratch,
                                       float* values, float* prior_logits) const {
  const int64_t policy_size = options_.shape.policy_size();
  pass_.NormalizeOutputs(share, count, scratch);
  pass_.RunScalarHead(share, weights_.value(), options_.shape.value_support, count, scratch,
                      values);
  pass_.RunHead(share, weights_.policy(), count, scratch);
  if (share.member == 0) {
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(scratch->outputs.data() + i * scratch->wide_stride, policy_size,
                  prior_logits + i * policy_size);
    }
  }
  share.Barrier();
}

void PackedNetwork::PutAction(int64_t action, int64_t row, TokenScratch* scratch) const {
  const int64_t embed_dim = options_.shape.embed_dim;
  std::copy_n(weights_.action_embedding() + action * embed_dim, embed_dim,
              scratch->x.data() + row * scratch->x_stride);
}

void PackedNetwork::PutBoxAction(const float* values, int64_t row, TokenScratch* scratch) const {
  const int64_t embed_dim = options_.shape.embed_dim, dim = options_.shape.action_dim;
  const float* weights = weights_.action_embedding();
  float* token = scratch->x.data() + row * scratch->x_stride;
  std::copy_n(weights + dim * embed_dim, embed_dim, token);
  for (int64_t d = 0; d < dim; ++d) {
    for (int64_t e = 0; e < embed_dim; ++e) token[e] += values[d] * weights[d * embed_dim + e];
  }
}

// Latents of all observations of the group, row after row, in scratch->x.
void PackedNetwork::EncodePasts(const Share& share, absl::Span<const RootPast> roots,
                                TokenScratch* scratch) const {
  const NetworkShape& shape = options_.shape;
  int64_t row = 0;
  if (roots[0].observations == nullptr) {
    for (const RootPast& root : roots) {
      for (int64_t t = 0; t <= root.num_past_steps && share.member == 0; ++t, ++row) {
        std::copy_n(root.latents + t * shape.embed_dim, shape.embed_dim,
                    scratch->x.data() + row * scratch->x_stride);
      }
    }
    return;
  }
  for (const RootPast& root : roots) {
    const int64_t size = (root.num_past_steps + 1) * shape.observation_size;
    if (share.member == 0) {
      std::copy_n(root.observations, size, scratch->observations.data() + row);
    }
    row += size;
  }
  share.Barrier();
  pass_.Encode(share, scratch->observations.data(), row / shape.observation_size, scratch);
}

// Moves the latents apart, puts the actions between them, and says what every token sees and for
// how many layers its output is needed: a token k places before the last one is seen through ceil(k
// / (W - 1)) layers.
void PackedNetwork::PlaceTokens(absl::Span<const RootPast> roots, TokenScratch* scratch) const {
  const NetworkShape& shape = options_.shape;
  const int64_t kept = shape.context_length - 1, token_size = shape.token_size();
  int64_t num_latents = 0;
  for (const RootPast& root : roots) num_latents += root.num_past_steps + 1;
  const int64_t num_tokens = 2 * num_latents - static_cast<int64_t>(roots.size());
  // From the end, so that no latent is overwritten before it has moved.
  int64_t latent = num_latents, row = num_tokens;
  for (size_t i = roots.size(); i-- > 0;) {
    const RootPast& root = roots[i];
    const int64_t length = 2 * root.num_past_steps + 1;
    for (int64_t t = length - 1; t >= 0; --t) {
      --row;
      // The token: an action, or a latent moved to its row.
      if (t % 2 == 1 && shape.action_dim > 0) {
        PutBoxAction(root.action_values + t / 2 * shape.action_dim, row, scratch);
      } else if (t % 2 == 1) {
        PutAction(root.actions[t / 2], row, scratch);
      } else {
        --latent;
        std::copy_n(scratch->x.data() + latent * scratch->x_stride, shape.embed_dim,
                    scratch->x.data() + row * scratch->x_stride);
      }
      // What it sees: the tokens before it in the window, and itself.
      const int64_t size = std::min(t, kept) + 1;
      const float** window = scratch->windows.data() + row * shape.context_length;
      for (int64_t j = 0; j < size; ++j) window[j] = root.tokens + (t - size + 1 + j) * token_size;
      const size_t place = static_cast<size_t>(row);
      scratch->window_sizes[place] = static_cast<int32_t>(size);
      scratch->tokens[place] = root.tokens + t * token_size;
      // How many layers of its output later tokens need.
      const int64_t distance = length - 1 - t;
      const int64_t layers_above =
          kept == 0 ? (distance == 0 ? 0 : shape.num_layers) : (distance + kept - 1) / kept;
      scratch->num_output_layers[place] =
          static_cast<int32_t>(std::max<int64_t>(0, shape.num_layers - layers_above));
    }
  }
}

void PackedNetwork::RebuildGroup(const Share& share, absl::Span<const RootPast> roots,
                                 TokenScratch* scratch, float* values, float* prior_logits) const {
  int64_t num_tokens = 0;
  for (const RootPast& root : roots) num_tokens += 2 * root.num_past_steps + 1;
  EncodePasts(share, roots, scratch);
  if (share.member == 0) PlaceTokens(roots, scratch);
  share.Barrier();
  const int64_t left = pass_.RunBlocksOfSome(share, num_tokens, scratch);
  ReadPolicyAndValue(share, left, scratch, values, prior_logits);
}

}  // namespace lzero::packed
