#include "tests/null_gpu/operators/run_on_host.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/null_gpu/blas/blas.h"

namespace lzero::null_gpu {
namespace {

using c10::IValue;
using torch::jit::Stack;
using Change = std::function<at::Tensor(const at::Tensor&)>;

// `value` with `change` made to its tensors. Generators and devices become the CPU's.
IValue Changed(const IValue& value, const Change& change) {
  if (value.isTensor()) return value.toTensor().defined() ? change(value.toTensor()) : value;
  if (value.isTensorList()) {
    std::vector<at::Tensor> changed;
    for (const at::Tensor& tensor : value.toTensorVector()) changed.push_back(change(tensor));
    return changed;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> changed;
    for (const std::optional<at::Tensor> tensor : value.toOptionalTensorList()) {
      changed.push_back(tensor.has_value() ? std::optional(change(*tensor)) : std::nullopt);
    }
    return changed;
  }
  if (value.isDevice()) return c10::Device(at::kCPU);
  if (value.isGenerator()) return IValue();
  return value;
}

void ForEachTensor(const IValue& value, const std::function<void(const at::Tensor&)>& body) {
  Changed(value, [&](const at::Tensor& tensor) {
    body(tensor);
    return tensor;
  });
}

// A tensor of the same shape with memory of its own and, where they cannot be indices, values.
at::Tensor Lookalike(const at::Tensor& tensor) {
  at::Tensor copy = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options());
  const size_t size = RangeOf(tensor, false).size;
  if (size == 0) return copy;
  // What runs late has not written its indices yet.
  if (at::isIntegralType(tensor.scalar_type(), false)) {
    std::memset(copy.data_ptr(), 0, size);
  } else {
    std::memcpy(copy.data_ptr(), tensor.const_data_ptr(), size);
  }
  return copy;
}

bool IsWritten(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool IsProduct(const std::string& name) {
  static const auto& products =
      *new std::set<std::string>{"aten::mm",      "aten::addmm", "aten::bmm",
                                 "aten::baddbmm", "aten::addmv", "aten::_addmm_activation"};
  return products.count(name) != 0;
}

// What the host reads decides the shape or the value of the result.
bool NeedsHost(const c10::FunctionSchema& schema) {
  static const auto& names = *new std::set<std::string>{"aten::nonzero",
                                                        "aten::masked_select",
                                                        "aten::_unique",
                                                        "aten::_unique2",
                                                        "aten::unique_dim",
                                                        "aten::bincount",
                                                        "aten::unique_consecutive",
                                                        "aten::unique_dim_consecutive"};
  if (names.count(schema.name()) != 0) return true;
  for (const c10::Argument& result : schema.returns()) {
    const auto kind = result.type()->kind();
    if (kind != c10::TypeKind::TensorType && kind != c10::TypeKind::ListType) return true;
  }
  return false;
}

// The device of an operator's first tensor there, or the one that it is told; else the current one.
c10::Device DeviceOfCall(const std::vector<IValue>& arguments) {
  std::optional<c10::Device> device;
  for (const IValue& argument : arguments) {
    ForEachTensor(argument, [&](const at::Tensor& tensor) {
      if (!device.has_value() && tensor.defined() && tensor.is_cuda()) device = tensor.device();
    });
  }
  for (const IValue& argument : arguments) {
    if (!device.has_value() && argument.isDevice() && argument.toDevice().has_index()) {
      device = argument.toDevice();
    }
  }
  return device.value_or(c10::Device(at::kCUDA, c10::cuda::current_device()));
}

// Tensors elsewhere that an operator of `device` may be given: one number, or indices.
void CheckDevices(const c10::FunctionSchema& schema, const std::vector<IValue>& arguments,
                  c10::Device device) {
  const bool takes_indices = schema.name().find("index") != std::string::npos;
  for (const IValue& argument : arguments) {
    ForEachTensor(argument, [&](const at::Tensor& tensor) {
      if (!tensor.defined() || tensor.device() == device) return;
      if (tensor.is_cpu() && (tensor.dim() == 0 || takes_indices)) return;
      C10_THROW_ERROR(ValueError, "Expected all tensors to be on the same device, but " +
                                      schema.name() + " got one of " + tensor.device().str());
    });
  }
}

// Some arguments of an operator, which follow each other.
struct Arguments {
  size_t first = 0, count = 0;
};

// Those that a device rounds to TF32, as libtorch is told or as the call says.
Arguments RoundedOnes(const c10::FunctionSchema& schema, const std::vector<IValue>& arguments) {
  const std::string& name = schema.name();
  if (name == "aten::_convolution") return {0, arguments.back().toBool() ? size_t{2} : 0};
  if (at::globalContext().allowTF32CuDNN()) {
    if (name == "aten::convolution") return {0, 2};
    if (name == "aten::convolution_backward") return {0, 3};
  }
  if (at::globalContext().allowTF32CuBLAS()) {
    if (name == "aten::mm" || name == "aten::bmm") return {0, 2};
    if (name == "aten::addmm" || name == "aten::baddbmm") return {1, 2};
  }
  return {};
}

// To the nearest of the numbers with 10 bits behind the point, as a tensor core reads it.
at::Tensor Rounded(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.scalar_type() != at::kFloat) return tensor;
  return tensor.contiguous().view(at::kInt).add(0x1000).bitwise_and(~0x1fff).view(at::kFloat);
}

// One call of an operator.
class Call {
 public:
  Call(const c10::OperatorHandle& op, Stack* stack) : op_(op), schema_(op.schema()) {
    const auto count = static_cast<std::ptrdiff_t>(schema_.arguments().size());
    given_.assign(stack->end() - count, stack->end());
    stack->erase(stack->end() - count, stack->end());
    guard_.emplace(DeviceOfCall(given_));
    CheckDevices(schema_, given_, guard_->current_device());
    rounded_ = RoundedOnes(schema_, given_);
  }

  void Run(Stack* results) {
    const bool is_at_once = NeedsHost(schema_) || !IsDeferred();
    if (NeedsHost(schema_)) {
      C10_CUDA_CHECK(cudaStreamSynchronize(c10::cuda::getCurrentCUDAStream().stream()));
    }
    FillEmptyOutputs();
    for (const IValue& value : given_) {
      taken_.push_back(Changed(value, [](const at::Tensor& tensor) {
        // The host's own numbers are read now.
        return tensor.is_cuda() ? OnHost(tensor) : tensor.clone();
      }));
    }
    Stack made;
    if (HasFreshResults()) made = is_at_once ? Execute(taken_) : ExecuteForShapes();
    TakeResults(made, results);
    Work work{schema_.name(), nullptr, Ranges()};
    if (HasFreshResults() && is_at_once) {
      // A wait, or the level, has completed what the operands depend on.
      work.run = [made, to = outputs_] { Copy(made, to); };
    } else {
      work.run = [op = op_, taken = taken_, rounded = rounded_, to = outputs_] {
        Copy(ExecuteOf(op, taken, rounded), to);
      };
    }
    IssueOnCurrentStream(std::move(work));
  }

 private:
  // A result, or element `element` of a result that is a list, and its memory on the device.
  struct Output {
    size_t result;
    std::optional<size_t> element;
    at::Tensor to;
  };

  static bool IsDeferred() {
    cudaStreamCaptureStatus status;
    C10_CUDA_CHECK(cudaStreamIsCapturing(c10::cuda::getCurrentCUDAStream().stream(), &status));
    return IsLate() || status != cudaStreamCaptureStatusNone;
  }
  static Stack ExecuteOf(const c10::OperatorHandle& op, const std::vector<IValue>& arguments,
                         const Arguments& rounded) {
    const at::AutoDispatchBelowADInplaceOrView below;
    Stack stack(arguments.begin(), arguments.end());
    for (size_t i = rounded.first; i < rounded.first + rounded.count; ++i) {
      stack[i] = Rounded(stack[i].toTensor());
    }
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    return stack;
  }
  static void Copy(const Stack& from, const std::vector<Output>& outputs) {
    for (const Output& output : outputs) {
      const IValue& value = from[output.result];
      output.to.copy_(output.element.has_value() ? value.toTensorVector()[*output.element]
                                                 : value.toTensor());
    }
  }

  Stack Execute(const std::vector<IValue>& arguments) const {
    return ExecuteOf(op_, arguments, rounded_);
  }
  std::vector<IValue> Lookalikes() const {
    std::vector<IValue> copies;
    for (const IValue& value : taken_) copies.push_back(Changed(value, Lookalike));
    return copies;
  }
  // Before the work itself runs, which draws its random numbers then: here none may be used up.
  Stack ExecuteForShapes() const {
    if (schema_.name() != "aten::native_dropout") return Execute(Lookalikes());
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    const at::Tensor before = generator.get_state();
    Stack made = Execute(Lookalikes());
    generator.set_state(before);
    return made;
  }
  bool HasFreshResults() const {
    for (const c10::Argument& result : schema_.returns()) {
      if (result.alias_info() == nullptr) return true;
    }
    return false;
  }

  // Outputs that the caller left empty get their size.
  void FillEmptyOutputs() {
    std::vector<size_t> empty;
    for (size_t i = 0; i < given_.size(); ++i) {
      const bool is_output = schema_.arguments()[i].is_out() && given_[i].isTensor();
      if (is_output && given_[i].toTensor().numel() == 0) empty.push_back(i);
    }
    if (empty.empty()) return;
    std::vector<IValue> copies;
    for (const IValue& value : given_) {
      copies.push_back(Changed(value, [](const at::Tensor& tensor) {
        if (tensor.numel() == 0) return at::empty({0}, tensor.options().device(at::kCPU));
        return Lookalike(OnHost(tensor));
      }));
    }
    Execute(copies);
    for (const size_t i : empty) given_[i].toTensor().resize_(copies[i].toTensor().sizes());
  }

  at::Tensor NewOutput(const at::Tensor& like, size_t result, std::optional<size_t> element) {
    at::Tensor made = at::empty_strided(like.sizes(), like.strides(),
                                        like.options().device(guard_->current_device()));
    outputs_.push_back({result, element, OnHost(made)});
    written_.push_back(RangeOf(made, true));
    return made;
  }

  void TakeResults(const Stack& made, Stack* results) {
    for (size_t i = 0; i < schema_.returns().size(); ++i) {
      const c10::AliasInfo* alias = schema_.returns()[i].alias_info();
      if (alias != nullptr) {
        results->push_back(GivenAs(*alias));
      } else if (made[i].isTensorList()) {
        std::vector<at::Tensor> list;
        for (const at::Tensor& like : made[i].toTensorVector()) {
          list.push_back(NewOutput(like, i, list.size()));
        }
        results->push_back(std::move(list));
      } else if (made[i].isTensor() && made[i].toTensor().defined()) {
        results->push_back(NewOutput(made[i].toTensor(), i, std::nullopt));
      } else {
        results->push_back(made[i]);
      }
    }
  }
  // The argument that a result is.
  IValue GivenAs(const c10::AliasInfo& alias) const {
    for (size_t i = 0; i < given_.size(); ++i) {
      const c10::AliasInfo* other = schema_.arguments()[i].alias_info();
      if (other != nullptr && other->beforeSets() == alias.beforeSets()) return given_[i];
    }
    C10_THROW_ERROR(NotImplementedError, "no argument is the result of " + schema_.name());
  }

  std::vector<Range> Ranges() const {
    std::vector<Range> ranges = written_;
    for (size_t i = 0; i < given_.size(); ++i) {
      const bool writes = IsWritten(schema_.arguments()[i]);
      ForEachTensor(given_[i], [&](const at::Tensor& tensor) {
        if (tensor.defined() && tensor.is_cuda()) ranges.push_back(RangeOf(tensor, writes));
      });
    }
    if (!IsProduct(schema_.name())) return ranges;
    // cuBLAS writes to workspaces that belong to the stream; they are made at their first use.
    ranges.push_back(WorkspaceOf(at::cuda::getCurrentCUDABlasHandle()));
    if (schema_.name().find("addmm") != std::string::npos) {
      ranges.push_back(
          {at::cuda::getCUDABlasLtWorkspace(), at::cuda::getCUDABlasLtWorkspaceSize(), true});
    }
    return ranges;
  }

  c10::OperatorHandle op_;
  const c10::FunctionSchema& schema_;
  std::optional<c10::cuda::CUDAGuard> guard_;  // as libtorch's own kernels have
  std::vector<IValue> given_;                  // by the caller
  std::vector<IValue> taken_;                  // the same over memory of the host
  Arguments rounded_;
  std::vector<Output> outputs_;
  std::vector<Range> written_;
};

}  // namespace

at::Tensor OnHost(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda()) return tensor;
  const c10::InferenceMode no_inference(false);
  void* memory = tensor.numel() != 0 ? const_cast<void*>(tensor.const_data_ptr()) : nullptr;
  const at::Tensor made = at::from_blob(memory, tensor.sizes(), tensor.strides(),
                                        tensor.options().device(at::kCPU).pinned_memory(false));
  return tensor.is_conj() ? made.conj() : made;
}

Range RangeOf(const at::Tensor& tensor, bool writes) {
  if (tensor.numel() == 0) return {nullptr, 0, writes};
  int64_t last = 0;
  for (int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.size(d) - 1) * tensor.stride(d);
  return {tensor.const_data_ptr(), static_cast<size_t>(last + 1) * tensor.element_size(), writes};
}

void IssueOnCurrentStream(Work work) {
  C10_CUDA_CHECK(Issue(c10::cuda::getCurrentCUDAStream().stream(), std::move(work)));
}

void RunOnHost(const c10::OperatorHandle& op, c10::DispatchKeySet /*keys*/, Stack* stack) {
  Call(op, stack).Run(stack);
}

}  // namespace lzero::null_gpu
