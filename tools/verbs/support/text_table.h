// A table for the terminal: columns as wide as their widest cell. One thread.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_TEXT_TABLE_H_
#define LZERO_TOOLS_VERBS_SUPPORT_TEXT_TABLE_H_

#include <string>
#include <utility>
#include <vector>

namespace lzero {

class TextTable {
 public:
  // `alignment` has a letter a column: 'l' on the left, 'r' on the right.
  TextTable(std::string alignment, std::vector<std::string> header)
      : alignment_(std::move(alignment)), rows_{std::move(header)} {}

  // A cell a column. In a row of fewer cells, one at least, the last one is on the left and may be
  // wider than its column. Control characters are shown as '?'.
  void Add(std::vector<std::string> row);
  // The header and the rows, a line each.
  std::string Text() const;

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_TEXT_TABLE_H_
