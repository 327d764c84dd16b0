// Fuzz target of the config parser: any bytes load or give a clear error; what loads is written
// back to identical text. A first line that begins with '!' is an override. Not a gtest.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lzero/base/check.h"
#include "lzero/config/dump.h"
#include "lzero/config/load.h"

// Entry of libFuzzer and of the corpus replay; stops the program on a wrong result.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  absl::string_view text(reinterpret_cast<const char*>(bytes), size);
  std::vector<std::string> overrides;
  if (!text.empty() && text.front() == '!') {
    const size_t end = text.find('\n');
    overrides.emplace_back(text.substr(1, end == text.npos ? end : end - 1));
    text = end == text.npos ? "" : text.substr(end + 1);
  }
  const auto loaded = lzero::LoadConfigText(text, "fuzz", overrides);
  if (!loaded.ok()) {
    LZ_CHECK(!loaded.status().message().empty(), "an error without a message");
    return 0;
  }
  const std::string yaml = lzero::ResolvedYaml(loaded->config);
  const auto again = lzero::ParseResolvedConfig(yaml);
  LZ_CHECK(again.ok(), again.status().ToString(), "\n", yaml);
  LZ_CHECK(lzero::ResolvedYaml(*again) == yaml, "dump differs:\n", yaml);
  return 0;
}
