#include "lzero/inference/packed/packed_network.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"

namespace lzero::packed {
namespace {

// Above this width the weights do not fit the cache of a core, and threads share the columns.
constexpr int64_t kWidestByRows = 256;
// Rows that go through the model together: their activations stay in the nearest caches.
constexpr int64_t kRowsAtOnce = 32;
constexpr int64_t kWideRowsAtOnce = 64;

bool SharesColumns(const NetworkOptions& options) {
  return options.num_threads > 1 && options.shape.embed_dim > kWidestByRows;
}

int64_t RowsAtOnce(const NetworkOptions& options) {
  const int64_t most = options.shape.embed_dim > kWidestByRows ? kWideRowsAtOnce : kRowsAtOnce;
  return std::min(options.max_batch, most);
}

int NumScratches(const NetworkOptions& options) {
  return SharesColumns(options) ? 1 : options.num_threads;
}

int NumMembers(const NetworkOptions& options) {
  return SharesColumns(options) ? options.num_threads : 1;
}

}  // namespace

PackedNetwork::PackedNetwork(const NetworkOptions& options, const Kernels& kernels)
    : options_(options),
      kernels_(kernels),
      shares_columns_(SharesColumns(options)),
      rows_at_once_(RowsAtOnce(options)),
      weights_(options.shape, options.type),
      pass_(options_.shape, weights_, kernels),
      team_(options.num_threads) {
  LZ_CHECK(options.max_batch >= 1, "a batch of ", options.max_batch);
  for (int i = 0; i < NumScratches(options); ++i) {
    scratch_.push_back(std::make_unique<TokenScratch>(options_.shape, options.type, rows_at_once_,
                                                      NumMembers(options)));
  }
}

int64_t PackedNetwork::Bytes(const NetworkOptions& options) {
  return PackedWeights::Bytes(options.shape, options.type) + TokenPass::Bytes(options.shape) +
         NumScratches(options) * TokenScratch::Bytes(options.shape, options.type,
                                                     RowsAtOnce(options), NumMembers(options));
}

absl::Status PackedNetwork::CheckInputs(const StepArrays& arrays, int64_t batch_size) const {
  if (batch_size < 0 || batch_size > options_.max_batch) {
    return absl::InvalidArgumentError(
        absl::StrCat("a step of ", batch_size, " rows, made for at most ", options_.max_batch));
  }
  for (int64_t row = 0; row < batch_size; ++row) {
    const int64_t action = arrays.actions[row], length = arrays.lengths[row];
    if (action < 0 || action >= options_.shape.num_actions) {
      return absl::InvalidArgumentError(absl::StrCat("row ", row, " of a step: action ", action,
                                                     "; allowed: 0 .. ",
                                                     options_.shape.num_actions - 1));
    }
    if (length < 0 || length >= options_.shape.context_length) {
      return absl::InvalidArgumentError(absl::StrCat("row ", row, " of a step: a context of ",
                                                     length, " tokens; allowed: 0 .. ",
                                                     options_.shape.context_length - 1));
    }
  }
  return absl::OkStatus();
}

absl::Status PackedNetwork::Step(const StepArrays& arrays, int64_t batch_size) {
  const absl::Status checked = CheckInputs(arrays, batch_size);
  if (!checked.ok() || batch_size == 0) return checked;
  team_.Run([&](int member) {
    const int num_members = team_.num_members();
    int64_t begin = 0, end = batch_size;
    Share share;
    if (shares_columns_) {
      share = {member, num_members, &team_};
    } else {
      begin = batch_size * member / num_members;
      end = batch_size * (member + 1) / num_members;
    }
    TokenScratch* scratch = scratch_[shares_columns_ ? 0 : static_cast<size_t>(member)].get();
    const int64_t num_parts = (end - begin + rows_at_once_ - 1) / rows_at_once_;
    for (int64_t i = 0; i < num_parts; ++i) {
      const int64_t count = (end - begin) / (num_parts - i);
      StepRows(share, arrays, begin, count, scratch);
      begin += count;
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
  pass_.NormalizeOutputs(share, count, scratch);
}

void PackedNetwork::StepRows(const Share& share, const StepArrays& arrays, int64_t first,
                             int64_t count, TokenScratch* scratch) const {
  const NetworkShape& shape = options_.shape;
  if (share.member == 0) {
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(weights_.action_embedding() + arrays.actions[first + i] * shape.embed_dim,
                  shape.embed_dim, scratch->x.data() + i * scratch->x_stride);
    }
  }
  RunToken(share, arrays, first, count, 0, scratch);
  pass_.RunScalarHead(share, weights_.reward(), count, scratch, arrays.rewards + first);
  pass_.RunHead(share, weights_.latent(), count, scratch);
  pass_.NormalizeLatents(share, count, scratch);
  RunToken(share, arrays, first, count, 1, scratch);
  pass_.RunScalarHead(share, weights_.value(), count, scratch, arrays.values + first);
  pass_.RunHead(share, weights_.policy(), count, scratch);
  if (share.member == 0) {
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(scratch->outputs.data() + i * scratch->wide_stride, shape.num_actions,
                  arrays.prior_logits + (first + i) * shape.num_actions);
    }
  }
  share.Barrier();
}

}  // namespace lzero::packed
