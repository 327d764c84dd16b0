#include "lzero/base/text/natural_order.h"

#include "absl/strings/ascii.h"
#include "absl/strings/charconv.h"

namespace lzero {
namespace {

bool StartsWithDigit(absl::string_view text) {
  return !text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text[0]));
}

double TakeNumber(absl::string_view* text) {
  double value = 0.0;  // what is too large becomes infinite
  const auto rest = absl::from_chars(text->data(), text->data() + text->size(), value).ptr;
  text->remove_prefix(static_cast<size_t>(rest - text->data()));
  return value;
}

}  // namespace

bool NaturalLess(absl::string_view a, absl::string_view b) {
  absl::string_view rest_a = a, rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    if (StartsWithDigit(rest_a) && StartsWithDigit(rest_b)) {
      const double number_a = TakeNumber(&rest_a), number_b = TakeNumber(&rest_b);
      if (number_a != number_b) return number_a < number_b;
      continue;
    }
    if (rest_a[0] != rest_b[0]) return rest_a[0] < rest_b[0];
    rest_a.remove_prefix(1), rest_b.remove_prefix(1);
  }
  if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
  return a < b;
}

}  // namespace lzero
