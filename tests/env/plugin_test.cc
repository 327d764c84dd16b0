// Real libraries, built as users build theirs (tests/env/plugins), and damaged copies of one.
#include "lzero/env/plugin.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "envs/register_all.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "lzero/env/check/conformance.h"

namespace lzero::plugin_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Plugin(const std::string& name) {
  return absl::StrCat(LZ_TEST_PLUGINS, "/lib", name, ".so");
}

std::string MessageOf(const std::vector<std::string>& paths) {
  EnvRegistry registry;
  const absl::Status status = LoadPlugins(paths, &registry);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(registry.entries().empty());
  return std::string(status.message());
}

EnvRegistry WithWalk() {
  EnvRegistry registry;
  RegisterAllEnvs(registry);
  const absl::Status loaded = LoadPlugins({Plugin("walk_plugin")}, &registry);
  EXPECT_TRUE(loaded.ok()) << loaded;
  return registry;
}

TEST(PluginTest, AddsItsEnvironmentsUnderThePrefix) {
  const EnvRegistry registry = WithWalk();
  EXPECT_EQ((*registry.Find("plugin:walk"))->summary, "walk to the right");
  EXPECT_TRUE(registry.Find("plugin:walk_again").ok());
  EXPECT_FALSE(registry.Find("walk").ok());
  const auto env = registry.Make("plugin:walk", {});
  ASSERT_TRUE(env.ok()) << env.status();
  EXPECT_EQ((*env)->spec().id, "plugin:walk");
  EnvOptions options;
  options.settings["length"] = "51";
  EXPECT_EQ(std::string(registry.Make("plugin:walk", options).status().message()),
            "length of 'plugin:walk': out of range; got '51'; allowed: an integer from 2 to 50");
}

TEST(PluginTest, ItsEnvironmentConforms) {
  const EnvRegistry registry = WithWalk();
  const auto make = [&] { return registry.Make("plugin:walk", {}); };
  for (const ConformanceCheck& check : RunConformance(make, {5, 300})) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
  }
}

TEST(PluginTest, WhatItThrowsIsAnErrorOfTheStep) {
  const EnvRegistry registry = WithWalk();
  EnvOptions options;
  options.settings["fault"] = "throw";
  auto env = *registry.Make("plugin:walk", options);
  env->Reset(0);
  EXPECT_EQ(env->Step(Action::Discrete(1)).status(),
            absl::InternalError("environment 'plugin:walk' threw it \\x1b[31mbroke; "
                                "allowed: no exception; return an absl::Status"));
  options.settings["fault"] = "throw_at_reset";
  env = *registry.Make("plugin:walk", options);
  EXPECT_EQ(env->Reset(0).legal_action_mask, (std::vector<uint8_t>{1, 1}));
  EXPECT_EQ(env->Step(Action::Discrete(1)).status(),
            absl::InternalError("environment 'plugin:walk' threw something that is no "
                                "std::exception; allowed: no exception; return an absl::Status"));
}

// The class of the plugin and one of the program have one name: neither takes the other's code.
TEST(PluginTest, ItsNamesAreItsOwn) {
  const EnvRegistry registry = WithWalk();
  const auto walk = *registry.Make("plugin:walk", {});
  const auto native = *registry.Make("catch", {});
  EXPECT_EQ(walk->Reset(0).observation.size(), 1u);
  EXPECT_EQ(native->Reset(0).observation.size(), 50u);
  ASSERT_TRUE(walk->Step(Action::Discrete(1)).ok());
  EXPECT_THAT(*walk->RenderText(), StartsWith("walked "));
  EXPECT_THAT(*native->RenderText(), StartsWith("o....\n"));
}

// What crosses is one thing on both sides: types, statuses with payloads, pictures, the log.
TEST(PluginTest, SharesTypesStatusesAndTheLogWithTheProgram) {
  const EnvRegistry registry = WithWalk();
  const auto env = *registry.Make("plugin:walk", {});
  EXPECT_NE(dynamic_cast<EpisodeEnv*>(env.get()), nullptr);
  EnvOptions options;
  options.settings["length"] = "13";
  const absl::Status refused = registry.Make("plugin:walk", options).status();
  EXPECT_EQ(refused, [] {
    absl::Status same = absl::InvalidArgumentError("length 13 brings bad luck");
    same.SetPayload("tests/reason", absl::Cord("superstition"));
    return same;
  }());

  const std::string log = absl::StrCat(testing::TempDir(), "plugin_test_", getpid(), ".log");
  ASSERT_TRUE(SetLogFile(log).ok());
  env->Reset(12345);
  ASSERT_TRUE(SetLogFile("/dev/null").ok());
  EXPECT_THAT(*ReadFile(log), HasSubstr("walk starts at "));
  const auto picture = env->RenderRgb();
  ASSERT_TRUE(picture.ok());
  EXPECT_EQ(picture->pixels.size(), 20u * 20u * 3u);
  std::filesystem::remove(log);
}

TEST(PluginTest, AFileThatIsNotThereIsNamedWithTheNearest) {
  EXPECT_EQ(
      MessageOf({Plugin("wakl_plugin")}),
      absl::StrCat(Plugin("wakl_plugin"), ": no such plugin; did you mean 'libwalk_plugin.so'?"));
  EXPECT_EQ(MessageOf({"/no/such/libx.so"}),
            "/no/such/libx.so: no such plugin; there is no folder /no/such");
  EXPECT_EQ(MessageOf({LZ_TEST_PLUGINS}),
            absl::StrCat(LZ_TEST_PLUGINS, ": no file; allowed: a library"));
}

TEST(PluginTest, RelativePathsStartWhereTheProgramRuns) {
  const std::string here = std::filesystem::current_path();
  EXPECT_EQ(AbsolutePluginPaths({"a/../b/libx.so", "/y/libz.so"}),
            (std::vector<std::string>{here + "/b/libx.so", "/y/libz.so"}));
  std::filesystem::current_path(LZ_TEST_PLUGINS);
  EnvRegistry registry;
  const absl::Status loaded = LoadPlugins({"libwalk_plugin.so"}, &registry);
  std::filesystem::current_path(here);
  EXPECT_TRUE(loaded.ok()) << loaded;
  EXPECT_EQ(registry.entries().size(), 2u);
}

TEST(PluginTest, WhatIsRegisteredMustMakeSense) {
  const auto odd = [](const std::string& what) { return Plugin("odd_plugin_" + what); };
  const auto message = [&](const std::string& what) { return MessageOf({odd(what)}); };
  EXPECT_THAT(message("throws"),
              StartsWith(absl::StrCat(odd("throws"), ": LZ_PLUGIN threw vector::")));
  EXPECT_EQ(message("throws_a_number"),
            absl::StrCat(odd("throws_a_number"),
                         ": LZ_PLUGIN threw something that is no std::exception; allowed: no "
                         "exception"));
  EXPECT_EQ(message("empty"), absl::StrCat(odd("empty"), ": registers no environment"));
  EXPECT_EQ(message("name"),
            absl::StrCat(odd("name"),
                         ": registers an environment as 'Odd/Env'; allowed: a name of small "
                         "letters, digits and '_' that begins with a letter"));
  EXPECT_EQ(
      message("twice"),
      absl::StrCat(odd("twice"),
                   ": environment 'plugin:odd' is registered twice; the other: ", odd("twice")));
  EXPECT_EQ(message("no_factory"),
            absl::StrCat(odd("no_factory"), ": environment 'odd' has no factory"));
  EXPECT_EQ(message("stamp_only"),
            absl::StrCat(odd("stamp_only"),
                         ": holds no lz_plugin_register; allowed: LZ_PLUGIN (lzero/env/plugin.h)"));
}

TEST(PluginTest, AFunctionThatTheProgramLacksIsNamed) {
  EXPECT_THAT(MessageOf({Plugin("odd_plugin_not_found")}),
              testing::AllOf(StartsWith("cannot load the plugin " + Plugin("odd_plugin_not_found")),
                             HasSubstr("undefined symbol: lzero::ForgottenFunction(std::")));
}

TEST(PluginTest, TwoPluginsMayNotHoldTheSame) {
  const std::string walk = Plugin("walk_plugin");
  EXPECT_EQ(MessageOf({walk, walk}), absl::StrCat(walk, ": the plugin is named twice"));
  EXPECT_EQ(MessageOf({walk, Plugin("odd_plugin_walk")}),
            absl::StrCat(Plugin("odd_plugin_walk"),
                         ": environment 'plugin:walk' is registered twice; the other: ", walk));
  EnvRegistry registry = WithWalk();
  const size_t size = registry.entries().size();
  EXPECT_EQ(LoadPlugins({walk}, &registry).message(),
            absl::StrCat(walk,
                         ": environment 'plugin:walk' is registered twice; the other: loaded "
                         "before"));
  EXPECT_EQ(registry.entries().size(), size);
}

using PluginDeathTest = testing::Test;

TEST(PluginDeathTest, ACrashNamesThePlugin) {
  EnvRegistry registry;
  EXPECT_DEATH(static_cast<void>(LoadPlugins({Plugin("odd_plugin_aborts")}, &registry)),
               "error: .*/libodd_plugin_aborts.so: the plugin crashed while it was loaded");
}

// Copies of a plugin with changed bytes.
class PluginFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    bytes_ = *ReadFile(Plugin("walk_plugin"));
    stamp_ = bytes_.find("lzero plugin, stamp 1");
    ASSERT_NE(stamp_, bytes_.npos);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string MessageOfBytes() {
    EXPECT_TRUE(WriteFileAtomic(path_, bytes_).ok());
    return MessageOf({path_});
  }
  // Overwrites `from`, which stands in the stamp, with as many bytes.
  void Replace(const std::string& from, const std::string& to) {
    ASSERT_EQ(from.size(), to.size());
    const size_t at = bytes_.find(from, stamp_);
    ASSERT_LT(at, stamp_ + sizeof(PluginStamp)) << from;
    bytes_.replace(at, to.size(), to);
  }

  const std::string folder_ = absl::StrCat(testing::TempDir(), "plugin_file_test_", getpid());
  const std::string path_ = folder_ + "/libcopy.so";
  std::string bytes_;
  size_t stamp_ = 0;
};

TEST_F(PluginFileTest, AFileWithoutAStampIsNoPlugin) {
  const std::string message =
      absl::StrCat(path_,
                   ": no plugin of lzero; allowed: a library with LZ_PLUGIN "
                   "(lzero/env/plugin.h)");
  Replace("stamp 1", "stamp x");
  EXPECT_EQ(MessageOfBytes(), message);
  bytes_ = "words";
  EXPECT_EQ(MessageOfBytes(), message);
  bytes_ = "";
  EXPECT_EQ(MessageOfBytes(), message);
  bytes_ = ReadFile(Plugin("walk_plugin"))->substr(0, stamp_ + 200);  // cut off in the stamp
  EXPECT_EQ(MessageOfBytes(), message);
}

TEST_F(PluginFileTest, AnIncompleteLibraryIsNotLoaded) {
  const std::string whole = bytes_;
  for (const size_t size : {stamp_ + sizeof(PluginStamp), whole.size() - 1}) {
    bytes_ = whole.substr(0, size);
    EXPECT_EQ(MessageOfBytes(), absl::StrCat(path_, ": the file is cut off"));
  }
  bytes_ = "no library " + whole;
  EXPECT_THAT(MessageOfBytes(), StartsWith(absl::StrCat("cannot load the plugin ", path_, ": ")));
}

TEST_F(PluginFileTest, EachPartOfAnotherBuildIsNamed) {
  const std::string version = std::string("lzero ") + LZERO_PLUGIN_INTERFACE;
  const std::string other = "lzero 9" + version.substr(7);
  Replace(version, other);
  EXPECT_EQ(
      MessageOfBytes(),
      absl::StrCat(path_, ": built against another lzero; got '", other, "', needed '", version,
                   "'; rebuild it with CMake's find_package(lzero) of the lzero that is to "
                   "load it"));
  Replace("Abseil 2", "Abseil 3");
  EXPECT_THAT(MessageOfBytes(), testing::AllOf(HasSubstr(other), HasSubstr("; got 'Abseil 3"),
                                               HasSubstr("', needed 'Abseil 2")));
}

TEST_F(PluginFileTest, AnotherLayoutIsNamed) {
  const size_t at = stamp_ + offsetof(PluginStamp, sizes) + 2 * sizeof(uint32_t);
  const uint32_t size = sizeof(EnvSpec) + 8;
  std::memcpy(bytes_.data() + at, &size, sizeof(size));
  EXPECT_THAT(MessageOfBytes(), HasSubstr(absl::StrCat("lzero; got EnvSpec of ", size,
                                                       " bytes, needed ", sizeof(EnvSpec), ";")));
}

TEST_F(PluginFileTest, NonsenseInTheStampIsShownSafely) {
  std::memset(bytes_.data() + stamp_ + offsetof(PluginStamp, build), 0x01,
              sizeof(PluginStamp::build));
  EXPECT_THAT(MessageOfBytes(), HasSubstr("built against another lzero; got '\\x01\\x01"));
  std::memset(bytes_.data() + stamp_ + offsetof(PluginStamp, build), 0, sizeof(PluginStamp::build));
  EXPECT_THAT(MessageOfBytes(), HasSubstr("got '', needed 'lzero "));
}

}  // namespace
}  // namespace lzero::plugin_test
