#include "lzero/config/yaml/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <map>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lzero/config/scalar_text.h"

namespace lzero {
namespace {

TextPosition FromMark(const YAML::Mark& mark) {
  return {std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
}

const char* KindName(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kMap) return "a map";
  if (node.kind == YamlNode::Kind::kSequence) return "a list";
  return node.scalar.is_null ? "null" : "a single value";
}

// Builds the tree from the parser's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(absl::string_view text, YamlNode* root, std::vector<YamlProblem>* problems)
      : lines_(absl::StrSplit(text, '\n')), root_(root), problems_(problems) {}

  int num_documents() const { return num_documents_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++num_documents_ == 2) {
      Report(FromMark(mark), "a second document begins here; allowed: one document a file");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    YamlNode node = NewNode(mark, YamlNode::Kind::kScalar);
    node.scalar.is_null = true;
    Add(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Report(FromMark(mark),
           "aliases (*name) are not supported; write the value again, or use extends");
    YamlNode node = NewNode(mark, YamlNode::Kind::kScalar);
    node.refused = true;
    Add(std::move(node));
  }

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    Report(FromMark(mark), "anchors (&", QuotedForMessage(name),
           ") are not supported; write the value again, or use extends");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    YamlNode node = NewNode(mark, YamlNode::Kind::kScalar);
    node.scalar.text = value;
    node.scalar.quoted = tag == "!";
    node.refused = node.scalar.quoted ? RefuseUnclosed(mark) : RefuseTag(mark, tag);
    Add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, YamlNode::Kind::kSequence);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

 private:
  // A map or sequence whose end has not come yet.
  struct OpenNode {
    YamlNode node;
    std::string path;                          // key path of its entries, with the dot
    std::map<std::string, TextPosition> keys;  // of a map
    bool has_key = false;                      // a key waits for its value
    bool keep_value = true;                    // false: the waiting key was refused
    std::string key;
    TextPosition key_position;
  };

  static YamlNode NewNode(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode node;
    node.kind = kind;
    node.position = FromMark(mark);
    return node;
  }

  template <typename... Parts>
  void Report(TextPosition position, const Parts&... message) {
    problems_->push_back({position, absl::StrCat(message...)});
  }

  bool RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return false;
    Report(FromMark(mark), "tags are not supported; got ", QuotedForMessage(tag),
           "; allowed: the plain value");
    return true;
  }

  // yaml-cpp takes a quote that is never closed as closed by the end of the file, so quotes are
  // looked at in the source: they must close on their line.
  bool RefuseUnclosed(const YAML::Mark& mark) {
    const TextPosition at = FromMark(mark);
    absl::string_view rest;
    if (static_cast<size_t>(at.line) <= lines_.size()) {
      const absl::string_view line = lines_[static_cast<size_t>(at.line) - 1];
      rest = line.substr(std::min(line.size(), static_cast<size_t>(at.column) - 1));
    }
    const char quote = rest.empty() ? '\0' : rest[0];
    if (quote == '\'' || quote == '"') {
      for (size_t i = 1; i < rest.size(); ++i) {
        const bool doubled = quote == '\'' && absl::StartsWith(rest.substr(i), "''");
        if (doubled || (quote == '"' && rest[i] == '\\')) {
          ++i;  // an escaped character
        } else if (rest[i] == quote) {
          return false;
        }
      }
      Report(FromMark(mark), "a quoted text must end on its line");
      return true;
    }
    if (quote == '|' || quote == '>') {
      Report(FromMark(mark),
             "block texts (| and >) are not supported; allowed: the text on one line");
      return true;
    }
    return quote == '!' && RefuseTag(mark, "!str");
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YamlNode::Kind kind) {
    OpenNode opened;
    opened.node = NewNode(mark, kind);
    opened.node.refused = RefuseTag(mark, tag);
    if (!open_.empty()) {
      const OpenNode& parent = open_.back();
      opened.path = parent.has_key ? absl::StrCat(parent.path, parent.key, ".") : parent.path;
    }
    open_.push_back(std::move(opened));
  }

  void Close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    Add(std::move(node));
  }

  // A complete node: the root, an item of a sequence, a key, or a value.
  void Add(YamlNode node) {
    if (num_documents_ > 1) return;
    if (open_.empty()) {
      *root_ = std::move(node);
      return;
    }
    OpenNode& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::kSequence) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    if (!parent.has_key) {
      TakeKey(parent, node);
      return;
    }
    // The parser marks a missing value where the next key begins.
    if (node.scalar.is_null && node.position.line != parent.key_position.line) {
      node.position = parent.key_position;
    }
    if (parent.keep_value) {
      parent.node.entries.push_back({parent.key, parent.key_position, std::move(node)});
    }
    parent.has_key = false;
  }

  void TakeKey(OpenNode& map, const YamlNode& node) {
    map.has_key = true;
    map.keep_value = false;
    map.key = node.scalar.text;
    map.key_position = node.position;
    const bool is_name = node.kind == YamlNode::Kind::kScalar && !node.scalar.is_null;
    if (!is_name) map.key = std::string(KindName(node));
    if (node.refused) return;
    const std::string shown = absl::StrCat(map.path, map.key.substr(0, 100));
    if (!is_name || map.key.empty()) {
      Report(node.position, map.path, "a key must be a name; got ",
             is_name ? "''" : KindName(node));
    } else if (!IsPrintableUtf8(map.key) || map.key.size() > 100) {
      Report(node.position, "unknown key; got ", QuotedForMessage(map.key));
      map.key = "?";
    } else if (map.key == "<<") {
      Report(node.position, shown, ": merge keys are not supported; use extends");
    } else if (const auto [first, added] = map.keys.emplace(map.key, node.position); !added) {
      Report(node.position, shown, ": duplicate key; first set at line ", first->second.line,
             ", column ", first->second.column);
    } else {
      map.keep_value = true;
    }
  }

  const std::vector<absl::string_view> lines_;
  YamlNode* const root_;
  std::vector<YamlProblem>* const problems_;
  std::vector<OpenNode> open_;
  int num_documents_ = 0;
};

// Finds bytes that no config has; false when the text must not reach the parser.
bool CheckBytes(absl::string_view text, std::vector<YamlProblem>* problems) {
  const size_t before = problems->size();
  TextPosition at;
  bool indentation = true;
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool line_end = byte == '\n' || absl::StartsWith(text.substr(i), "\r\n");
    const int length = Utf8Length(text.substr(i));
    if (length == 0 || (absl::ascii_iscntrl(byte) && byte != '\t' && !line_end)) {
      problems->push_back(
          {at, absl::StrCat("not a text file; got byte 0x", absl::Hex(byte, absl::kZeroPad2),
                            "; allowed: UTF-8 without control characters")});
      return false;
    }
    if (indentation && byte == '\t') {
      problems->push_back({at, "a tab in the indentation; allowed: spaces"});
      indentation = false;
    }
    indentation = byte == '\n' || (indentation && byte == ' ');
    at.column = byte == '\n' ? 1 : at.column + length;
    if (byte == '\n') ++at.line;
    i += static_cast<size_t>(length);
  }
  return problems->size() == before;
}

// All documents through `builder`; a syntax error becomes a problem and false.
bool Parse(absl::string_view text, TreeBuilder& builder, std::vector<YamlProblem>* problems) {
  // yaml-cpp reports errors by exceptions; they end here.
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (builder.num_documents() < 2 && parser.HandleNextDocument(builder)) {
    }
    return true;
  } catch (const YAML::Exception& error) {
    problems->push_back({FromMark(error.mark), absl::StrCat("not valid YAML: ", error.msg)});
  } catch (const std::exception& error) {
    problems->push_back({{}, absl::StrCat("not valid YAML: ", error.what())});
  }
  return false;
}

}  // namespace

const YamlEntry* FindEntry(const YamlNode& map, absl::string_view key) {
  for (const YamlEntry& entry : map.entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

std::string ShownText(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kMap) return "a map";
  if (node.kind == YamlNode::Kind::kSequence) return "a list";
  return node.scalar.is_null ? "nothing" : QuotedForMessage(node.scalar.text);
}

YamlTree ReadYamlTree(absl::string_view text) {
  YamlTree tree;
  tree.root.kind = YamlNode::Kind::kMap;
  tree.readable = false;
  // Refuse what is no text of a config.
  if (text.size() > kMaxConfigBytes) {
    tree.problems.push_back({{},
                             absl::StrCat("too large for a config; got ", text.size(),
                                          " bytes; allowed: ", kMaxConfigBytes)});
    return tree;
  }
  if (absl::StartsWith(text, "\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
  if (!CheckBytes(text, &tree.problems)) return tree;
  // Build the tree; its root must be a map.
  YamlNode root;
  root.scalar.is_null = true;
  TreeBuilder builder(text, &root, &tree.problems);
  if (!Parse(text, builder, &tree.problems)) return tree;
  if (root.kind == YamlNode::Kind::kMap) {
    tree.root = std::move(root);
    tree.readable = true;
  } else if (root.scalar.is_null) {
    tree.problems.push_back({{}, "empty; allowed: sections and keys"});
  } else if (!root.refused) {
    tree.problems.push_back(
        {root.position, absl::StrCat("not a map of sections and keys; got ", KindName(root))});
  }
  return tree;
}

}  // namespace lzero
