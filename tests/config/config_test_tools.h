// What the tests of the config floor share: a scratch folder of files, and the raw values of a
// config read by a visitor of its own (not through schema.h). Test code only.
#ifndef LZERO_TESTS_CONFIG_CONFIG_TEST_TOOLS_H_
#define LZERO_TESTS_CONFIG_CONFIG_TEST_TOOLS_H_

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/fields.h"

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
class RawValues : public FieldVisitor {
 public:
  explicit RawValues(ExperimentConfig config) { config.Visit(*this); }
  const std::vector<std::string>& values() const { return values_; }

  void BeginSection(const char* name, const char*) override { section_ = name; }
  void EndSection() override { section_.clear(); }
  void Int(const FieldInfo& field, int64_t* value, Range) override { Add(field, *value); }
  void Float(const FieldInfo& field, double* value, Range) override { AddFloat(field, *value); }
  void Bool(const FieldInfo& field, bool* value) override { Add(field, *value); }
  void Text(const FieldInfo& field, std::string* value) override { Add(field, *value); }
  void TextMap(const FieldInfo& field, std::map<std::string, std::string>* value) override {
    for (const auto& [name, text] : *value) Add(field, name + ":" + text);
  }
  void TextList(const FieldInfo& field, std::vector<std::string>* value) override {
    for (const std::string& item : *value) Add(field, item);
  }
  void ChoiceIndex(const FieldInfo& field, int* value, const std::vector<std::string>&) override {
    Add(field, *value);
  }
  void OptionalInt(const FieldInfo& field, std::optional<int64_t>* value, Range) override {
    if (value->has_value()) {
      Add(field, **value);
    } else {
      Add(field, "null");
    }
  }
  void OptionalFloat(const FieldInfo& field, std::optional<double>* value, Range) override {
    if (value->has_value()) {
      AddFloat(field, **value);
    } else {
      Add(field, "null");
    }
  }

 private:
  template <typename T>
  void Add(const FieldInfo& field, const T& value) {
    std::ostringstream line;
    line << section_ << "." << field.name << "=" << value;
    values_.push_back(line.str());
  }
  void AddFloat(const FieldInfo& field, double value) {
    std::ostringstream bits;
    bits << std::hexfloat << value;
    Add(field, bits.str());
  }

  std::string section_;
  std::vector<std::string> values_;
};

}  // namespace lzero

#endif  // LZERO_TESTS_CONFIG_CONFIG_TEST_TOOLS_H_
