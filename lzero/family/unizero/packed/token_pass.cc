#include "lzero/family/unizero/packed/token_pass.h"

#include <algorithm>
#include <cmath>

#include "lzero/base/check.h"
#include "lzero/kernels/attention_kernels.h"
#include "lzero/kernels/norm_kernels.h"
#include "lzero/kernels/support_kernels.h"

namespace lzero::packed {
namespace {

// The widest row that is written: feed-forward, query-key-value, heads, encoder.
int64_t WideSize(const NetworkShape& shape) {
  return PaddedSize(
      std::max({4 * shape.embed_dim, shape.head_dim, int64_t{shape.value_support.size},
                int64_t{shape.reward_support.size}, shape.policy_size(), shape.encoder_width}));
}

// Pairs of bf16 inputs of the widest layer.
int64_t PairsSize(const NetworkShape& shape) {
  return (std::max(WideSize(shape), shape.observation_size) + 1) / 2;
}

}  // namespace

TokenScratch::TokenScratch(const NetworkShape& shape, WeightType type, int64_t max_rows,
                           int num_members)
    : max_rows(max_rows),
      x_stride(PaddedSize(shape.embed_dim)),
      wide_stride(WideSize(shape)),
      x(max_rows * x_stride),
      normal(max_rows * x_stride),
      mixed(max_rows * x_stride),
      hidden(max_rows * wide_stride),
      observations(max_rows * shape.observation_size),
      outputs(max_rows * wide_stride),
      windows(static_cast<size_t>(max_rows * shape.context_length)),
      window_sizes(static_cast<size_t>(max_rows)),
      tokens(static_cast<size_t>(max_rows)),
      num_output_layers(static_cast<size_t>(max_rows)) {
  for (int i = 0; i < num_members; ++i) {
    scores.emplace_back(shape.num_heads * PaddedSize(shape.context_length));
    if (type == WeightType::kBf16) half_rows.emplace_back(max_rows * PairsSize(shape));
  }
}

int64_t TokenScratch::Bytes(const NetworkShape& shape, WeightType type, int64_t max_rows,
                            int num_members) {
  const auto float_size = static_cast<int64_t>(sizeof(float));
  const auto pointer_size = static_cast<int64_t>(sizeof(float*));
  const int64_t floats =
      3 * PaddedSize(shape.embed_dim) + 2 * WideSize(shape) + shape.observation_size;
  int64_t bytes = max_rows * (floats * float_size + (shape.context_length + 1) * pointer_size +
                              2 * static_cast<int64_t>(sizeof(int32_t)));
  bytes += num_members * shape.num_heads * PaddedSize(shape.context_length) * float_size;
  if (type == WeightType::kBf16) bytes += num_members * max_rows * PairsSize(shape) * float_size;
  return bytes;
}

TokenPass::TokenPass(const NetworkShape& shape, const PackedWeights& weights)
    : shape_(shape),
      weights_(weights),
      cosines_(shape.context_length * PaddedSize(shape.head_size())),
      sines_(shape.context_length * PaddedSize(shape.head_size())) {
  const int64_t head_size = shape.head_size();
  for (int64_t distance = 0; distance < shape.context_length; ++distance) {
    for (int64_t i = 0; i < head_size; ++i) {
      const double exponent = static_cast<double>(i / 2 * 2) / static_cast<double>(head_size);
      const double angle = static_cast<double>(distance) * std::pow(10000.0, -exponent);
      const int64_t place = distance * PaddedSize(head_size) + i;
      cosines_[place] = static_cast<float>(std::cos(angle));
      sines_[place] = static_cast<float>(i % 2 == 0 ? -std::sin(angle) : std::sin(angle));
    }
  }
}

int64_t TokenPass::Bytes(const NetworkShape& shape) {
  return 2 * shape.context_length * PaddedSize(shape.head_size()) *
         static_cast<int64_t>(sizeof(float));
}

TokenPass::Rows TokenPass::RowsOf(const Share& share, int64_t num_rows) {
  return {num_rows * share.member / share.num_members,
          num_rows * (share.member + 1) / share.num_members};
}

void TokenPass::Linear(const Share& share, const PackedMatrix& matrix, Epilogue epilogue,
                       const float* x, int64_t x_stride, int64_t num_rows, TokenScratch* scratch,
                       float* y, int64_t y_stride) const {
  LinearCall call;
  call.matrix = &matrix;
  call.epilogue = epilogue;
  call.x = x;
  call.x_stride = x_stride;
  call.y = y;
  call.y_stride = y_stride;
  call.num_rows = num_rows;
  const int64_t panels = matrix.num_panels();
  call.first_panel = panels * share.member / share.num_members;
  call.end_panel = panels * (share.member + 1) / share.num_members;
  call.half_x = scratch->half_rows.empty() ? nullptr : scratch->half_rows[share.member].data();
  lzero::Linear(call);
  share.Barrier();
}

void TokenPass::Normalize(const Share& share, int64_t num_rows, TokenScratch* scratch) const {
  const Rows rows = RowsOf(share, num_rows);
  NormTask task;
  task.rows = rows.end - rows.begin;
  task.size = shape_.embed_dim;
  task.x = scratch->x.data() + rows.begin * scratch->x_stride;
  task.x_stride = task.y_stride = scratch->x_stride;
  NormRows(task, scratch->normal.data() + rows.begin * scratch->x_stride);
  share.Barrier();
}

void TokenPass::NormalizeGelu(const Share& share, const float* weight, const float* bias,
                              int64_t num_rows, int64_t size, float* y, int64_t y_stride) {
  const Rows rows = RowsOf(share, num_rows);
  float* first = y + rows.begin * y_stride;
  NormTask task;
  task.rows = rows.end - rows.begin;
  task.size = size;
  task.x = first;
  task.weight = weight;
  task.bias = bias;
  task.gelu = true;
  task.x_stride = task.y_stride = y_stride;
  NormRows(task, first);
  share.Barrier();
}

void TokenPass::StoreTokens(const Share& share, int64_t layer, int64_t num_rows,
                            TokenScratch* scratch) const {
  const Rows rows = RowsOf(share, num_rows);
  const int64_t size = 2 * shape_.embed_dim;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const float* keys = scratch->outputs.data() + r * scratch->wide_stride + shape_.embed_dim;
    std::copy_n(keys, size, scratch->tokens[static_cast<size_t>(r)] + layer * size);
  }
  share.Barrier();
}

void TokenPass::Attend(const Share& share, int64_t layer, int64_t num_rows,
                       TokenScratch* scratch) const {
  const Rows rows = RowsOf(share, num_rows);
  WindowAttentionTask task;
  task.rows = rows.end - rows.begin;
  task.heads = shape_.num_heads;
  task.head_size = shape_.head_size();
  task.queries = scratch->outputs.data() + rows.begin * scratch->wide_stride;
  task.query_stride = scratch->wide_stride;
  task.windows = scratch->windows.data() + rows.begin * shape_.context_length;
  task.window_stride = shape_.context_length;
  task.window_sizes = scratch->window_sizes.data() + rows.begin;
  task.layer_offset = layer * 2 * shape_.embed_dim;
  task.cosines = cosines_.data();
  task.sines = sines_.data();
  task.table_stride = PaddedSize(shape_.head_size());
  task.scores = scratch->scores[static_cast<size_t>(share.member)].data();
  AttendWindows(task, scratch->mixed.data() + rows.begin * scratch->x_stride, scratch->x_stride);
  share.Barrier();
}

// Up to the keys and values of every row.
void TokenPass::StartBlock(const Share& share, int64_t layer, int64_t num_rows,
                           TokenScratch* scratch) const {
  const PackedBlock& block = weights_.blocks()[static_cast<size_t>(layer)];
  Normalize(share, num_rows, scratch);
  Linear(share, block.query_key_value, Epilogue::kStore, scratch->normal.data(), scratch->x_stride,
         num_rows, scratch, scratch->outputs.data(), scratch->wide_stride);
  StoreTokens(share, layer, num_rows, scratch);
}

void TokenPass::FinishBlock(const Share& share, int64_t layer, int64_t num_rows,
                            TokenScratch* scratch) const {
  const PackedBlock& block = weights_.blocks()[static_cast<size_t>(layer)];
  float* x = scratch->x.data();
  float* hidden = scratch->hidden.data();
  const int64_t stride = scratch->x_stride, wide = scratch->wide_stride;
  Attend(share, layer, num_rows, scratch);
  Linear(share, block.projection, Epilogue::kAdd, scratch->mixed.data(), stride, num_rows, scratch,
         x, stride);
  Normalize(share, num_rows, scratch);
  Linear(share, block.expand, Epilogue::kGelu, scratch->normal.data(), stride, num_rows, scratch,
         hidden, wide);
  Linear(share, block.contract, Epilogue::kAdd, hidden, wide, num_rows, scratch, x, stride);
}

void TokenPass::RunBlocks(const Share& share, int64_t num_rows, TokenScratch* scratch) const {
  for (int64_t layer = 0; layer < shape_.num_layers; ++layer) {
    StartBlock(share, layer, num_rows, scratch);
    FinishBlock(share, layer, num_rows, scratch);
  }
}

int64_t TokenPass::RunBlocksOfSome(const Share& share, int64_t num_rows,
                                   TokenScratch* scratch) const {
  for (int64_t layer = 0; layer < shape_.num_layers; ++layer) {
    StartBlock(share, layer, num_rows, scratch);
    num_rows = DropRows(share, layer, num_rows, scratch);
    FinishBlock(share, layer, num_rows, scratch);
  }
  return num_rows;
}

// Moves the rows up whose output of this layer is needed, with all that FinishBlock reads of them.
int64_t TokenPass::DropRows(const Share& share, int64_t layer, int64_t num_rows,
                            TokenScratch* scratch) const {
  // Count the rows that stay.
  std::vector<int32_t>& needs = scratch->num_output_layers;
  int64_t kept = 0;
  for (int64_t r = 0; r < num_rows; ++r) kept += needs[static_cast<size_t>(r)] > layer;
  share.Barrier();  // all have counted
  // Move them up, on one thread.
  if (share.member == 0) {
    size_t to = 0;
    for (size_t from = 0; from < static_cast<size_t>(num_rows); ++from) {
      if (needs[from] <= layer) continue;
      if (from != to) {
        std::copy_n(scratch->x.data() + from * scratch->x_stride, shape_.embed_dim,
                    scratch->x.data() + to * scratch->x_stride);
        std::copy_n(scratch->outputs.data() + from * scratch->wide_stride, shape_.embed_dim,
                    scratch->outputs.data() + to * scratch->wide_stride);
        std::copy_n(scratch->windows.data() + from * shape_.context_length, shape_.context_length,
                    scratch->windows.data() + to * shape_.context_length);
        scratch->window_sizes[to] = scratch->window_sizes[from];
        scratch->tokens[to] = scratch->tokens[from];
        needs[to] = needs[from];
      }
      ++to;
    }
  }
  share.Barrier();
  return kept;
}

void TokenPass::NormalizeOutputs(const Share& share, int64_t num_rows,
                                 TokenScratch* scratch) const {
  Normalize(share, num_rows, scratch);
}

void TokenPass::RunHead(const Share& share, const PackedHead& head, int64_t num_rows,
                        TokenScratch* scratch) const {
  const int64_t wide = scratch->wide_stride;
  float* hidden = scratch->hidden.data();
  Linear(share, head.first, Epilogue::kStore, scratch->normal.data(), scratch->x_stride, num_rows,
         scratch, hidden, wide);
  NormalizeGelu(share, head.norm_weight.data(), head.norm_bias.data(), num_rows, shape_.head_dim,
                hidden, wide);
  Linear(share, head.last, Epilogue::kStore, hidden, wide, num_rows, scratch,
         scratch->outputs.data(), wide);
}

void TokenPass::RunScalarHead(const Share& share, const PackedHead& head,
                              const ValueSupport& support, int64_t num_rows, TokenScratch* scratch,
                              float* values) const {
  RunHead(share, head, num_rows, scratch);
  const Rows rows = RowsOf(share, num_rows);
  DecodeRows(rows.end - rows.begin, support,
             scratch->outputs.data() + rows.begin * scratch->wide_stride, scratch->wide_stride,
             values + rows.begin);
  share.Barrier();
}

void TokenPass::NormalizeLatents(const Share& share, int64_t num_rows,
                                 TokenScratch* scratch) const {
  const Rows rows = RowsOf(share, num_rows);
  const float* outputs = scratch->outputs.data() + rows.begin * scratch->wide_stride;
  float* x = scratch->x.data() + rows.begin * scratch->x_stride;
  if (shape_.latent_norm == LatentNorm::kSimNorm) {
    RunSimNorm(rows.end - rows.begin, shape_.embed_dim, shape_.sim_norm_group, outputs,
               scratch->wide_stride, x, scratch->x_stride);
  } else {
    NormTask task;
    task.rows = rows.end - rows.begin;
    task.size = shape_.embed_dim;
    task.x = outputs;
    task.x_stride = scratch->wide_stride;
    task.y_stride = scratch->x_stride;
    NormRows(task, x);
  }
  share.Barrier();
}

void TokenPass::Encode(const Share& share, const float* observations, int64_t num_rows,
                       TokenScratch* scratch) const {
  const PackedEncoder& encoder = weights_.encoder();
  LZ_CHECK(encoder.last.has_value(), "the encoder is not packed");
  const int64_t wide = scratch->wide_stride;
  const float* x = observations;
  int64_t x_stride = shape_.observation_size;
  // Two buffers in turn; the last layer ends in `outputs`.
  float* buffers[2] = {scratch->outputs.data(), scratch->hidden.data()};
  const size_t depth = encoder.hidden.size();
  for (size_t i = 0; i < depth; ++i) {
    float* y = buffers[(depth - i) % 2];
    Linear(share, encoder.hidden[i], Epilogue::kStore, x, x_stride, num_rows, scratch, y, wide);
    NormalizeGelu(share, encoder.norm_weights[i].data(), encoder.norm_biases[i].data(), num_rows,
                  shape_.encoder_width, y, wide);
    x = y;
    x_stride = wide;
  }
  Linear(share, *encoder.last, Epilogue::kStore, x, x_stride, num_rows, scratch, buffers[0], wide);
  NormalizeLatents(share, num_rows, scratch);
}

}  // namespace lzero::packed
