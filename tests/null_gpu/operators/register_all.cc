// Puts RunOnHost in the place of libtorch's CUDA kernels, when this library is loaded: every
// operator that both the CUDA key and the CPU can run, but for those that make memory or only look
// at it.
#include <ATen/ATen.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/copy_native.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include <set>
#include <string>

#include "tests/null_gpu/access.h"
#include "tests/null_gpu/operators/run_on_host.h"

namespace lzero::null_gpu {
namespace {

// Copies within a device are work; those between it and the host or another are libtorch's own,
// over the copies of the runtime.
at::Tensor& CopyInto(at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  if (to.device() != from.device()) return at::native::copy_(to, from, non_blocking);
  const c10::cuda::CUDAGuard guard(to.device());
  const at::Tensor source = from.expand(to.sizes());
  IssueOnCurrentStream({"aten::copy_",
                        [to = OnHost(to), source = OnHost(source)] { to.copy_(source); },
                        {RangeOf(to, true), RangeOf(source, false)}});
  return to;
}

void CopyEachInto(at::TensorList to, at::TensorList from, bool non_blocking) {
  for (size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i], non_blocking);
}

// Whether the operator computes on the device, with a kernel of the CPU to stand in.
bool RunsOnBoth(const c10::OperatorHandle& op) {
  static const auto& others = *new std::set<std::string>{"aten::empty",
                                                         "aten::empty_strided",
                                                         "aten::_local_scalar_dense",
                                                         "aten::resize_",
                                                         "aten::set_",
                                                         "aten::record_stream",
                                                         "aten::is_pinned",
                                                         "aten::_pin_memory",
                                                         "aten::_fused_sdp_choice",
                                                         "aten::is_set_to",
                                                         "aten::copy_",
                                                         "aten::_foreach_copy_",
                                                         "aten::_efficientzerotensor",
                                                         "aten::_has_compatible_shallow_copy_type"};
  // These pick cuDNN's operators on the device, and the CPU's elsewhere.
  static const auto& composites = *new std::set<std::string>{
      "aten::convolution", "aten::convolution_backward", "aten::_convolution"};
  const std::string& name = op.operator_name().name;
  if (composites.count(name) != 0) return op.operator_name().overload_name.empty();
  if (name.rfind("aten::", 0) != 0 || others.count(name) != 0) return false;
  const auto has = [&](c10::DispatchKey key) { return op.hasKernelForDispatchKey(key); };
  if (!has(c10::DispatchKey::CUDA)) return false;
  if (!has(c10::DispatchKey::CPU) && !has(c10::DispatchKey::CompositeExplicitAutograd))
    return false;
  for (const c10::Argument& result : op.schema().returns()) {
    if (result.alias_info() != nullptr && !result.alias_info()->isWrite()) return false;  // a view
  }
  return true;
}

// Blocks of graphs' pools are read by replays after they were freed.
void SeeBlock(const c10::cuda::CUDACachingAllocator::TraceEntry& entry) {
  if (entry.mempool_ != c10::cuda::MempoolId_t{0, 0}) return;
  const auto* memory = reinterpret_cast<const void*>(entry.addr_);
  using Entry = c10::cuda::CUDACachingAllocator::TraceEntry;
  if (entry.action_ == Entry::ALLOC) MarkLent(memory, entry.size_);
  if (entry.action_ == Entry::FREE_COMPLETED) {
    MarkFreed(memory, entry.size_,
              NumberOf(static_cast<cudaStream_t>(entry.stream_), entry.device_));
  }
}

// libtorch warns of every kernel that is replaced: that is the purpose here.
struct Silence : c10::WarningHandler {
  void process(const c10::Warning& /*warning*/) override {}
};

bool Register() {
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard guard(&silence);
  // Their kernels have no counterpart on the CPU: plain operators are chosen instead.
  at::globalContext().setSDPUseMemEfficient(false);
  at::globalContext().setSDPUseFlash(false);
  at::globalContext().setSDPUseCuDNN(false);
  at::globalContext().setUserEnabledCuDNN(false);
  c10::cuda::CUDACachingAllocator::attachAllocatorTraceTracker(SeeBlock);
  auto& library =
      *new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::CUDA, __FILE__, __LINE__);
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op.has_value() || !RunsOnBoth(*op)) continue;
    const std::string overload = name.overload_name.empty() ? "" : "." + name.overload_name;
    library.impl((name.name + overload).c_str(),
                 torch::CppFunction::makeFromBoxedFunction<&RunOnHost>());
  }
  library.impl("copy_", CopyInto);
  library.impl("_foreach_copy_", CopyEachInto);
  return true;
}

const bool kIsRegistered = Register();

}  // namespace
}  // namespace lzero::null_gpu
