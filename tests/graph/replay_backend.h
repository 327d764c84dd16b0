// A graph backend without a device: a capture keeps its body, a replay calls it again. For tests of
// captured steps on the CPU. Counts what a device would do.
#ifndef LZERO_TESTS_GRAPH_REPLAY_BACKEND_H_
#define LZERO_TESTS_GRAPH_REPLAY_BACKEND_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lzero/graph/graph_backend.h"

namespace lzero {

class ReplayBackend : public GraphBackend {
 public:
  at::Device device() const override { return at::kCPU; }
  void* stream() const override { return nullptr; }
  absl::Status WarmUp(int times, const std::function<void()>& body) override {
    for (int i = 0; i < times; ++i, ++num_warm_ups) body();
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<CapturedGraph>> Capture(
      const std::function<void()>& body) override {
    if (num_captures == fail_capture) return absl::FailedPreconditionError("capture failed: busy");
    ++num_captures;
    ++num_live;
    return std::make_unique<Graph>(this, body);
  }
  RecordedWork recorded() const override { return {}; }  // a body has no nodes
  absl::Status OnStream(const std::function<void()>& body) override {
    body();
    return absl::OkStatus();
  }
  absl::Status Wait() override {
    ++num_waits;
    return absl::OkStatus();
  }
  absl::Status Synchronize() override {
    ++num_synchronizations;
    return absl::OkStatus();
  }
  absl::Status Unload(std::vector<std::unique_ptr<CapturedGraph>> graphs) override {
    ++num_unloads;
    graphs.clear();
    return absl::OkStatus();
  }
  absl::Status TrimMemory() override { return absl::OkStatus(); }
  absl::StatusOr<DeviceMemoryUse> MemoryUse() const override { return DeviceMemoryUse{}; }

  int num_warm_ups = 0, num_captures = 0, num_replays = 0, num_unloads = 0;
  int num_waits = 0, num_synchronizations = 0;
  int num_live = 0;       // graphs
  int fail_capture = -1;  // the number of the capture to refuse

 private:
  class Graph : public CapturedGraph {
   public:
    Graph(ReplayBackend* backend, std::function<void()> body)
        : backend_(backend), body_(std::move(body)) {}
    ~Graph() override { --backend_->num_live; }
    absl::Status Replay() override {
      ++backend_->num_replays;
      body_();
      return absl::OkStatus();
    }

   private:
    ReplayBackend* backend_;
    std::function<void()> body_;
  };
};

}  // namespace lzero

#endif  // LZERO_TESTS_GRAPH_REPLAY_BACKEND_H_
