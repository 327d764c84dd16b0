#include "lzero/model/projector.h"

#include "absl/strings/str_cat.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

constexpr double kEpsilon = 1e-5;

}  // namespace

ProjectorTail::ProjectorTail(int64_t width, int64_t num_layers, ProjectorNorm norm) : norm_(norm) {
  for (int64_t i = 0; i <= num_layers; ++i) {
    norms_.push_back(
        register_module(absl::StrCat("norm", i), std::make_shared<LayerNormLayer>(width)));
    if (i == num_layers) break;
    linears_.push_back(
        register_module(absl::StrCat("linear", i), std::make_shared<LinearLayer>(width, width)));
  }
}

at::Tensor ProjectorTail::Normalize(const at::Tensor& x, const LayerNormLayer& norm) const {
  if (norm_ == ProjectorNorm::kLayer) return norm.Forward(x);
  const at::Tensor rows = x.reshape({-1, x.size(-1)});
  return at::batch_norm(rows, norm.weight, norm.bias, {}, {}, /*training=*/true, /*momentum=*/0.0,
                        kEpsilon, /*cudnn_enabled=*/false)
      .view(x.sizes());
}

at::Tensor ProjectorTail::Forward(const at::Tensor& x) const {
  at::Tensor y = x;
  for (size_t i = 0; i < linears_.size(); ++i) {
    y = linears_[i]->Forward(at::gelu(Normalize(y, *norms_[i]), "tanh"));
  }
  return Normalize(y, *norms_.back());
}

}  // namespace lzero
