#include "lzero/report/html.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

// What is no UTF-8 becomes U+FFFD.
std::string ValidUtf8(absl::string_view text) {
  using Json = nlohmann::json;
  const std::string quoted =
      Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

}  // namespace

std::string EscapeHtml(absl::string_view text) {
  std::string clean = ValidUtf8(text);
  for (char& c : clean) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c)) && c != '\n') c = '?';
  }
  return absl::StrReplaceAll(
      clean, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string ScriptJson(absl::string_view json) {
  return absl::StrReplaceAll(json, {{"<", "\\u003c"}});
}

std::string HtmlTable(absl::string_view alignment, absl::Span<const std::string> header,
                      absl::Span<const std::vector<std::string>> rows) {
  const auto cells = [&](const char* tag, absl::Span<const std::string> row) {
    std::string text = "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&text, "<", tag, alignment[i] == 'r' ? " class=\"r\">" : ">", row[i], "</",
                      tag, ">");
    }
    return text + "</tr>\n";
  };
  std::string table = absl::StrCat("<div class=\"scroll\"><table><thead>\n", cells("th", header),
                                   "</thead><tbody>\n");
  for (const auto& row : rows) table += cells("td", row);
  return table + "</tbody></table></div>\n";
}

}  // namespace lzero
