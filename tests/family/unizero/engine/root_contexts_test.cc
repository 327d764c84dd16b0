// Contexts of roots on their way into the cache: the window, ages of tokens, out and back in.
#include "lzero/family/unizero/engine/root_contexts.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kv_cache/cache_testing.h"

namespace lzero::root_contexts_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<int64_t>;

// Two environments, contexts of 3 tokens.
struct Role {
  explicit Role(RootContext root_context) {
    KVCacheManagerConfig config = SmallConfig();
    config.context_length = 4;
    config.root_context = root_context;
    cache = KVCacheManager::Create(config).value();
    roots = std::make_unique<RootContexts>(cache.get());
    roots->OnWeightsChanged();
  }

  absl::Status Store(int64_t env, int64_t step, const Numbers& tokens, int64_t num_new) {
    // Between rows of others.
    Numbers all = tokens;
    all.insert(all.begin(), {700, 701});
    all.push_back(702);
    const HostRows rows = MakeTokenRows(cache->config().shape, all);
    const auto count = static_cast<int64_t>(tokens.size());
    return roots->Store({RootTokens{EnvId(env), step, 2 + count, count, num_new}}, rows);
  }

  Numbers Read(int64_t env, int64_t step) const {
    const auto context = cache->CloneInit(EnvId(env), step);
    return context.ok() ? ReadTokens(*context) : Numbers{};
  }

  std::unique_ptr<KVCacheManager> cache;
  std::unique_ptr<RootContexts> roots;
};

Numbers Ages(const Role& role, int64_t env) {
  const auto arrays = role.roots->Export();
  EXPECT_TRUE(arrays.ok()) << arrays.status();
  const auto ages = ReadArray<int64_t>(*arrays, absl::StrCat("env", env, ".ages"));
  return ages.ok() ? *ages : Numbers{};
}

TEST(RootContextsTest, TheNewestTokensOfTheNewestStepAreKept) {
  Role role(RootContext::kRebuild);
  ASSERT_TRUE(role.Store(1, 0, {1}, 1).ok());
  EXPECT_THAT(role.Read(1, 0), ElementsAre(1));
  ASSERT_TRUE(role.Store(1, 1, {1, 2, 3, 4, 5}, 2).ok());
  EXPECT_THAT(role.Read(1, 1), ElementsAre(3, 4, 5));
  EXPECT_FALSE(role.cache->HasInit(EnvId(1), 0));
  EXPECT_FALSE(role.cache->HasInit(EnvId(0), 1));
}

TEST(RootContextsTest, EveryTokenHasItsAge) {
  Role role(RootContext::kCarry);
  ASSERT_TRUE(role.Store(0, 0, {1}, 1).ok());
  role.roots->OnWeightsChanged();
  ASSERT_TRUE(role.Store(0, 1, {1, 2, 3}, 2).ok());
  EXPECT_THAT(Ages(role, 0), ElementsAre(1, 0, 0));
  role.roots->OnWeightsChanged();
  ASSERT_TRUE(role.Store(0, 2, {1, 2, 3, 4, 5}, 2).ok());
  EXPECT_THAT(Ages(role, 0), ElementsAre(1, 0, 0));
  role.roots->OnWeightsChanged();
  role.roots->OnWeightsChanged();
  EXPECT_THAT(Ages(role, 0), ElementsAre(3, 2, 2));
}

TEST(RootContextsTest, WhatIsExportedIsPutBackAsItWas) {
  Role from(RootContext::kCarry), to(RootContext::kCarry);
  ASSERT_TRUE(from.Store(1, 6, {1, 2, 3}, 3).ok());
  from.roots->OnWeightsChanged();
  ASSERT_TRUE(from.Store(1, 7, {2, 3, 4, 5}, 2).ok());
  ASSERT_TRUE(to.Store(0, 3, {9}, 1).ok());  // forgotten
  const auto exported = from.roots->Export();
  ASSERT_TRUE(exported.ok()) << exported.status();
  ASSERT_TRUE(to.roots->Import(*exported).ok());
  EXPECT_THAT(to.Read(1, 7), ElementsAre(3, 4, 5));
  EXPECT_FALSE(to.cache->HasInit(EnvId(0), 3));
  EXPECT_THAT(Ages(to, 1), ElementsAre(1, 0, 0));
  // As old as its oldest token in both, though they count their weights from different beginnings.
  EXPECT_EQ(to.cache->weight_version(), 1);
  EXPECT_EQ(to.cache->CloneInit(EnvId(1), 7)->weight_version(), 0);
  EXPECT_EQ(from.cache->CloneInit(EnvId(1), 7)->weight_version(), 1);
  const auto again = to.roots->Export();
  ASSERT_EQ(again->size(), exported->size());
  for (size_t i = 0; i < again->size(); ++i) {
    EXPECT_EQ((*again)[i].name, (*exported)[i].name);
    EXPECT_EQ((*again)[i].bytes, (*exported)[i].bytes) << (*again)[i].name;
  }
}

TEST(RootContextsTest, ContextsThatCannotBeReadAreNotExported) {
  Role role(RootContext::kRebuild);
  ASSERT_TRUE(role.Store(0, 4, {1, 2}, 2).ok());
  ASSERT_TRUE(role.Store(1, 5, {1, 2}, 2).ok());
  role.cache->EndEpisode(EnvId(0));
  EXPECT_THAT(*ReadArray<int64_t>(*role.roots->Export(), "steps"), ElementsAre(-1, 5));
  role.roots->OnWeightsChanged();
  const auto exported = role.roots->Export();
  EXPECT_THAT(*ReadArray<int64_t>(*exported, "steps"), ElementsAre(-1, -1));
  EXPECT_EQ(exported->size(), 1u);
}

// The message of importing what `change` makes of a good export.
template <typename Change>
std::string ImportError(const Change& change) {
  Role from(RootContext::kRebuild), to(RootContext::kRebuild);
  EXPECT_TRUE(from.Store(1, 7, {3, 4, 5}, 3).ok());
  std::vector<NamedArray> arrays = *from.roots->Export();
  change(arrays);
  const absl::Status status = to.roots->Import(arrays);
  EXPECT_FALSE(status.ok());
  return std::string(status.message());
}

TEST(RootContextsTest, WhatDoesNotFitIsRefused) {
  EXPECT_THAT(ImportError([](auto& arrays) { arrays.clear(); }), HasSubstr("steps"));
  EXPECT_THAT(ImportError([](auto& arrays) {
                arrays.back() = MakeNamedArray<int64_t>("steps", Numbers{-1, 7, -1});
              }),
              HasSubstr("contexts of 3 environments, this role has 2"));
  EXPECT_THAT(ImportError([](auto& arrays) {
                arrays[1] = MakeNamedArray<int64_t>("env1.ages", Numbers{});
              }),
              HasSubstr("environment 1: a context of [2, 2, 3, 3] with the ages of 0 tokens"));
  EXPECT_THAT(ImportError([](auto& arrays) {
                arrays[1] = MakeNamedArray<int64_t>("env1.ages", Numbers{0, 0});
              }),
              HasSubstr("with the ages of 2 tokens; allowed: as many as there are tokens, 1 .. 3"));
  EXPECT_THAT(ImportError([](auto& arrays) { arrays[0].name = "other"; }),
              HasSubstr("env1.tokens"));
  EXPECT_THAT(ImportError([](auto& arrays) {
                arrays[0].shape = {4, 2, 3, 3};
                arrays[0].bytes += arrays[0].bytes;
              }),
              HasSubstr("environment 1: a context of [4, 2, 3, 3] with the ages of 3 tokens"));
  EXPECT_THAT(ImportError([](auto& arrays) {
                arrays[1] = MakeNamedArray<int64_t>("env1.ages", Numbers{2, 0, 0});
              }),
              HasSubstr("weights version"));
}

}  // namespace
}  // namespace lzero::root_contexts_test
