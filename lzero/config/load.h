// From YAML files and overrides to an ExperimentConfig. Everything that is wrong is reported at
// once, a line each: "file:line:column: key: what; got X; allowed: Y; did you mean 'Z'?". Reads
// files, keeps nothing. Thread-safe.
#ifndef LZERO_CONFIG_LOAD_H_
#define LZERO_CONFIG_LOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/config/assemble.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

// Reads `path` over the files it extends over the defaults, then the overrides ("key.path=value").
// InvalidArgument with all problems, a line each. `extra_rule` (may be null) checks what this floor
// cannot know; its errors are reported like those of the rules between fields.
absl::StatusOr<LoadedConfig> LoadConfig(const std::string& path,
                                        absl::Span<const std::string> overrides,
                                        const ConfigRule& extra_rule = nullptr);

// The same from text; `name` stands for the file in messages. The text may not extend a file.
absl::StatusOr<LoadedConfig> LoadConfigText(absl::string_view text, const std::string& name,
                                            absl::Span<const std::string> overrides,
                                            const ConfigRule& extra_rule = nullptr);

// Reads what ResolvedYaml wrote (run folders, checkpoints). Keys that are missing keep their
// defaults, so that older runs stay readable.
absl::StatusOr<ExperimentConfig> ParseResolvedConfig(absl::string_view text,
                                                     const std::string& name = "resolved config");

}  // namespace lzero

#endif  // LZERO_CONFIG_LOAD_H_
