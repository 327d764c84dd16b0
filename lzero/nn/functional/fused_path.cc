#include "lzero/nn/functional/fused_path.h"

#include "lzero/base/check.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

thread_local int num_guards = 0;

}  // namespace

const float* DataOrNull(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
}

bool CanFuse(std::initializer_list<at::Tensor> tensors) {
  if (num_guards > 0) return false;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined()) continue;
    if (!tensor.is_cpu() || tensor.scalar_type() != at::kFloat || tensor.numel() == 0) return false;
  }
  return true;
}

bool NeedsGradient(std::initializer_list<at::Tensor> tensors) {
  if (!at::GradMode::is_enabled()) return false;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined() && tensor.requires_grad()) return true;
  }
  return false;
}

PlainPathGuard::PlainPathGuard() { ++num_guards; }
PlainPathGuard::~PlainPathGuard() { --num_guards; }

void CheckFirstDerivative(const char* function) {
  LZ_CHECK(!at::GradMode::is_enabled(), function,
           " has no second derivative: backward with create_graph needs a PlainPathGuard");
}

}  // namespace lzero
