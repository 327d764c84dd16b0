// Plugins that must be refused, one for each value of LZ_ODD.
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lzero/env/plugin.h"

namespace {

absl::StatusOr<std::unique_ptr<lzero::Env>> Create(const lzero::EnvOptions& /*options*/) {
  return absl::UnimplementedError("no environment");
}

[[maybe_unused]] void Register(lzero::PluginEnvs& envs, const std::string& id) {
  envs.Register({.id = id, .summary = "odd", .factory = Create});
}

}  // namespace

#define LZ_ODD_THROWS 1
#define LZ_ODD_THROWS_A_NUMBER 2
#define LZ_ODD_ABORTS 3
#define LZ_ODD_EMPTY 4
#define LZ_ODD_NAME 5
#define LZ_ODD_TWICE 6
#define LZ_ODD_NO_FACTORY 7
#define LZ_ODD_NOT_FOUND 8
#define LZ_ODD_STAMP_ONLY 9
#define LZ_ODD_WALK 10

#if LZ_ODD == LZ_ODD_STAMP_ONLY
extern "C" __attribute__((visibility("default"))) const lzero::PluginStamp lz_plugin_stamp;
const lzero::PluginStamp lz_plugin_stamp = lzero::MakePluginStamp(LZ_PLUGIN_BUILD);
#else
#if LZ_ODD == LZ_ODD_NOT_FOUND
namespace lzero {
int ForgottenFunction(const std::string& text);
}  // namespace lzero
#endif

LZ_PLUGIN(envs) {
#if LZ_ODD == LZ_ODD_THROWS
  Register(envs, std::vector<std::string>().at(3));
#elif LZ_ODD == LZ_ODD_THROWS_A_NUMBER
  std::rethrow_exception(std::make_exception_ptr(7));
#elif LZ_ODD == LZ_ODD_ABORTS
  std::abort();
#elif LZ_ODD == LZ_ODD_NAME
  Register(envs, "Odd/Env");
#elif LZ_ODD == LZ_ODD_TWICE
  Register(envs, "odd");
  Register(envs, "odd");
#elif LZ_ODD == LZ_ODD_NO_FACTORY
  envs.Register({.id = "odd", .summary = "odd", .factory = nullptr});
#elif LZ_ODD == LZ_ODD_NOT_FOUND
  Register(envs, std::to_string(lzero::ForgottenFunction("x")));
#elif LZ_ODD == LZ_ODD_WALK
  Register(envs, "walk");
#endif
  static_cast<void>(envs);
}
#endif
