// What the tests of the config floor share: a scratch folder of files, and the raw values of a
// config read without the texts of schema.h, and set by key. Test code only.
#ifndef LZERO_TESTS_CONFIG_CONFIG_TEST_TOOLS_H_
#define LZERO_TESTS_CONFIG_CONFIG_TEST_TOOLS_H_

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/fields.h"
#include "lzero/config/schema.h"

namespace lzero {

// A folder that is removed at the end of the test.
class ScratchFolder {
 public:
  ScratchFolder() {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(::testing::TempDir()) /
            (std::string(test->test_suite_name()) + "_" + test->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string Write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

// "section.name=value" of every field; floats as their bits.
inline std::vector<std::string> RawValues(ExperimentConfig config) {
  FieldList list;
  config.Visit(list);
  std::vector<std::string> values;
  for (const ConfigField& field : list.fields) {
    const auto add = [&](const auto& value) {
      std::ostringstream line;
      line << field.section << "." << field.name << "=" << std::hexfloat << value;
      values.push_back(line.str());
    };
    std::visit(
        [&add](auto stored) {
          using Stored = decltype(stored);
          if constexpr (std::is_same_v<Stored, ChoiceIndex>) {
            add(stored.Get());
          } else if constexpr (std::is_same_v<Stored, std::map<std::string, std::string>*>) {
            for (const auto& [name, text] : *stored) add(name + ":" + text);
          } else if constexpr (std::is_same_v<Stored, std::vector<std::string>*>) {
            for (const std::string& item : *stored) add(item);
          } else if constexpr (std::is_same_v<Stored, Device*>) {
            add(DeviceText(*stored));
          } else if constexpr (std::is_same_v<Stored, std::optional<Device>*>) {
            add(stored->has_value() ? DeviceText(**stored) : "null");
          } else if constexpr (requires { stored->has_value(); }) {
            stored->has_value() ? add(**stored) : add("null");
          } else {
            add(*stored);
          }
        },
        field.value);
  }
  return values;
}

// Sets the field with this path; what is wrong, if anything.
inline std::optional<std::string> SetField(ExperimentConfig& config, const std::string& path,
                                           const ScalarText& scalar) {
  const std::vector<ConfigField> fields = FieldsOf(config);
  const ConfigField* const field = FindField(fields, path);
  return field == nullptr ? "no field " + path : SetFromText(*field, scalar);
}

}  // namespace lzero

#endif  // LZERO_TESTS_CONFIG_CONFIG_TEST_TOOLS_H_
