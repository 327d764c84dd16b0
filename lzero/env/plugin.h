// Environments from outside the program. A plugin is a shared library, built against the installed
// headers, that registers environments when a program loads it; envs/template is one.
//
// It links nothing of lzero or Abseil but takes their functions from the program that loads it: one
// copy of each in a process, so one log, one typeinfo of Env and one kind of absl::Status. For this
// it must be built with the program's headers, compiler and Abseil: every plugin carries a stamp of
// its build, which is read from the file and compared before any of its code runs. Its own names
// are hidden: a class that is called like one of the program's is another one. Plugins are loaded
// by one thread, before environments are made, and never unloaded.
#ifndef LZERO_ENV_PLUGIN_H_
#define LZERO_ENV_PLUGIN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/picture/image.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"
#include "lzero/env/plugin_interface.h"

namespace lzero {

// What a plugin registers in LZ_PLUGIN.
class PluginEnvs {
 public:
  // `entry.id` is a name of small letters, digits and '_'; users write "plugin:NAME", and this is
  // the EnvOptions::id that the factory gets and EnvSpec::id must say.
  void Register(EnvRegistry::Entry entry) { entries_.push_back(std::move(entry)); }
  std::vector<EnvRegistry::Entry> Take() { return std::move(entries_); }

 private:
  std::vector<EnvRegistry::Entry> entries_;
};

// Loads the libraries, each named once, and adds their environments to `registry`, which is not
// changed on an error. A path that is not absolute starts where the program runs. The errors are
// complete sentences: NotFound for a missing file (names the nearest), FailedPrecondition for a
// library that is no plugin, was built against something else, does not load or does not register
// as it must. A plugin that aborts while it is loaded ends the program, which says so.
absl::Status LoadPlugins(absl::Span<const std::string> paths, EnvRegistry* registry);

// The same paths, absolute: what a run keeps, so that it can be resumed from any folder.
std::vector<std::string> AbsolutePluginPaths(absl::Span<const std::string> paths);

// How a plugin was built; read from its file.
struct PluginStamp {
  char mark[24];       // kPluginMark
  char build[232];     // LZ_PLUGIN_BUILD, filled with zeros
  uint32_t sizes[10];  // bytes, of the types of MakePluginStamp
};

inline constexpr char kPluginMark[] = "lzero plugin, stamp 1";

constexpr PluginStamp MakePluginStamp(const char* build) {
  PluginStamp stamp = {
      {},
      {},
      {sizeof(std::string), sizeof(std::vector<float>), sizeof(EnvSpec), sizeof(TimeStep),
       sizeof(absl::StatusOr<TimeStep>), sizeof(EnvOptions), sizeof(EnvSetting),
       sizeof(EnvRegistry::Entry), sizeof(EpisodeEnv), sizeof(Image)}};
  for (size_t i = 0; kPluginMark[i] != 0; ++i) stamp.mark[i] = kPluginMark[i];
  for (size_t i = 0; build[i] != 0; ++i) stamp.build[i] = build[i];
  return stamp;
}

}  // namespace lzero

#define LZ_PLUGIN_QUOTE_(text) #text
#define LZ_PLUGIN_TEXT_(macro) LZ_PLUGIN_QUOTE_(macro)
#ifdef __clang__
#define LZ_PLUGIN_COMPILER_ "clang " LZ_PLUGIN_TEXT_(__clang_major__)
#else
#define LZ_PLUGIN_COMPILER_ "GCC " LZ_PLUGIN_TEXT_(__GNUC__)
#endif

// All that program and plugin must agree in, part by part.
#define LZ_PLUGIN_BUILD \
  "lzero " LZERO_PLUGIN_INTERFACE "; " LZ_PLUGIN_COMPILER_          \
  "; C++ " LZ_PLUGIN_TEXT_(__cplusplus) "; libstdc++ strings ABI "  \
  LZ_PLUGIN_TEXT_(_GLIBCXX_USE_CXX11_ABI) "; Abseil "               \
  LZ_PLUGIN_TEXT_(ABSL_LTS_RELEASE_VERSION) " "                     \
  LZ_PLUGIN_TEXT_(ABSL_OPTION_INLINE_NAMESPACE_NAME)

// Stands once in a plugin, outside namespaces, and registers its environments:
//   LZ_PLUGIN(envs) { envs.Register({.id = "x", .summary = "one line", .factory = X::Create}); }
#define LZ_PLUGIN(envs)                                                                         \
  extern "C" __attribute__((visibility("default"))) const ::lzero::PluginStamp lz_plugin_stamp; \
  constinit const ::lzero::PluginStamp lz_plugin_stamp =                                        \
      ::lzero::MakePluginStamp(LZ_PLUGIN_BUILD);                                                \
  extern "C" __attribute__((visibility("default"))) void lz_plugin_register(                    \
      ::lzero::PluginEnvs& envs)

#endif  // LZERO_ENV_PLUGIN_H_
