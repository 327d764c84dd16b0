// Runs a DeviceSearch with a model of the host: what the device asks is copied out, what the model
// answers is copied in. Has more rows than roots, so that there are idle ones. For tests.
#ifndef LZERO_TESTS_MCTS_DEVICE_DEVICE_DRIVER_H_
#define LZERO_TESTS_MCTS_DEVICE_DEVICE_DRIVER_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "lzero/base/status_macros.h"
#include "lzero/mcts/device/device_search.h"

namespace lzero {

// Memory of a device and its copies. This one is the host's own; a test on a device has its own.
struct HostCopies {
  static void* Allocate(size_t num_bytes) { return ::operator new(num_bytes); }
  static void Free(void* memory) { ::operator delete(memory); }
  // Both wait for the stream.
  static void CopyIn(void* device, const void* host, size_t num_bytes, DeviceStream) {
    std::memcpy(device, host, num_bytes);
  }
  static void CopyOut(void* host, const void* device, size_t num_bytes, DeviceStream) {
    std::memcpy(host, device, num_bytes);
  }
};

// An array in the host's memory and one in the device's.
template <typename T, typename Copies>
class Mirror {
 public:
  explicit Mirror(size_t size)
      : host_(size), device_(static_cast<T*>(Copies::Allocate(size * sizeof(T)))) {}
  ~Mirror() { Copies::Free(device_); }
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  void CopyIn(DeviceStream stream) {
    Copies::CopyIn(device_, host_.data(), host_.size() * sizeof(T), stream);
  }
  void CopyOut(DeviceStream stream) {
    Copies::CopyOut(host_.data(), device_, host_.size() * sizeof(T), stream);
  }
  std::vector<T>& host() { return host_; }
  T* device() const { return device_; }

 private:
  std::vector<T> host_;
  T* device_;
};

template <typename Copies>
class DeviceDriver {
 public:
  DeviceDriver(DeviceSearch* search, int num_actions, DeviceStream stream)
      : search_(*search),
        num_rows_(search->max_roots()),
        width_(static_cast<size_t>(num_actions)),
        stream_(stream),
        prior_logits_(Rows() * width_),
        values_(Rows()),
        rewards_(Rows()),
        discounts_(Rows()),
        parents_(Rows()),
        actions_(Rows()),
        children_(Rows()) {}

  // `fused`: expand and the next select in one launch.
  absl::Status Run(InferenceModel& model, absl::Span<const Root> roots,
                   const SearchRequest& request, int num_simulations, bool fused,
                   SearchResult* result) {
    const DeviceQueries queries = {parents_.device(), actions_.device(), children_.device()};
    const DeviceStepOutputs outputs = {rewards_.device(), discounts_.device(), values_.device(),
                                       prior_logits_.device()};
    LZ_RETURN_IF_ERROR(search_.Prepare(roots, request));
    LZ_RETURN_IF_ERROR(search_.Upload(stream_));
    LZ_RETURN_IF_ERROR(model.InitialInference(
        roots, absl::MakeSpan(prior_logits_.host()).first(roots.size() * width_),
        absl::MakeSpan(values_.host()).first(roots.size())));
    prior_logits_.CopyIn(stream_);
    values_.CopyIn(stream_);
    LZ_RETURN_IF_ERROR(
        search_.Begin(num_rows_, {prior_logits_.device(), values_.device()}, stream_));
    LZ_RETURN_IF_ERROR(search_.Select(num_rows_, queries, stream_));
    for (int simulation = 0; simulation < num_simulations; ++simulation) {
      LZ_RETURN_IF_ERROR(Ask(model, roots.size()));
      const bool last = simulation + 1 == num_simulations;
      if (fused && !last) {
        LZ_RETURN_IF_ERROR(search_.ExpandAndSelect(num_rows_, outputs, queries, stream_));
        continue;
      }
      LZ_RETURN_IF_ERROR(search_.Expand(num_rows_, outputs, stream_));
      if (!last) LZ_RETURN_IF_ERROR(search_.Select(num_rows_, queries, stream_));
    }
    LZ_RETURN_IF_ERROR(search_.Finish(num_rows_, stream_));
    LZ_RETURN_IF_ERROR(search_.Download(stream_));
    values_.CopyOut(stream_);  // waits
    return search_.Read(roots, result);
  }

 private:
  size_t Rows() const { return static_cast<size_t>(num_rows_); }

  absl::Status Ask(InferenceModel& model, size_t num_roots) {
    parents_.CopyOut(stream_);
    actions_.CopyOut(stream_);
    children_.CopyOut(stream_);
    std::vector<NodeId> parents, children;
    for (size_t b = 0; b < num_roots; ++b) {
      parents.push_back(NodeId(parents_.host()[b]));
      children.push_back(NodeId(children_.host()[b]));
    }
    LZ_RETURN_IF_ERROR(
        model.RecurrentInference(parents, absl::MakeConstSpan(actions_.host()).first(num_roots),
                                 children, absl::MakeSpan(rewards_.host()).first(num_roots),
                                 absl::MakeSpan(discounts_.host()).first(num_roots),
                                 absl::MakeSpan(values_.host()).first(num_roots),
                                 absl::MakeSpan(prior_logits_.host()).first(num_roots * width_)));
    rewards_.CopyIn(stream_);
    discounts_.CopyIn(stream_);
    values_.CopyIn(stream_);
    prior_logits_.CopyIn(stream_);
    return absl::OkStatus();
  }

  DeviceSearch& search_;
  int num_rows_;
  size_t width_;
  DeviceStream stream_;
  Mirror<float, Copies> prior_logits_, values_, rewards_, discounts_;
  Mirror<int32_t, Copies> parents_, actions_, children_;
};

}  // namespace lzero

#endif  // LZERO_TESTS_MCTS_DEVICE_DEVICE_DRIVER_H_
