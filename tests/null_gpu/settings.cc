#include "tests/null_gpu/settings.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

namespace lzero::null_gpu {
namespace {

// True where `key` is known and `value` is one of its values.
bool Set(const std::string& key, const std::string& value, Settings* settings) {
  if (key == "level") {
    if (value == "control") settings->level = Level::kControl;
    if (value == "numbers") settings->level = Level::kNumbers;
    if (value == "late") settings->level = Level::kLate;
    return value == "control" || value == "numbers" || value == "late";
  }
  char* end = nullptr;
  const uint64_t number = std::strtoull(value.c_str(), &end, 10);
  if (value.empty() || *end != '\0') return false;
  if (key == "seed")
    settings->seed = number;
  else if (key == "fail_capture")
    settings->fail_capture = static_cast<int>(number);
  else if (key == "memory_mib")
    settings->memory_mib = number;
  else if (key == "taken_mib")
    settings->taken_mib = number;
  else if (key == "devices")
    settings->devices = static_cast<int>(number);
  else if (key == "nothing_left")
    settings->nothing_left = number != 0;
  else if (key == "strict_capture")
    settings->strict_capture = number != 0;
  else if (key == "print_counts")
    settings->print_counts = number != 0;
  else if (key == "print_nodes")
    settings->print_nodes = number != 0;
  else
    return false;
  return true;
}

Settings Read() {
  Settings settings;
  const char* text = std::getenv("LZERO_NULL_GPU");
  std::istringstream pairs(text != nullptr ? text : "");
  for (std::string pair; std::getline(pairs, pair, ',');) {
    const size_t equals = pair.find('=');
    if (equals != std::string::npos &&
        Set(pair.substr(0, equals), pair.substr(equals + 1), &settings)) {
      continue;
    }
    std::fprintf(stderr, "LZERO_NULL_GPU: got '%s', see tests/null_gpu/README.md\n", pair.c_str());
    std::_Exit(2);
  }
  return settings;
}

}  // namespace

const Settings& GetSettings() {
  static const Settings settings = Read();
  return settings;
}

}  // namespace lzero::null_gpu
