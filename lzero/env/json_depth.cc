#include "lzero/env/json_depth.h"

#include <cstddef>

namespace lzero {

bool IsDeeperThan(absl::string_view json, int max_depth) {
  int depth = 0;
  bool is_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (is_text) {
      if (c == '\\') ++i;  // what it escapes ends no text
      if (c == '"') is_text = false;
    } else if (c == '"') {
      is_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > max_depth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace lzero
