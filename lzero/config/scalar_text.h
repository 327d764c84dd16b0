// Strict reading and exact printing of numbers, truth values and names. YAML's own reading is not
// used: there 010 is eight, off is false and 1_000 is a string. Stateless, thread-safe.
#ifndef LZERO_CONFIG_SCALAR_TEXT_H_
#define LZERO_CONFIG_SCALAR_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/base/text/printable.h"

namespace lzero {

// Decimal digits with an optional sign, no leading zeros. The message of an error is a clause:
// "not an integer", with "; did you mean '8'?" where the meaning is plain.
absl::StatusOr<int64_t> ParseInt(absl::string_view text);

// 5, 0.997, 1e-3, .5; finite; no leading zeros, no hexadecimal. Errors as ParseInt.
absl::StatusOr<double> ParseFloat(absl::string_view text);

// true or false. Errors as ParseInt.
absl::StatusOr<bool> ParseBool(absl::string_view text);

// The shortest decimal text that reads back to the same number.
std::string FloatText(double value);

// In single quotes, control characters escaped, cut to 60 bytes: for "got ..." in messages.
std::string QuotedForMessage(absl::string_view text);

// As a YAML scalar that reads back to the same text: plain where that is safe, else in double
// quotes.
std::string YamlText(absl::string_view text);

}  // namespace lzero

#endif  // LZERO_CONFIG_SCALAR_TEXT_H_
