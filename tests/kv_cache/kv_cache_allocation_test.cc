// Rules of a warm step that hold without a GPU: nothing is allocated (counted in the C++ heap and
// in libtorch's allocator), addresses stay, and a simulation costs the same however many came
// before.

#include <c10/core/CPUAllocator.h>

#include <cstdlib>
#include <new>
#include <vector>

#include "tests/kv_cache/cache_testing.h"

namespace {

int64_t num_heap_allocations = 0;

void* CountedAllocate(size_t size) {
  ++num_heap_allocations;
  return std::malloc(size == 0 ? 1 : size);
}

void* CountedAllocate(size_t size, std::align_val_t alignment) {
  ++num_heap_allocations;
  const auto step = static_cast<size_t>(alignment);
  return std::aligned_alloc(step, (size + step - 1) / step * step);
}

}  // namespace

// Replaces the whole program's heap functions; the array forms call these.
void* operator new(size_t size) { return CountedAllocate(size); }
void* operator new(size_t size, std::align_val_t alignment) {
  return CountedAllocate(size, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace lzero::kv_cache_allocation_test {
namespace {

// Counts libtorch's CPU allocations while it lives.
class CountingAllocator : public c10::Allocator {
 public:
  CountingAllocator() : wrapped_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this, 200); }
  ~CountingAllocator() override { c10::SetCPUAllocator(wrapped_, 200); }
  at::DataPtr allocate(size_t size) override {
    ++num_allocations;
    return wrapped_->allocate(size);
  }
  c10::DeleterFnPtr raw_deleter() const override { return wrapped_->raw_deleter(); }
  void copy_data(void* to, const void* from, size_t count) const override {
    wrapped_->copy_data(to, from, count);
  }

  int64_t num_allocations = 0;

 private:
  c10::Allocator* wrapped_;
};

// One search of `nodes` simulations in all environments, with everything prepared by the caller.
class Searcher {
 public:
  explicit Searcher(KVCacheManager* manager)
      : manager_(manager),
        batch_(MakeBatch(manager->config(), manager->config().num_envs + 1)),
        rows_(at::ones({manager->config().num_envs, 2, manager->config().shape.num_layers, 2,
                        manager->config().shape.embed_dim})) {
    for (int64_t env = 0; env < manager->config().num_envs; ++env) {
      envs_.push_back(EnvId(env));
      keys_.push_back({EnvId(env), NodeId(0)});
      children_.push_back({EnvId(env), NodeId(0), NodeId(0)});
    }
  }

  void StoreRoots() {
    const KVCacheShape& shape = manager_->config().shape;
    for (const EnvId env : envs_) {
      ASSERT_TRUE(manager_->StoreInit(env, 0, MakeCache(shape, {1, 2, 3, 4, 5, 6, 7})).ok());
    }
  }

  void Begin() { manager_->BeginSearch(envs_); }

  bool Simulate(int64_t parent, int64_t child) {
    for (size_t i = 0; i < envs_.size(); ++i) {
      keys_[i].node = NodeId(parent);
      children_[i].parent = NodeId(parent);
      children_[i].child = NodeId(child);
    }
    return manager_->CloneInto(keys_, &batch_).ok() &&
           manager_->StoreRecurrent(children_, rows_).ok();
  }

 private:
  KVCacheManager* manager_;
  ContextBatch batch_;
  at::Tensor rows_;
  std::vector<EnvId> envs_;
  std::vector<ContextKey> keys_;
  std::vector<ChildKey> children_;
};

TEST(CacheAllocation, TheCountersCount) {
  CountingAllocator allocator;
  const int64_t heap_before = num_heap_allocations;
  const at::Tensor made = at::empty({3});
  EXPECT_EQ(allocator.num_allocations, 1);
  EXPECT_GT(num_heap_allocations, heap_before);
}

TEST(CacheAllocation, AWarmStepAllocatesNothingAndKeepsItsAddresses) {
  for (const CacheStorage storage : {CacheStorage::kStatic, CacheStorage::kGrowing}) {
    KVCacheManagerConfig config = SmallConfig();
    config.storage = storage;
    config.num_envs = 8;
    config.nodes_per_env = 26;
    auto manager = MakeManager(config);
    Searcher searcher(manager.get());
    searcher.StoreRoots();
    for (int64_t node = 1; node < 26; ++node) ASSERT_TRUE(searcher.Simulate(node - 1, node));

    CountingAllocator allocator;
    const void* address = manager->storage_address();
    const int64_t heap_before = num_heap_allocations;
    bool all_fine = true;
    for (int64_t search = 0; search < 40; ++search) {
      searcher.Begin();
      for (int64_t node = 1; node < 26; ++node) {  // 1,000 steps in all
        all_fine = searcher.Simulate(search % 2 == 0 ? node - 1 : node / 2, node) && all_fine;
      }
    }
    EXPECT_EQ(num_heap_allocations, heap_before);
    EXPECT_EQ(allocator.num_allocations, 0);
    EXPECT_EQ(manager->storage_address(), address);
    EXPECT_TRUE(all_fine);
    EXPECT_EQ(manager->stats().stores, 8 + 8 * 25 + 8 * 1000);
  }
}

TEST(CacheAllocation, ASimulationCostsTheSameHoweverManyCameBefore) {
  KVCacheManagerConfig config = SmallConfig();  // contexts of 7 tokens: 4 nodes at most
  config.num_envs = 1;
  config.nodes_per_env = 1001;
  auto manager = MakeManager(config);
  Searcher searcher(manager.get());
  searcher.StoreRoots();
  for (int64_t node = 1; node <= 1000; ++node) {
    const int64_t before = manager->stats().path_hops;
    ASSERT_TRUE(searcher.Simulate(node - 1, node));
    const int64_t hops = manager->stats().path_hops - before;
    // Roots and nodes visited: 1, 2, 3, 4 for the first depths, then the window is the limit.
    ASSERT_EQ(hops, std::min<int64_t>(node, 4)) << "node " << node;
  }
  EXPECT_EQ(manager->stats().bytes, 2 * 2 * 3 * 4 * (1 + 2 * 7 + 1000 * 2))
      << "a node owns two tokens and nothing else";
}

}  // namespace
}  // namespace lzero::kv_cache_allocation_test
