#include "lzero/base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace lzero::files_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = JoinPath(testing::TempDir(), "lzero_files_test");
    folder_ = folder_ + "_" + std::to_string(::getpid());
    ASSERT_TRUE(RemoveTree(folder_).ok());
    ASSERT_TRUE(MakeDirectories(folder_).ok());
  }
  void TearDown() override { EXPECT_TRUE(RemoveTree(folder_).ok()); }

  std::string Path(const std::string& name) const { return JoinPath(folder_, name); }

  std::string folder_;
};

TEST_F(FilesTest, WritesAndReadsBytes) {
  const std::string bytes("a\0b\n\xff", 5);
  ASSERT_TRUE(WriteFileAtomic(Path("x"), bytes).ok());
  EXPECT_EQ(*ReadFile(Path("x")), bytes);
  ASSERT_TRUE(WriteFileAtomic(Path("x"), "").ok());
  EXPECT_EQ(*ReadFile(Path("x")), "");
  EXPECT_THAT(*ListDirectory(folder_), ElementsAre("x"));  // the temporary file is gone
}

TEST_F(FilesTest, ReadsFilesLargerThanItsBuffer) {
  std::string bytes(200'001, 'x');
  bytes[70'000] = 'y';
  ASSERT_TRUE(WriteFileAtomic(Path("x"), bytes).ok());
  EXPECT_EQ(*ReadFile(Path("x")), bytes);
}

TEST_F(FilesTest, ReadErrorsNameThePath) {
  const absl::Status missing = ReadFile(Path("absent")).status();
  EXPECT_EQ(missing,
            absl::NotFoundError("cannot open " + Path("absent") + ": No such file or directory"));
  const absl::Status folder = ReadFile(folder_).status();
  EXPECT_EQ(folder, absl::UnavailableError("cannot read " + folder_ + ": Is a directory"));
}

TEST_F(FilesTest, AFailedWriteLeavesTheOldContentAndNoRest) {
  ASSERT_TRUE(MakeDirectories(Path("target/inner")).ok());
  const absl::Status status = WriteFileAtomic(Path("target"), "content");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot rename " + Path("target.tmp")));
  EXPECT_THAT(*ListDirectory(folder_), ElementsAre("target"));
  EXPECT_EQ(
      WriteFileAtomic(Path("absent/x"), "content"),
      absl::NotFoundError("cannot create " + Path("absent/x.tmp") + ": No such file or directory"));
}

TEST_F(FilesTest, AFullDeviceIsAnError) {
  const absl::Status status = AppendFile("/dev/full", "content");
  EXPECT_EQ(status, absl::UnavailableError("cannot write /dev/full: No space left on device"));
}

TEST_F(FilesTest, AnOutputGoesThroughALinkAndIntoAPipe) {
  ASSERT_TRUE(WriteOutput(Path("file"), "old").ok());
  ASSERT_EQ(::symlink("file", Path("link").c_str()), 0);
  ASSERT_TRUE(WriteOutput(Path("link"), "new").ok());
  EXPECT_EQ(*ReadFile(Path("file")), "new");
  struct stat facts = {};
  ASSERT_EQ(::lstat(Path("link").c_str(), &facts), 0);
  EXPECT_TRUE(S_ISLNK(facts.st_mode));

  ASSERT_EQ(::symlink("missing", Path("dangling").c_str()), 0);
  ASSERT_TRUE(WriteOutput(Path("dangling"), "there").ok());
  EXPECT_EQ(*ReadFile(Path("missing")), "there");
  ASSERT_EQ(::symlink("circle", Path("circle").c_str()), 0);
  EXPECT_FALSE(WriteOutput(Path("circle"), "").ok());

  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  const int reader = ::open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(WriteOutput(Path("pipe"), "through").ok());
  char text[16] = {};
  EXPECT_EQ(::read(reader, text, sizeof(text)), 7);
  EXPECT_STREQ(text, "through");
  ::close(reader);
  ASSERT_EQ(::lstat(Path("pipe").c_str(), &facts), 0);
  EXPECT_TRUE(S_ISFIFO(facts.st_mode));

  const std::string name = "lzero_files_test_" + std::to_string(::getpid());
  ASSERT_TRUE(WriteOutput(name, "here").ok()) << "a path without a folder";
  EXPECT_EQ(*ReadFile(name), "here");
  ::unlink(name.c_str());
  EXPECT_THAT(std::string(WriteOutput(Path("nowhere/x"), "").message()),
              HasSubstr("no folder " + Path("nowhere")));
  EXPECT_FALSE(WriteOutput(folder_, "").ok());
}

TEST_F(FilesTest, Appends) {
  ASSERT_TRUE(AppendFile(Path("x"), "one\n").ok());
  ASSERT_TRUE(AppendFile(Path("x"), "two\n").ok());
  EXPECT_EQ(*ReadFile(Path("x")), "one\ntwo\n");
  EXPECT_EQ(AppendFile(Path("absent/x"), "").code(), absl::StatusCode::kNotFound);
}

TEST_F(FilesTest, MakesAndRemovesFolders) {
  EXPECT_TRUE(MakeDirectories(Path("a/b/c")).ok());
  EXPECT_TRUE(MakeDirectories(Path("a/b/c")).ok());
  EXPECT_TRUE(IsDirectory(Path("a/b")));
  ASSERT_TRUE(AppendFile(Path("a/file"), "").ok());
  EXPECT_FALSE(IsDirectory(Path("a/file")));
  EXPECT_TRUE(FileExists(Path("a/file")));
  EXPECT_EQ(
      MakeDirectories(Path("a/file/b")),
      absl::UnavailableError("cannot create folder " + Path("a/file/b") + ": Not a directory"));
  EXPECT_TRUE(RemoveTree(Path("a")).ok());
  EXPECT_FALSE(FileExists(Path("a")));
  EXPECT_TRUE(RemoveTree(Path("a")).ok());
}

TEST_F(FilesTest, ListsNamesInOrder) {
  for (const char* name : {"b", "a", "c"}) ASSERT_TRUE(AppendFile(Path(name), "").ok());
  EXPECT_THAT(*ListDirectory(folder_), ElementsAre("a", "b", "c"));
  EXPECT_EQ(
      ListDirectory(Path("absent")).status(),
      absl::NotFoundError("cannot list folder " + Path("absent") + ": No such file or directory"));
}

TEST_F(FilesTest, RenamesOverAFile) {
  ASSERT_TRUE(AppendFile(Path("from"), "new").ok());
  ASSERT_TRUE(AppendFile(Path("to"), "old").ok());
  EXPECT_TRUE(RenameDurably(Path("from"), Path("to")).ok());
  EXPECT_EQ(*ReadFile(Path("to")), "new");
  EXPECT_FALSE(FileExists(Path("from")));
  const absl::Status status = RenameDurably(Path("from"), Path("to"));
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(Path("from") + " to " + Path("to")));
}

TEST_F(FilesTest, ReplacesALink) {
  ASSERT_TRUE(AppendFile(Path("one"), "1").ok());
  ASSERT_TRUE(AppendFile(Path("two"), "2").ok());
  ASSERT_TRUE(ReplaceSymlink("one", Path("latest")).ok());
  EXPECT_EQ(*ReadFile(Path("latest")), "1");
  ASSERT_TRUE(ReplaceSymlink("two", Path("latest")).ok());
  EXPECT_EQ(*ReadFile(Path("latest")), "2");
  EXPECT_EQ(ReplaceSymlink("two", Path("absent/latest")).code(), absl::StatusCode::kNotFound);
}

TEST(PathTest, JoinsWithOneSlash) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
}

// RFC 3720 (iSCSI) appendix B.4, and the check value of the CRC catalogue.
TEST(Crc32cTest, PublishedVectors) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending, descending;
  for (int i = 0; i < 32; ++i) {
    ascending.push_back(static_cast<char>(i));
    descending.push_back(static_cast<char>(31 - i));
  }
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eu);
  EXPECT_EQ(Crc32c(descending), 0x113fdb5cu);
}

TEST(Crc32cTest, ContinuesAtAnyCut) {
  const std::string bytes = "123456789abcdefghij";
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(Crc32c(bytes.substr(cut), Crc32c(bytes.substr(0, cut))), Crc32c(bytes));
  }
}

TEST(PathsTest, EndSlashesGo) {
  EXPECT_EQ(WithoutEndSlashes("run//"), "run");
  EXPECT_EQ(WithoutEndSlashes("run"), "run");
  EXPECT_EQ(WithoutEndSlashes("/"), "/");
  EXPECT_EQ(WithoutEndSlashes(""), "");
}

}  // namespace
}  // namespace lzero::files_test
