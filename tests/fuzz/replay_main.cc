// Runs a fuzz target over the files of a folder, where libFuzzer is not built in. Linked with one
// x_fuzz.cc; `x_fuzz FOLDER` prints how many inputs passed, and a failing target stops it.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "lzero/base/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

int main(int num_arguments, char** arguments) {
  if (num_arguments != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 2;
  }
  const std::string folder = arguments[1];
  const auto names = lzero::ListDirectory(folder);
  if (!names.ok() || names->empty()) {
    std::fprintf(stderr, "no inputs in %s\n", folder.c_str());
    return 1;
  }
  for (const std::string& name : *names) {
    const auto content = lzero::ReadFile(lzero::JoinPath(folder, name));
    if (!content.ok()) {
      std::fprintf(stderr, "%s\n", content.status().ToString().c_str());
      return 1;
    }
    std::fprintf(stderr, "%s\n", name.c_str());  // the last one named is the one that stopped it
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(content->data()), content->size());
  }
  std::printf("%zu inputs passed\n", names->size());
  return 0;
}
