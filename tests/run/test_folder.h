// A new empty folder for one test, removed with the object, so that tests may run side by side.
// In memory where that is possible: writers sync to the disk, and tests need not wait for one.
#ifndef LZERO_TESTS_RUN_TEST_FOLDER_H_
#define LZERO_TESTS_RUN_TEST_FOLDER_H_

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "lzero/base/check.h"
#include "lzero/base/files.h"

namespace lzero {

class TestFolder {
 public:
  TestFolder() {
    const std::string parent = IsDirectory("/dev/shm") ? "/dev/shm" : testing::TempDir();
    std::string path = JoinPath(std::filesystem::canonical(parent).string(), "lzero_test_XXXXXX");
    LZ_CHECK(::mkdtemp(path.data()) != nullptr, "cannot make ", path);
    path_ = path;
  }
  ~TestFolder() { RemoveTree(path_).IgnoreError(); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace lzero

#endif  // LZERO_TESTS_RUN_TEST_FOLDER_H_
