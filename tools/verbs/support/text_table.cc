#include "tools/verbs/support/text_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"

namespace lzero {
namespace {

// Columns of the terminal: bytes that continue a character of UTF-8 take none.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

void TextTable::Add(std::vector<std::string> row) {
  LZ_CHECK(!row.empty() && row.size() <= rows_[0].size(), "got ", row.size(), " cells");
  for (std::string& cell : row) {
    std::replace_if(
        cell.begin(), cell.end(),
        [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); }, '?');
  }
  rows_.push_back(std::move(row));
}

std::string TextTable::Text() const {
  std::vector<size_t> widths(rows_[0].size(), 0);
  for (const auto& row : rows_) {
    const size_t num_measured = row.size() < widths.size() ? row.size() - 1 : row.size();
    for (size_t i = 0; i < num_measured; ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const size_t width = WidthOf(row[i]);
      const std::string padding(std::max(widths[i], width) - width, ' ');
      const bool is_short = i + 1 == row.size() && row.size() < widths.size();
      const bool is_right = alignment_[i] == 'r' && !is_short;
      absl::StrAppend(&line, i > 0 ? "  " : "", is_right ? padding : "", row[i],
                      is_right ? "" : padding);
    }
    absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  return text;
}

}  // namespace lzero
