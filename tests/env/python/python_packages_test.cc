#include "lzero/env/python/python_packages.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::python_packages_test {
namespace {

using testing::HasSubstr;

// A program that stands for an interpreter.
std::string Interpreter(const std::string& body) {
  const std::string path = absl::StrCat(testing::TempDir(), "python_packages_test_", getpid());
  std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
  chmod(path.c_str(), 0755);
  return path;
}

TEST(PythonPackagesTest, TellsWhatTheInterpreterPrints) {
  const auto packages = PythonPackages(Interpreter("echo 'gymnasium 1.4.0, ale-py 0.12.1'"));
  ASSERT_TRUE(packages.ok()) << packages.status();
  EXPECT_EQ(*packages, "gymnasium 1.4.0, ale-py 0.12.1");
}

TEST(PythonPackagesTest, APythonAnswersEvenWithoutPackages) {
  const auto packages = PythonPackages("python3");
  ASSERT_TRUE(packages.ok()) << packages.status();
  EXPECT_TRUE(packages->empty() || packages->find(' ') != std::string::npos) << *packages;
}

TEST(PythonPackagesTest, WhatCannotRunIsAnError) {
  EXPECT_EQ(PythonPackages("no_such_python").status().message(),
            "cannot start 'no_such_python': No such file or directory");
  EXPECT_THAT(std::string(PythonPackages(Interpreter("echo broken; exit 3")).status().message()),
              HasSubstr("exited with status 3: broken"));
}

}  // namespace
}  // namespace lzero::python_packages_test
