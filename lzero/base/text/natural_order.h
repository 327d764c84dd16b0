// The order in which a person looks for names: numbers in them count as numbers, so that "a=4"
// comes before "a=16", and "0.003" before "0.01". Pure function; any thread.
#ifndef LZERO_BASE_TEXT_NATURAL_ORDER_H_
#define LZERO_BASE_TEXT_NATURAL_ORDER_H_

#include "absl/strings/string_view.h"

namespace lzero {

// Whether `a` comes before `b`. A number begins with a digit and may have a fraction and an
// exponent. Names that differ only in how numbers are written are ordered as text.
bool NaturalLess(absl::string_view a, absl::string_view b);

}  // namespace lzero

#endif  // LZERO_BASE_TEXT_NATURAL_ORDER_H_
