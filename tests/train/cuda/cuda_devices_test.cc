// Learner and searches on devices of their own: weights that cross from one to the other, and whole
// runs; skipped where there is no device. The only device of a machine is its second as well.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/inference/tensor/engine_device.h"
#include "lzero/tensor/cuda_library.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/null_gpu/count.h"
#include "tests/train/trainer_testing.h"

namespace lzero::cuda_devices_test {
namespace {

using testing::HasSubstr;

class CudaDevicesTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto devices = ListCudaDevices();
    if (!devices.ok()) GTEST_SKIP() << devices.status().message();
    second_.index = devices->size() > 1 ? 1 : 0;
  }

  Device second_ = Device::kCuda;
};

// A network whose weights are made on the stream of `device`.
std::shared_ptr<WorldModel> MakeOn(const EngineDevice& device, uint64_t seed) {
  std::shared_ptr<WorldModel> model;
  EXPECT_TRUE(device
                  .OnStream([&] {
                    model = RandomModel(ModelConfig(), {{4}, 2}, seed);
                    if (!device.device().is_cpu()) model->to(device.device());
                    return absl::OkStatus();
                  })
                  .ok());
  return model;
}

// Sets every weight on the stream of `device`, and waits for nothing.
void Fill(const EngineDevice& device, const Network& network, double value) {
  ASSERT_TRUE(device
                  .OnStream([&] {
                    const torch::NoGradGuard no_grad;
                    for (at::Tensor weight : network.parameters()) weight.fill_(value);
                    return absl::OkStatus();
                  })
                  .ok());
}

// Written before, and written again after: what arrives is what was there when it was asked for.
TEST_F(CudaDevicesTest, WeightsCrossWhileTheirOwnersGoOn) {
  const std::pair<Device, Device> pairs[] = {{Device::kCuda, second_},
                                             {second_, Device::kCuda},
                                             {Device::kCuda, Device::kCpu},
                                             {Device::kCpu, second_},
                                             {second_, second_}};
  for (const auto& [from, to] : pairs) {
    SCOPED_TRACE(DeviceText(from) + " to " + DeviceText(to));
    const EngineDevice owner = MakeEngineDevice(from).value();
    const EngineDevice reader = MakeEngineDevice(to).value();
    auto source = MakeOn(owner, 1), copy = MakeOn(reader, 2);
    Fill(owner, *source, 3.0);
    Fill(reader, *copy, 4.0);
    bool was_called = false;
    ASSERT_TRUE(reader.CopyWeights(*source, copy.get(), [&] { was_called = true; }).ok());
    Fill(owner, *source, 5.0);
    EXPECT_TRUE(was_called);
    ASSERT_TRUE(reader.Wait().ok());
    for (const at::Tensor& weight : copy->parameters()) {
      EXPECT_EQ(weight.device(), reader.device());
      EXPECT_TRUE((weight.detach().cpu() == 3.0).all().item<bool>());
    }
    for (const EngineDevice* used : {&owner, &reader}) {
      if (used->backend == nullptr) continue;
      ASSERT_TRUE(used->backend->Synchronize().ok());
    }
    source.reset(), copy.reset();
    for (const EngineDevice* used : {&owner, &reader}) {
      if (used->backend == nullptr) continue;
      ASSERT_TRUE(used->backend->Unload({}).ok());
    }
  }
}

TEST_F(CudaDevicesTest, ADeviceThatIsNotThereIsNamedWithThoseThatAre) {
  const size_t count = ListCudaDevices()->size();
  const Device next = {Device::Kind::kCuda, static_cast<int>(count)};
  const std::string told(PrepareDevice(next, "train.device").status().message());
  EXPECT_THAT(told,
              testing::StartsWith("train.device: " + DeviceText(next) + ": this machine has " +
                                  std::to_string(count) + (count == 1 ? " device" : " devices")));
  EXPECT_THAT(told, HasSubstr("; allowed here: cpu, cuda"));
  EXPECT_EQ(FindCudaMemory(next.index).status().message(),
            "memory of " + DeviceText(next) + ": invalid device ordinal");
}

// All roles and the learner at once, on each pair of devices: the same run.
TEST_F(CudaDevicesTest, RunsAreTheSameWhereverTheirPartsAre) {
  const std::pair<Device, Device> pairs[] = {
      {Device::kCuda, Device::kCuda}, {Device::kCuda, second_}, {second_, Device::kCuda}};
  std::vector<std::string> weights;
  for (const auto& [inference, learner] : pairs) {
    SCOPED_TRACE(DeviceText(inference) + " and " + DeviceText(learner));
    ExperimentConfig config = TinyConfig();
    config.deterministic = false;
    config.replay.reanalyze_ratio = 0.5;
    config.inference.device = inference;
    config.train.device = learner;
    TestRun run(config);
    const auto outcome = run.Run();
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_GT(outcome->state.tasks[0].reanalyzed, 0);
    weights.push_back(run.Read("checkpoints/latest/model.safetensors"));
    for (const char* count : {"device_bytes", "pinned_bytes", "graphs"}) {
      EXPECT_EQ(null_gpu::CountOf(count), 0) << count;
    }
  }
  // A real device may round sums in another order each time.
  if (null_gpu::IsUnder()) {
    EXPECT_EQ(weights[0], weights[1]);
    EXPECT_EQ(weights[0], weights[2]);
  }
}

}  // namespace
}  // namespace lzero::cuda_devices_test
