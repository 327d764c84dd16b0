// Text from outside (an argument, a file name, another program's message) as it may be shown on a
// terminal. Pure function; any thread.
#ifndef LZERO_BASE_TEXT_PRINTABLE_H_
#define LZERO_BASE_TEXT_PRINTABLE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace lzero {

// `message` with control characters written as \x1b; ends of lines and tabs stay. A word of more
// than 300 bytes loses its middle, so that nobody's argument fills the screen.
std::string PrintableMessage(absl::string_view message);

}  // namespace lzero

#endif  // LZERO_BASE_TEXT_PRINTABLE_H_
