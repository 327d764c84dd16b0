// `lzero bench step`: the recurrent step of a runner, beside the machine's peaks.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/runners/runners.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "tools/bench/bench_device.h"
#include "tools/bench/model_tables.h"
#include "tools/bench/table/model_cases.h"

namespace lzero {
namespace {

class StepSubject final : public BenchSubject {
 public:
  using BenchSubject::BenchSubject;

  // With full contexts of random tokens.
  absl::Status Prepare() override {
    LZ_ASSIGN_OR_RETURN(const ExperimentConfig config, BenchConfig(bench_));
    LZ_ASSIGN_OR_RETURN(device_, BenchDevice::Open(bench_.Text("device")));
    LZ_ASSIGN_OR_RETURN(backend_, device_->MakeBackend());
    LZ_ASSIGN_OR_RETURN(weights_, WorldModel::Create(config.model, {{4}, bench_.Int("actions")},
                                                     /*seed=*/0, device_->device()));
    weights_->eval();
    LZ_ASSIGN_OR_RETURN(
        step_, MakeRecurrentStep(config.inference, *weights_, bench_.Int("batch"), backend_.get()));
    step_->buffers().contexts.tokens.normal_();
    step_->buffers().contexts.lengths.fill_(bench_.Int("context") - 1);
    LZ_RETURN_IF_ERROR(device_->Wait());  // the step runs on a stream of its own
    std::vector<double> seconds;
    return RunRound(&seconds);
  }

  // The mean of many steps, whose first is not counted.
  absl::Status RunRound(std::vector<double>* seconds) override {
    constexpr double kMeasuredSeconds = 0.02;
    constexpr int64_t kMinSteps = 3;
    const auto run = [&] { return step_->Run(bench_.Int("batch")); };
    const auto time = [&]() -> absl::StatusOr<double> {
      LZ_RETURN_IF_ERROR(run());
      return TimeRuns(*device_, kMinSteps, kMeasuredSeconds, run);
    };
    SetTensorThreads(static_cast<int>(bench_.Int("threads")));
    absl::StatusOr<double> mean = 0.0;
    if (device_->is_cpu()) {
      mean = time();
    } else {
      LZ_RETURN_IF_ERROR(backend_->OnStream([&] { mean = time(); }));
    }
    LZ_RETURN_IF_ERROR(mean.status());
    seconds->push_back(*mean);
    return absl::OkStatus();
  }

  BenchWork Work() const override { return StepWork(bench_); }

 private:
  const BenchDevice* device_ = nullptr;
  std::unique_ptr<GraphBackend> backend_;  // one unload unit a step; none on the CPU
  std::shared_ptr<WorldModel> weights_;
  std::unique_ptr<RecurrentStep> step_;
};

}  // namespace

BenchTable StepTable() {
  BenchTable table;
  table.verb = "step";
  table.unit = "us";
  table.axes = StepAxes("eager");
  table.presets = StepPresets();
  table.is_left_out = LacksBf16;
  table.check = CheckStepCase;
  table.make = MakeSubject<StepSubject>;
  return table;
}

}  // namespace lzero
