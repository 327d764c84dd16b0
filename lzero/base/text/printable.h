// Text from outside (an argument, a file name, another program's message) as it may be shown on a
// terminal or typed into it. Pure functions; any thread.
#ifndef LZERO_BASE_TEXT_PRINTABLE_H_
#define LZERO_BASE_TEXT_PRINTABLE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace lzero {

// Bytes of the UTF-8 character that `text` begins with (1 to 4), 0 when it is not valid.
int Utf8Length(absl::string_view text);

// True when the bytes are valid UTF-8 without control characters.
bool IsPrintableUtf8(absl::string_view text);

// Control characters but those of `kept`, and bytes that are not UTF-8, as \x1b: a text from
// outside that cannot change a terminal.
std::string EscapedForMessage(absl::string_view text, absl::string_view kept = "\n\t");

// `message` escaped so. A word of more than 300 bytes loses its middle, so that nobody's argument
// fills the screen.
std::string PrintableMessage(absl::string_view message);

// `word` as bash reads it back: plain where that is safe, else in single quotes; escaped where it
// could change a terminal.
std::string ShellQuoted(absl::string_view word);

}  // namespace lzero

#endif  // LZERO_BASE_TEXT_PRINTABLE_H_
