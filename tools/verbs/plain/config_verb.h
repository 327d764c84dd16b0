// The verbs `lzero config show|explain|validate|diff` as plain functions. Results go to stdout,
// errors to stderr; each returns the exit code: 0 ok, 2 config error. Parsing of the command line
// is the main program's. One thread.
#ifndef LZERO_TOOLS_VERBS_PLAIN_CONFIG_VERB_H_
#define LZERO_TOOLS_VERBS_PLAIN_CONFIG_VERB_H_

#include <string>

#include "absl/types/span.h"
#include "lzero/config/assemble.h"

namespace lzero {

// Prints the resolved YAML of `path` with `overrides` ("key.path=value").
int ConfigShow(const std::string& path, absl::Span<const std::string> overrides);

// Prints what a key, a section, or (for "") every key means.
int ConfigExplain(const std::string& key);

// Prints "path: ok" for each good config; the problems of the others go to stderr. `rule`: what a
// config must keep to beyond itself (environment, memory).
int ConfigValidate(absl::Span<const std::string> paths, const ConfigRule& rule);

// Prints the keys whose resolved values differ: "key: a -> b"; equal configs print nothing.
int ConfigDiff(const std::string& a, const std::string& b);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_PLAIN_CONFIG_VERB_H_
