// A plugin that crashes (tests/env/plugins/walk_plugin.cc).
#include "lzero/env/plugin_crash.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <csignal>

#include "absl/strings/str_cat.h"
#include "lzero/env/plugin.h"

namespace lzero::plugin_crash_test {
namespace {

// Plays a step of plugin:walk, which goes wrong in this way.
absl::StatusOr<TimeStep> Play(const std::string& fault) {
  EnvRegistry registry;
  const std::string path = absl::StrCat(LZ_TEST_PLUGINS, "/libwalk_plugin.so");
  EXPECT_TRUE(LoadPlugins({path}, &registry).ok());
  EnvOptions options;
  options.settings["fault"] = fault;
  const auto env = *registry.Make("plugin:walk", options);
  env->Reset(0);
  return env->Step(Action::Discrete(1));
}

TEST(PluginCrashTest, ACrashIsToldWithTheName) {
  EXPECT_TRUE(Play("none").ok());
  const char* kTold =
      "error: the program crashed in plugin:walk, plugin:walk_again \\(.*walk_plugin.so";
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_EXIT((void)Play("segfault"), testing::KilledBySignal(SIGSEGV), kTold);
#endif
  EXPECT_EXIT((void)Play("abort"), testing::KilledBySignal(SIGABRT), kTold);
}

TEST(PluginCrashTest, ACrashOfTheProgramIsNotThePlugins) {
  (void)Play("none");
  EXPECT_EXIT(raise(SIGSEGV), testing::KilledBySignal(SIGSEGV), "^$");
}

}  // namespace
}  // namespace lzero::plugin_crash_test
