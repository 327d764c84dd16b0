// `lzero doctor`: what this machine and this build can do, one fact a line, and what to do about
// what is missing.
#ifndef LZERO_TOOLS_VERBS_DOCTOR_VERB_H_
#define LZERO_TOOLS_VERBS_DOCTOR_VERB_H_

namespace lzero {

// Prints "ok", "note" or "FAIL" lines; 1 when something that training needs does not work.
int Doctor();

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_DOCTOR_VERB_H_
