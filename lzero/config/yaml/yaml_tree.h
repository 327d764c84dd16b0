// Reads YAML text into a tree of maps and scalar texts with positions, and refuses what invites
// mistakes: duplicate keys, merges, anchors, tags, several documents, tabs as indentation. yaml-cpp
// does the work behind this header. Knows nothing of the fields. Stateless, thread-safe.
#ifndef LZERO_CONFIG_YAML_YAML_TREE_H_
#define LZERO_CONFIG_YAML_YAML_TREE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lzero/config/schema.h"

namespace lzero {

// Line and column count from 1; columns count bytes.
struct TextPosition {
  int line = 1;
  int column = 1;
};

struct YamlEntry;

struct YamlNode {
  enum class Kind { kScalar, kSequence, kMap };
  Kind kind = Kind::kScalar;
  TextPosition position;
  bool refused = false;            // a problem names it already; its content means nothing
  ScalarText scalar;               // of kScalar
  std::vector<YamlEntry> entries;  // of kMap, in the order of the text; no key twice
  std::vector<YamlNode> items;     // of kSequence
};

struct YamlEntry {
  std::string key;
  TextPosition position;  // of the key
  YamlNode value;
};

// The entry of `map` with this key; null when there is none.
const YamlEntry* FindEntry(const YamlNode& map, absl::string_view key);

// What stands where something else should: a map, a list, nothing, or the text.
std::string ShownText(const YamlNode& node);

struct YamlProblem {
  TextPosition position;
  std::string message;  // "train.batch_size: duplicate key; ..."
};

struct YamlTree {
  YamlNode root;  // a map; holds what could be read
  std::vector<YamlProblem> problems;
  bool readable = true;  // false: the text is not YAML or not a map, root is empty
};

// Largest text that is read.
inline constexpr size_t kMaxConfigBytes = 1 << 20;

// Never fails as a whole: what is wrong is listed in `problems`.
YamlTree ReadYamlTree(absl::string_view text);

}  // namespace lzero

#endif  // LZERO_CONFIG_YAML_YAML_TREE_H_
