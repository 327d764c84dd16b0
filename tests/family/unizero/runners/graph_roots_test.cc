// Roots from recorded graphs, on a backend that replays on the CPU: the numbers and contexts of
// eager roots; and that what is recorded reads no number on the host.
#include "lzero/family/unizero/runners/graph_roots.h"

#include <set>

#include "ATen/record_function.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/family/unizero/runners/eager_roots.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "tests/family/unizero/runners/root_scene.h"
#include "tests/graph/replay_backend.h"

namespace lzero::graph_roots_test {
namespace {

constexpr int kNumActions = 3, kNumEnvs = 5;

void ExpectNear(const SceneOutputs& got, const SceneOutputs& expected) {
  for (size_t i = 0; i < got.values.size(); ++i) {
    EXPECT_NEAR(got.values[i], expected.values[i], 1e-4);
  }
  for (size_t i = 0; i < got.logits.size(); ++i) {
    EXPECT_NEAR(got.logits[i], expected.logits[i], 1e-4);
  }
}

TEST(GraphRootsTest, RootsAndContextsAreThoseOfEagerRoots) {
  SetTensorThreads(1);
  ReplayBackend backend;
  const auto model = SceneModel(kNumActions);
  SceneCache scene(*model, kNumEnvs), eager_scene(*model, kNumEnvs);
  const auto roots = MakeGraphRoots(*model, scene.cache.get(), scene.contexts.get(),
                                    InferenceDtype::kFp32, &backend)
                         .value();
  EagerRoots eager(*model, eager_scene.cache.get(), eager_scene.contexts.get());
  const auto episodes = RandomEpisodes(kNumEnvs, 12, 4, kNumActions, 1);
  std::vector<int64_t> steps = {0, 3, 10, 1, 9};
  const SceneRoots first(episodes, steps);
  SceneOutputs got(kNumEnvs, kNumActions), expected(kNumEnvs, kNumActions);
  ASSERT_TRUE(roots->Rebuild(first.roots(), first.rows(), got.spans()).ok());
  ASSERT_TRUE(eager.Rebuild(first.roots(), first.rows(), expected.spans()).ok());
  ExpectNear(got, expected);
  for (int64_t& step : steps) ++step;
  const SceneRoots second(episodes, steps);
  ASSERT_TRUE(roots->Continue(second.roots(), second.rows(), got.spans()).ok());
  ASSERT_TRUE(eager.Continue(second.roots(), second.rows(), expected.spans()).ok());
  ExpectNear(got, expected);
  EXPECT_EQ(backend.num_replays, 2);
  for (int env = 0; env < kNumEnvs; ++env) {
    const KVCache cached = scene.cache->CloneInit(EnvId(env), steps[env]).value();
    const KVCache other = eager_scene.cache->CloneInit(EnvId(env), steps[env]).value();
    ASSERT_EQ(cached.size(), other.size());
    EXPECT_TRUE(at::allclose(torch::tensor(cached.CopyTokens(0, cached.size())),
                             torch::tensor(other.CopyTokens(0, other.size())), 1e-4, 1e-5));
  }
}

TEST(GraphRootsTest, AFailedCaptureIsToldWithItsBatchAndLeavesNothing) {
  ReplayBackend backend;
  backend.fail_capture = 2;
  const auto model = SceneModel(kNumActions);
  SceneCache scene(*model, kNumEnvs);
  const auto roots = MakeGraphRoots(*model, scene.cache.get(), scene.contexts.get(),
                                    InferenceDtype::kFp32, &backend);
  EXPECT_THAT(std::string(roots.status().message()),
              testing::HasSubstr("recording 4 roots: capture failed: busy"));
  EXPECT_EQ(backend.num_live, 0);
}

// Names of the operations that libtorch runs while it lives.
class OperationLog {
 public:
  OperationLog() {
    names().clear();
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&Begin));
  }
  ~OperationLog() { at::removeCallback(handle_); }
  static std::set<std::string>& names() {
    static auto& names = *new std::set<std::string>;
    return names;
  }

 private:
  static std::unique_ptr<at::ObserverContext> Begin(const at::RecordFunction& operation) {
    names().insert(operation.name());
    return nullptr;
  }
  at::CallbackHandle handle_;
};

struct Recorded : EagerRoots {
  using EagerRoots::ComputePasts;
  using EagerRoots::ComputeSteps;
  using EagerRoots::EagerRoots;
};

TEST(GraphRootsTest, WhatIsRecordedReadsNoNumberOnTheHost) {
  const auto model = SceneModel(kNumActions);
  SceneCache scene(*model, kNumEnvs);
  Recorded roots(*model, scene.cache.get(), scene.contexts.get());
  {
    const OperationLog log;
    roots.ComputePasts(3, 5);
    roots.ComputeSteps(3);
  }
  const std::set<std::string> recorded = OperationLog::names();
  {
    const OperationLog log;
    at::ones({1}).item<float>();
  }
  // The log sees what it looks for.
  EXPECT_EQ(OperationLog::names().count("aten::_local_scalar_dense"), 1u);
  EXPECT_EQ(recorded.count("aten::scaled_dot_product_attention"), 1u);
  // Reads a number, or has a shape that depends on numbers: each would wait for the device.
  for (const char* name : {"aten::item", "aten::_local_scalar_dense", "aten::is_nonzero",
                           "aten::nonzero", "aten::masked_select", "aten::unique", "aten::equal"}) {
    EXPECT_EQ(recorded.count(name), 0u) << name;
  }
}

}  // namespace
}  // namespace lzero::graph_roots_test
