// The verbs `lzero config show|explain|validate|diff`, `metrics` and `search replay` as plain
// functions. Results go to stdout, errors to stderr; each returns the exit code: 0 ok, 2 a config
// error or an unknown name. Parsing of the command line is the main program's. One thread.
#ifndef LZERO_TOOLS_VERBS_PLAIN_PLAIN_VERBS_H_
#define LZERO_TOOLS_VERBS_PLAIN_PLAIN_VERBS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "lzero/config/assemble.h"

namespace lzero {

// Prints every setting of `path` with `overrides` ("key.path=value"), as YAML or one JSON object.
int ConfigShow(const std::string& path, absl::Span<const std::string> overrides, bool json);

// Prints what each of `words` means (see ExplainKey), or, without any, every key.
int ConfigExplain(absl::Span<const std::string> words);

// Prints "path: ok" for each good config; the problems of the others go to stderr. `rule`: what a
// config must keep to beyond itself (environment, memory).
int ConfigValidate(absl::Span<const std::string> paths, const ConfigRule& rule);

// Prints the keys whose resolved values differ: "key: a -> b"; equal configs print nothing.
int ConfigDiff(const std::string& a, const std::string& b);

// `lzero metrics`: prints the explanation of a metric, a group of them or, for "", of all. 2 for an
// unknown name.
int Metrics(const std::string& name);

// `lzero search replay FILE...`: prints one line a file, "ok  FILE  nodes N", or the differences as
// node, expected, got. Returns 0 when every search was reproduced, 1 when one differs, 2 when a
// file cannot be read or its search cannot be run, or when there is no file.
int SearchReplay(const std::vector<std::string>& files);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_PLAIN_PLAIN_VERBS_H_
