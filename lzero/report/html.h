// Pieces of HTML. What comes from files goes through EscapeHtml or ScriptJson, or it could change
// the page. Pure functions.
#ifndef LZERO_REPORT_HTML_H_
#define LZERO_REPORT_HTML_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace lzero {

// `text` for the body or a quoted attribute of HTML or SVG: no markup, no control characters, and
// valid UTF-8, all else replaced.
std::string EscapeHtml(absl::string_view text);

// JSON text for the inside of a script element, which ends at the first "</".
std::string ScriptJson(absl::string_view json);

// A table; cells are HTML already. Columns of numbers, those with 'r' in `alignment`, are on the
// right.
std::string HtmlTable(absl::string_view alignment, absl::Span<const std::string> header,
                      absl::Span<const std::vector<std::string>> rows);

}  // namespace lzero

#endif  // LZERO_REPORT_HTML_H_
