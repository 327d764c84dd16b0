#include "lzero/env/plugin.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "lzero/base/files.h"
#include "lzero/base/nearest.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"
#include "lzero/env/plugin_crash.h"
#include "lzero/env/thrown.h"

namespace lzero {
namespace {

namespace fs = std::filesystem;

constexpr char kRegisterSymbol[] = "lz_plugin_register";
using RegisterFunction = void (*)(PluginEnvs&);

constexpr PluginStamp kOwnStamp = MakePluginStamp(LZ_PLUGIN_BUILD);
// Names of the entries of PluginStamp::sizes.
constexpr const char* kSizeNames[] = {"std::string", "std::vector",        "EnvSpec",
                                      "TimeStep",    "StatusOr<TimeStep>", "EnvOptions",
                                      "EnvSetting",  "EnvRegistry::Entry", "EpisodeEnv",
                                      "Image"};
static_assert(std::size(kSizeNames) == std::size(PluginStamp().sizes));

constexpr char kRebuild[] =
    "rebuild it with CMake's find_package(lzero) of the lzero that is to load it";

// FailedPrecondition "path: what".
template <typename... Parts>
absl::Status PluginError(const std::string& path, const Parts&... what) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", what...));
}

absl::Status CheckIsFile(const std::string& path) {
  std::error_code code;
  if (fs::is_regular_file(path, code)) return absl::OkStatus();
  if (fs::exists(path, code)) return PluginError(path, "no file; allowed: a library");
  const fs::path folder = fs::path(path).parent_path();
  const auto names = ListDirectory(folder.string());
  if (!names.ok()) {
    return absl::NotFoundError(
        absl::StrCat(path, ": no such plugin; there is no folder ", folder.string()));
  }
  return absl::NotFoundError(absl::StrCat(path, ": no such plugin",
                                          DidYouMean(fs::path(path).filename().string(), *names)));
}

// Whether the file is cut off before its last part, the table of its sections: the loader would map
// what is not there and crash.
bool IsCutOff(absl::string_view bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header)) return true;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;  // dlopen says what it is
  const uint64_t table = uint64_t{header.e_shnum} * header.e_shentsize;
  return header.e_shoff > bytes.size() || bytes.size() - header.e_shoff < table;
}

// The stamp in the file's bytes. FailedPrecondition without one, or for a part of a file.
absl::StatusOr<PluginStamp> ReadStamp(const std::string& path) {
  LZ_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  const absl::string_view mark(kOwnStamp.mark, sizeof(kOwnStamp.mark));
  const size_t at = bytes.find(mark.data(), 0, mark.size());
  if (at == bytes.npos || bytes.size() - at < sizeof(PluginStamp)) {
    return PluginError(
        path, "no plugin of lzero; allowed: a library with LZ_PLUGIN (lzero/env/plugin.h)");
  }
  if (IsCutOff(bytes)) return PluginError(path, "the file is cut off");
  PluginStamp stamp;
  std::memcpy(&stamp, bytes.data() + at, sizeof(stamp));
  return stamp;
}

absl::string_view BuildText(const PluginStamp& stamp) {
  return {stamp.build, strnlen(stamp.build, sizeof(stamp.build))};
}

// FailedPrecondition names every part of the build that is not that of this program.
absl::Status CheckStamp(const std::string& path, const PluginStamp& stamp) {
  if (std::memcmp(&stamp, &kOwnStamp, sizeof(stamp)) == 0) return absl::OkStatus();
  const std::vector<std::string> got = absl::StrSplit(BuildText(stamp), "; ");
  const std::vector<std::string> needed = absl::StrSplit(BuildText(kOwnStamp), "; ");
  std::vector<std::string> differences;
  for (size_t i = 0; i < std::max(got.size(), needed.size()); ++i) {
    const std::string mine = i < needed.size() ? needed[i] : "nothing";
    const std::string theirs = i < got.size() ? got[i] : "nothing";
    if (mine != theirs) {
      differences.push_back(
          absl::StrCat("got ", QuotedForMessage(theirs), ", needed '", mine, "'"));
    }
  }
  for (size_t i = 0; i < std::size(kSizeNames); ++i) {
    if (stamp.sizes[i] == kOwnStamp.sizes[i]) continue;
    differences.push_back(absl::StrCat("got ", kSizeNames[i], " of ", stamp.sizes[i],
                                       " bytes, needed ", kOwnStamp.sizes[i]));
  }
  return PluginError(path, "built against another lzero; ", absl::StrJoin(differences, "; "), "; ",
                     kRebuild);
}

// What dlerror says, with C++ names as they are written.
std::string LoaderError() {
  const char* error = dlerror();
  const std::string text = error == nullptr ? "unknown error" : error;
  const size_t at = text.find("_Z");
  if (at == text.npos) return text;
  size_t end = at;
  while (end < text.size() && (absl::ascii_isalnum(text[end]) || text[end] == '_')) ++end;
  int code = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(text.substr(at, end - at).c_str(), nullptr, nullptr, &code), std::free);
  return name == nullptr ? text : absl::StrCat(text.substr(0, at), name.get(), text.substr(end));
}

// While it lives, a crash is told with the plugin's name before the program ends by it.
class CrashNote {
 public:
  explicit CrashNote(const std::string& path)
      : text_(absl::StrCat("error: ", path, ": the plugin crashed while it was loaded\n")) {
    shown = &text_;
    struct sigaction action = {};
    action.sa_handler = Show;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // and then it ends as it would have
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~CrashNote() {
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
    shown = nullptr;
  }
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;

 private:
  static constexpr int kSignals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};

  static void Show(int /*signal*/) {
    [[maybe_unused]] const ssize_t size = write(STDERR_FILENO, shown->data(), shown->size());
  }

  inline static const std::string* shown = nullptr;
  const std::string text_;
  struct sigaction before_[std::size(kSignals)] = {};
};

// Calls the plugin's LZ_PLUGIN; it may be anybody's code.
absl::Status CallRegister(const std::string& path, RegisterFunction register_envs,
                          PluginEnvs* envs) {
  const auto thrown = WhatItThrows([&] { register_envs(*envs); });
  if (!thrown.has_value()) return absl::OkStatus();
  return PluginError(path, "LZ_PLUGIN threw ", *thrown, "; allowed: no exception");
}

absl::Status CheckEntry(const std::string& path, const EnvRegistry::Entry& entry) {
  const bool is_name =
      !entry.id.empty() && absl::ascii_islower(entry.id[0]) &&
      std::all_of(entry.id.begin(), entry.id.end(), [](char letter) {
        return absl::ascii_islower(letter) || absl::ascii_isdigit(letter) || letter == '_';
      });
  if (!is_name) {
    return PluginError(
        path, "registers an environment as ", QuotedForMessage(entry.id),
        "; allowed: a name of small letters, digits and '_' that begins with a letter");
  }
  if (entry.factory == nullptr) {
    return PluginError(path, "environment '", entry.id, "' has no factory");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<EnvRegistry::Entry>> LoadPlugin(const std::string& path) {
  LZ_RETURN_IF_ERROR(CheckIsFile(path));
  LZ_ASSIGN_OR_RETURN(const PluginStamp stamp, ReadStamp(path));
  LZ_RETURN_IF_ERROR(CheckStamp(path, stamp));
  PluginEnvs envs;
  RegisterFunction register_envs = nullptr;
  {
    const CrashNote note(path);
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat("cannot load the plugin ", LoaderError()));
    }
    register_envs = reinterpret_cast<RegisterFunction>(dlsym(library, kRegisterSymbol));
    if (register_envs == nullptr) {
      return PluginError(path, "holds no ", kRegisterSymbol,
                         "; allowed: LZ_PLUGIN (lzero/env/plugin.h)");
    }
    LZ_RETURN_IF_ERROR(CallRegister(path, register_envs, &envs));
  }
  std::vector<EnvRegistry::Entry> entries = envs.Take();
  if (entries.empty()) return PluginError(path, "registers no environment");
  std::vector<std::string> names;
  for (const EnvRegistry::Entry& entry : entries) {
    LZ_RETURN_IF_ERROR(CheckEntry(path, entry));
    names.push_back(kPluginPrefix + entry.id);
  }
  TellCrashesOf(reinterpret_cast<const void*>(register_envs),
                absl::StrCat(absl::StrJoin(names, ", "), " (", path, ")"));
  return entries;
}

}  // namespace

absl::Status LoadPlugins(absl::Span<const std::string> paths, EnvRegistry* registry) {
  std::vector<EnvRegistry::Entry> all;
  std::map<std::string, std::string> owners;  // id -> path
  for (const EnvRegistry::Entry* entry : registry->entries()) owners[entry->id] = "loaded before";
  std::set<std::string> seen;
  for (const std::string& path : AbsolutePluginPaths(paths)) {
    if (!seen.insert(path).second) return PluginError(path, "the plugin is named twice");
    LZ_ASSIGN_OR_RETURN(std::vector<EnvRegistry::Entry> entries, LoadPlugin(path));
    for (EnvRegistry::Entry& entry : entries) {
      entry.id = kPluginPrefix + entry.id;
      const auto [owner, is_unique] = owners.emplace(entry.id, path);
      if (!is_unique) {
        return PluginError(path, "environment '", entry.id,
                           "' is registered twice; the other: ", owner->second);
      }
      all.push_back(std::move(entry));
    }
  }
  for (EnvRegistry::Entry& entry : all) registry->Register(std::move(entry));
  return absl::OkStatus();
}

std::vector<std::string> AbsolutePluginPaths(absl::Span<const std::string> paths) {
  std::vector<std::string> absolute;
  for (const std::string& path : paths) {
    std::error_code code;
    const fs::path whole = fs::absolute(path, code);
    absolute.push_back(code ? path : whole.lexically_normal().string());
  }
  return absolute;
}

}  // namespace lzero
