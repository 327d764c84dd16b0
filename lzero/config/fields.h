// How a config field is declared: once, in the Visit method of its section, through this interface.
// Parsing, range checks, `config explain`, the resolved dump and overrides are visitors (schema.h).
// Not a parser. Visitors belong to one thread.
#ifndef LZERO_CONFIG_FIELDS_H_
#define LZERO_CONFIG_FIELDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lzero {

// What a field is, apart from its type, default and range.
struct FieldInfo {
  const char* name;         // key inside its section
  const char* help;         // one sentence
  const char* unit = "";    // "tokens", "env steps", "updates"; empty for pure numbers
  const char* source = "";  // paper or reference the default comes from
};

// Bounds of a number; an open bound excludes its value.
struct Range {
  double low;
  double high;
  bool low_open = false;
  bool high_open = false;
};

// Where defaults come from.
inline constexpr char kFamilies[] = "UniZero (arXiv 2406.10667), AlphaZero (Silver et al. 2018)";
inline constexpr char kUniZero[] = "UniZero (arXiv 2406.10667)";
inline constexpr char kMuZero[] = "MuZero (Schrittwieser et al. 2020)";
inline constexpr char kMuZeroB[] = "MuZero (Schrittwieser et al. 2020), appendix B";
inline constexpr char kGumbel[] = "Gumbel MuZero (Danihelka et al. 2022)";
inline constexpr char kEpsilonGreedy[] = "temporally extended epsilon-greedy (Dabney et al. 2021)";
inline constexpr char kSampled[] = "Sampled MuZero (Hubert et al. 2021)";
inline constexpr char kStochastic[] = "Stochastic MuZero (Antonoglou et al. 2022)";
inline constexpr char kPriorities[] = "Prioritized experience replay (Schaul et al. 2016)";
inline constexpr char kLightZero[] = "LightZero, UniZero policy defaults";
inline constexpr char kCartPole[] = "LightZero, CartPole UniZero config";
inline constexpr char kPrototype[] = "prototype runs on CartPole";

inline constexpr Range kFraction = {0, 1};
inline constexpr Range kWeight = {0, 1e6};
inline constexpr Range kSteps = {0, 1e12};
inline constexpr Range kPositiveSteps = {1, 1e12};

// One call a field. `value` holds the default before a visit that parses, the setting after it.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  // Fields until EndSection belong to `name`.
  virtual void BeginSection(const char* name, const char* help) = 0;
  virtual void EndSection() = 0;

  virtual void Int(const FieldInfo& field, int64_t* value, Range range) = 0;
  virtual void Float(const FieldInfo& field, double* value, Range range) = 0;
  virtual void Bool(const FieldInfo& field, bool* value) = 0;
  virtual void Text(const FieldInfo& field, std::string* value) = 0;
  // Single values by name, each kept as the text that was written.
  virtual void TextMap(const FieldInfo& field, std::map<std::string, std::string>* value) = 0;
  virtual void TextList(const FieldInfo& field, std::vector<std::string>* value) = 0;
  // `value` is an index into `names`.
  virtual void ChoiceIndex(const FieldInfo& field, int* value,
                           const std::vector<std::string>& names) = 0;
  // null in YAML is nullopt.
  virtual void OptionalInt(const FieldInfo& field, std::optional<int64_t>* value, Range range) = 0;
  virtual void OptionalFloat(const FieldInfo& field, std::optional<double>* value, Range range) = 0;

  // An enum whose values count up from 0 in the order of `names`.
  template <typename E>
  void Choice(const FieldInfo& field, E* value, const std::vector<std::string>& names) {
    int index = static_cast<int>(*value);
    ChoiceIndex(field, &index, names);
    *value = static_cast<E>(index);
  }
};

}  // namespace lzero

#endif  // LZERO_CONFIG_FIELDS_H_
