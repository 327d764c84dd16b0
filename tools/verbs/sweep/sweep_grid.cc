#include "tools/verbs/sweep/sweep_grid.h"

#include <cstddef>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"

namespace lzero {
namespace {

constexpr size_t kMostNameBytes = 200;  // file systems allow 255

// Without the quotes around all of it.
std::string Unquoted(const std::string& value) {
  const bool is_quoted = value.size() >= 2 && (value[0] == '"' || value[0] == '\'') &&
                         value.find(value[0], 1) == value.size() - 1;
  return is_quoted ? value.substr(1, value.size() - 2) : value;
}

std::vector<std::string> SplitValues(absl::string_view text) {
  std::vector<std::string> values(1);
  int depth = 0;   // of brackets
  char quote = 0;  // 0: outside of quotes
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if ((c == '"' || c == '\'') && (depth > 0 || values.back().empty())) {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      values.emplace_back();
      continue;
    }
    values.back() += c;
  }
  return values;
}

absl::StatusOr<SweepAxis> MakeAxis(const std::string& key, const std::vector<std::string>& values) {
  SweepAxis axis = {key, {}};
  std::set<std::string> seen;
  for (const std::string& value : values) {
    const std::string text = Unquoted(value);
    if (value.empty() || !seen.insert(text).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "command line: ", key, ": ", value.empty() ? "an empty value" : "the same value twice",
          "; got ", QuotedForMessage(absl::StrJoin(values, ",")), "; allowed: ", key,
          "=A,B with values that differ, or one value in brackets or quotes"));
    }
    axis.values.push_back(text);
  }
  return axis;
}

}  // namespace

absl::StatusOr<SweepGrid> ParseSweepGrid(absl::Span<const std::string> words) {
  SweepGrid grid;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    if (equals == word.npos) {
      grid.fixed.push_back(word);
      continue;
    }
    if (key == "seed") {
      return absl::InvalidArgumentError(
          absl::StrCat("command line: ", QuotedForMessage(word),
                       ": the seeds of a sweep are given with --seeds, e.g. --seeds 0..4"));
    }
    const std::vector<std::string> values = SplitValues(word.substr(equals + 1));
    if (values.size() == 1) {
      grid.fixed.push_back(absl::StrCat(key, "=", Unquoted(values[0])));
      continue;
    }
    LZ_ASSIGN_OR_RETURN(SweepAxis axis, MakeAxis(key, values));
    grid.axes.push_back(std::move(axis));
  }
  return grid;
}

std::vector<SweepCell> SweepCells(absl::Span<const SweepAxis> axes) {
  std::vector<SweepCell> cells(1);
  for (const SweepAxis& axis : axes) {
    std::vector<SweepCell> longer;
    for (const SweepCell& cell : cells) {
      for (const std::string& value : axis.values) {
        longer.push_back(cell);
        longer.back().overrides.push_back(absl::StrCat(axis.key, "=", value));
      }
    }
    cells = std::move(longer);
  }
  // Names: what is cut off or replaced in one must not make it the name of another.
  std::set<std::string> taken;
  for (SweepCell& cell : cells) {
    const std::string base =
        cell.overrides.empty() ? "runs" : SafeFileName(absl::StrJoin(cell.overrides, ","));
    cell.name = base;
    for (int number = 2; !taken.insert(cell.name).second; ++number) {
      cell.name = absl::StrCat(base, "-", number);
    }
  }
  return cells;
}

std::string SafeFileName(absl::string_view text) {
  std::string name(text.substr(0, kMostNameBytes));
  for (char& c : name) {
    const bool is_safe = absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                         absl::string_view("._-=,").find(c) != absl::string_view::npos;
    if (!is_safe) c = '-';
  }
  if (name.empty() || name[0] == '.') name.insert(0, "-");
  return name;
}

}  // namespace lzero
