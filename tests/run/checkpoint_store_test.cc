// Checkpoints on the disk: layout, links, pruning, and a table of damages.
#include "lzero/run/checkpoint_store.h"

#include <filesystem>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/run/safetensors.h"
#include "tests/run/test_folder.h"

namespace lzero::checkpoint_store_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CheckpointStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    run_dir_ = test_folder_.path() + "/run";
    checkpoints_ = run_dir_ + "/checkpoints";
  }
  std::string Folder(const char* step) { return checkpoints_ + "/step_" + step; }
  std::vector<std::string> Names() { return *ListDirectory(checkpoints_); }
  void Write(int64_t env_steps, int64_t keep = 10);

  TestFolder test_folder_;
  std::string run_dir_, checkpoints_;
};

CheckpointContent Example(float weight) {
  const float weights[] = {weight, 2.0f};
  const int64_t counts[] = {3};
  CheckpointContent content;
  content.files["model"] = {MakeNamedArray<float>("layer.weight", weights, {1, 2})};
  content.files["replay"] = {MakeNamedArray<int64_t>("counts", counts)};
  content.state_json = "{\"updates\": 5}\n";
  content.config_yaml = "seed: 3\n";
  return content;
}

void CheckpointStoreTest::Write(int64_t env_steps, int64_t keep) {
  const auto folder =
      WriteCheckpoint(run_dir_, env_steps, Example(static_cast<float>(env_steps)), keep);
  ASSERT_TRUE(folder.ok()) << folder.status();
}

float FirstWeight(const LoadedCheckpoint& loaded) {
  return ReadArray<float>(loaded.content.files.at("model"), "layer.weight")->at(0);
}

TEST_F(CheckpointStoreTest, HasTheDocumentedLayout) {
  const auto folder = WriteCheckpoint(run_dir_, 10000, Example(1.0f), 3);
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(*folder, Folder("000010000"));
  EXPECT_THAT(*ListDirectory(*folder),
              ElementsAre("checksums.json", "config.resolved.yaml", "model.safetensors",
                          "replay.safetensors", "state.json"));
  EXPECT_THAT(Names(), ElementsAre("latest", "step_000010000"));
  EXPECT_EQ(std::filesystem::read_symlink(checkpoints_ + "/latest"), "step_000010000");
  EXPECT_EQ(*ReadFile(*folder + "/state.json"), "{\"updates\": 5}\n");
  EXPECT_EQ(ReadSafetensors(*folder + "/model.safetensors")->metadata.at("env_steps"), "10000");
}

TEST_F(CheckpointStoreTest, ReadsByRunFolderCheckpointFolderAndLink) {
  Write(100);
  Write(200);
  ASSERT_TRUE(MarkBestCheckpoint(run_dir_, 100).ok());
  const struct {
    std::string path;
    int64_t env_steps;
  } cases[] = {{run_dir_, 200},
               {run_dir_ + "/", 200},
               {checkpoints_, 200},
               {checkpoints_ + "/latest", 200},
               {checkpoints_ + "/best", 100},
               {Folder("000000100"), 100},
               {Folder("000000100") + "/", 100}};
  for (const auto& place : cases) {
    SCOPED_TRACE(place.path);
    const auto loaded = ReadCheckpoint(place.path);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->env_steps, place.env_steps);
    EXPECT_EQ(FirstWeight(*loaded), static_cast<float>(place.env_steps));
    EXPECT_EQ(loaded->content.state_json, "{\"updates\": 5}\n");
    EXPECT_EQ(loaded->content.config_yaml, "seed: 3\n");
    EXPECT_EQ(loaded->content.files.size(), 2u);
    EXPECT_THAT(*ReadArray<int64_t>(loaded->content.files.at("replay"), "counts"), ElementsAre(3));
  }
}

TEST_F(CheckpointStoreTest, ACopiedFolderOfAnyNameCanBeRead) {
  Write(100);
  const std::string copy = run_dir_ + "/kept";
  std::filesystem::copy(Folder("000000100"), copy, std::filesystem::copy_options::recursive);
  const auto loaded = ReadCheckpoint(copy);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->env_steps, 100);
}

TEST_F(CheckpointStoreTest, ReadsOnlyWhatIsAskedFor) {
  Write(100);
  ASSERT_TRUE(WriteFileAtomic(Folder("000000100") + "/replay.safetensors", "damaged").ok());
  const std::vector<std::string> model = {"model"};
  const auto loaded = ReadCheckpoint(run_dir_, model);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->content.files.size(), 1u);
  EXPECT_EQ(FirstWeight(*loaded), 100.0f);
  const std::vector<std::string> unknown = {"critic"};
  const absl::Status status = ReadCheckpoint(run_dir_, unknown).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_EQ(std::string(status.message()), Folder("000000100") + " holds no critic.safetensors");
}

TEST_F(CheckpointStoreTest, KeepsTheNewestTheBestAndTheLatest) {
  Write(100, 2);
  ASSERT_TRUE(MarkBestCheckpoint(run_dir_, 100).ok());
  Write(200, 2);
  Write(300, 2);
  Write(400, 2);
  EXPECT_THAT(Names(),
              ElementsAre("best", "latest", "step_000000100", "step_000000300", "step_000000400"));
  // A run that went back to an older state: the one just written stays although it is not new.
  Write(250, 1);
  EXPECT_THAT(Names(),
              ElementsAre("best", "latest", "step_000000100", "step_000000250", "step_000000400"));
  EXPECT_EQ(ReadCheckpoint(run_dir_)->env_steps, 250);
  ASSERT_TRUE(MarkBestCheckpoint(run_dir_, 400).ok());
  Write(500, 1);
  EXPECT_THAT(Names(), ElementsAre("best", "latest", "step_000000400", "step_000000500"));
}

TEST_F(CheckpointStoreTest, ReplacesACheckpointOfTheSameStep) {
  Write(100);
  ASSERT_TRUE(WriteCheckpoint(run_dir_, 100, Example(-5.0f), 3).ok());
  EXPECT_EQ(FirstWeight(*ReadCheckpoint(run_dir_)), -5.0f);
  EXPECT_THAT(Names(), ElementsAre("latest", "step_000000100"));
}

TEST_F(CheckpointStoreTest, ListsOldestFirst) {
  EXPECT_TRUE(ListCheckpoints(run_dir_)->empty());
  Write(2000000000);
  Write(100);
  ASSERT_TRUE(MakeDirectories(checkpoints_ + "/step_12").ok());  // not a name we make
  const auto places = ListCheckpoints(run_dir_);
  ASSERT_EQ(places->size(), 2u);
  EXPECT_EQ(places->at(0).env_steps, 100);
  EXPECT_EQ(places->at(0).path, Folder("000000100"));
  EXPECT_EQ(places->at(1).env_steps, 2000000000);
}

TEST_F(CheckpointStoreTest, LeftoversAreIgnoredAndClearedByTheNextWrite) {
  Write(100);
  ASSERT_TRUE(MakeDirectories(Folder("000000200.tmp")).ok());
  ASSERT_TRUE(AppendFile(Folder("000000200.tmp") + "/model.safetensors", "half").ok());
  ASSERT_TRUE(ReplaceSymlink("step_000000200", checkpoints_ + "/latest.tmp").ok());
  EXPECT_EQ(ReadCheckpoint(run_dir_)->env_steps, 100);
  EXPECT_EQ(ListCheckpoints(run_dir_)->size(), 1u);
  Write(300);
  EXPECT_THAT(Names(), ElementsAre("latest", "step_000000100", "step_000000300"));
}

TEST_F(CheckpointStoreTest, WithoutALatestLinkTheNewestIsRead) {
  Write(100);
  Write(200);
  std::filesystem::remove(checkpoints_ + "/latest");
  EXPECT_EQ(ReadCheckpoint(run_dir_)->env_steps, 200);
  ASSERT_TRUE(ReplaceSymlink("step_000000999", checkpoints_ + "/latest").ok());
  EXPECT_EQ(ReadCheckpoint(run_dir_)->env_steps, 200);
}

TEST_F(CheckpointStoreTest, SaysWhatWasNotFound) {
  const absl::Status nothing = ReadCheckpoint(run_dir_).status();
  EXPECT_TRUE(absl::IsNotFound(nothing));
  EXPECT_EQ(std::string(nothing.message()), "no such folder: " + run_dir_);
  ASSERT_TRUE(MakeDirectories(run_dir_).ok());
  const absl::Status empty = ReadCheckpoint(run_dir_).status();
  EXPECT_TRUE(absl::IsNotFound(empty));
  EXPECT_EQ(std::string(empty.message()), run_dir_ + " holds no checkpoint: neither " +
                                              checkpoints_ +
                                              "/latest nor a folder step_* beside it");
  const absl::Status best = MarkBestCheckpoint(run_dir_, 5);
  EXPECT_TRUE(absl::IsNotFound(best));
  EXPECT_EQ(std::string(best.message()), "no checkpoint " + Folder("000000005"));
}

TEST_F(CheckpointStoreTest, AFailedWriteChangesNothing) {
  Write(100);
  CheckpointContent content = Example(1.0f);
  content.files["no/such/folder"] = {};  // its file cannot be created
  const absl::Status status = WriteCheckpoint(run_dir_, 200, content, 1).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("the checkpoint was not written"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("no/such/folder.safetensors"));
  EXPECT_THAT(Names(), ElementsAre("latest", "step_000000100"));
  EXPECT_EQ(ReadCheckpoint(run_dir_)->env_steps, 100);
}

struct Damage {
  const char* what;
  std::function<void(const std::string& folder)> apply;
  const char* file;
  const char* message;
};

void Edit(const std::string& path, const std::function<std::string(std::string)>& change) {
  const absl::StatusOr<std::string> content = ReadFile(path);
  ASSERT_TRUE(content.ok());
  ASSERT_TRUE(WriteFileAtomic(path, change(*content)).ok());
}

// Writes `json` with a correct CRC of its own, as a careless editor with the right tool would.
void ForgeChecksums(const std::string& folder, const std::string& body) {
  const std::string crc = absl::StrCat(absl::Hex(Crc32c(body), absl::kZeroPad8));
  const std::string text = absl::StrCat("{\"crc32c\":\"", crc, "\",", body.substr(1));
  ASSERT_TRUE(WriteFileAtomic(folder + "/checksums.json", text).ok());
}

std::vector<Damage> FileDamages() {
  std::vector<Damage> damages;
  for (const char* file :
       {"model.safetensors", "replay.safetensors", "state.json", "config.resolved.yaml"}) {
    const std::string name = file;
    damages.push_back({"truncated",
                       [name](const std::string& folder) {
                         Edit(folder + "/" + name, [](std::string bytes) {
                           bytes.pop_back();
                           return bytes;
                         });
                       },
                       file, "were written"});
    damages.push_back({"flipped",
                       [name](const std::string& folder) {
                         Edit(folder + "/" + name, [](std::string bytes) {
                           bytes[bytes.size() / 2] ^= 1;
                           return bytes;
                         });
                       },
                       file, "its content has changed: CRC-32C"});
    damages.push_back(
        {"missing",
         [name](const std::string& folder) { std::filesystem::remove(folder + "/" + name); }, file,
         "is missing or cannot be read"});
  }
  return damages;
}

std::vector<Damage> ChecksumsDamages() {
  const auto replace = [](const char* from, const char* to) {
    return [from, to](const std::string& folder) {
      Edit(folder + "/checksums.json", [&](std::string text) {
        return absl::StrReplaceAll(text, {{from, to}});
      });
    };
  };
  const auto forge = [](const char* body) {
    return [body](const std::string& folder) { ForgeChecksums(folder, body); };
  };
  const char* file = "checksums.json";
  return {
      {"missing",
       [](const std::string& folder) { std::filesystem::remove(folder + "/checksums.json"); }, file,
       "is missing"},
      {"no JSON", replace("{", "["), file, "broken JSON at byte "},
      {"other step", replace("200", "201"), file, "its own CRC-32C does not fit"},
      {"no files", replace("\"files\"", "\"folders\""), file,
       "files is missing; allowed: an object"},
      {"no own CRC",
       [](const std::string& folder) {
         ASSERT_TRUE(WriteFileAtomic(folder + "/checksums.json", "{\"files\":{}}").ok());
       },
       file, "crc32c is missing; allowed: a text"},
      {"CRC is a word",
       [](const std::string& folder) {
         ASSERT_TRUE(
             WriteFileAtomic(folder + "/checksums.json", "{\"crc32c\":\"unknown!\",\"files\":{}}")
                 .ok());
       },
       file, "crc32c is \"unknown!\"; allowed: 8 hexadecimal digits"},
      {"no step", forge(R"({"files":{}})"), file,
       "env_steps is missing; allowed: a whole number of 0 or more"},
      {"empty list", forge(R"({"env_steps":1,"files":{}})"), file, "does not list state.json"},
      {"no config",
       forge(R"({"env_steps":1,"files":{"state.json":{"bytes":1,"crc32c":"00000000"}}})"), file,
       "does not list config.resolved.yaml"},
      {"bad entry", forge(R"({"env_steps":1,"files":{"a":1}})"), file,
       "files.a is 1; allowed: an object"},
  };
}

TEST_F(CheckpointStoreTest, NamesTheDamagedFileAndOffersAnother) {
  std::vector<Damage> damages = FileDamages();
  for (Damage& damage : ChecksumsDamages()) damages.push_back(std::move(damage));
  for (const Damage& damage : damages) {
    SCOPED_TRACE(absl::StrCat(damage.file, " ", damage.what));
    ASSERT_TRUE(RemoveTree(run_dir_).ok());
    Write(100);
    Write(200);
    damage.apply(Folder("000000200"));
    const absl::Status status = ReadCheckpoint(run_dir_).status();
    const std::string message(status.message());
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(message, HasSubstr(Folder("000000200") + "/" + damage.file));
    EXPECT_THAT(message, HasSubstr(damage.message));
    EXPECT_THAT(message, HasSubstr("; newest intact checkpoint: " + Folder("000000100")));
    EXPECT_EQ(VerifyCheckpoint(Folder("000000200")).code(), absl::StatusCode::kDataLoss);
    EXPECT_TRUE(VerifyCheckpoint(Folder("000000100")).ok());
  }
}

TEST_F(CheckpointStoreTest, EveryFlippedBitOfTheChecksumsIsHarmlessOrFound) {
  Write(100);
  const std::string path = Folder("000000100") + "/checksums.json";
  const std::string good = *ReadFile(path);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string flipped = good;
    flipped[at] ^= static_cast<char>(1 << (at % 8));
    ASSERT_TRUE(RemoveTree(path).ok());
    ASSERT_TRUE(AppendFile(path, flipped).ok());
    const auto loaded = ReadCheckpoint(run_dir_);
    if (!loaded.ok()) {
      EXPECT_TRUE(absl::IsDataLoss(loaded.status())) << loaded.status();
      continue;
    }
    EXPECT_EQ(loaded->env_steps, 100);  // white space became other white space
    EXPECT_EQ(FirstWeight(*loaded), 100.0f);
  }
}

TEST_F(CheckpointStoreTest, OffersTheNewestThatIsIntactWhicheverIsDamaged) {
  for (const int64_t step : {100, 200, 300}) Write(step);
  const auto message_after_damage = [&](const char* step) {
    EXPECT_TRUE(AppendFile(Folder(step) + "/model.safetensors", "x").ok());
    return std::string(ReadCheckpoint(Folder(step)).status().message());
  };
  const std::string offer = "; newest intact checkpoint: ";
  EXPECT_THAT(message_after_damage("000000100"), HasSubstr(offer + Folder("000000300")));
  EXPECT_THAT(message_after_damage("000000300"), HasSubstr(offer + Folder("000000200")));
  EXPECT_THAT(message_after_damage("000000200"),
              HasSubstr("; no other checkpoint of this run is intact"));
  EXPECT_EQ(FindOtherIntact(run_dir_), std::nullopt);  // no checkpoint
}

TEST_F(CheckpointStoreTest, GoingBackSetsNewerCheckpointsAside) {
  for (const int64_t step : {100, 200, 300, 400}) Write(step);
  ASSERT_TRUE(MarkBestCheckpoint(run_dir_, 300).ok());
  ASSERT_TRUE(RemoveTree(Folder("000000400") + "/model.safetensors").ok());  // damaged
  EXPECT_EQ(FindOtherIntact(Folder("000000400")), Folder("000000300"));
  auto set_aside = RewindCheckpoints(run_dir_, 200);
  ASSERT_TRUE(set_aside.ok()) << set_aside.status();
  EXPECT_THAT(*set_aside,
              ElementsAre(Folder("000000300") + ".aside", Folder("000000400") + ".aside"));
  EXPECT_THAT(Names(), ElementsAre("latest", "step_000000100", "step_000000200",
                                   "step_000000300.aside", "step_000000400.aside"));
  EXPECT_EQ(ReadCheckpoint(run_dir_)->env_steps, 200);
  EXPECT_EQ(ReadCheckpoint(Folder("000000300") + ".aside")->env_steps, 300);
  // What is set aside is not counted by keep.
  Write(250, /*keep=*/2);
  EXPECT_THAT(Names(), ElementsAre("latest", "step_000000200", "step_000000250",
                                   "step_000000300.aside", "step_000000400.aside"));
  // The second time, too; a best that is not newer stays.
  Write(300);
  ASSERT_TRUE(MarkBestCheckpoint(run_dir_, 200).ok());
  ASSERT_TRUE(RewindCheckpoints(run_dir_, 250).ok());
  EXPECT_THAT(Names(), ElementsAre("best", "latest", "step_000000200", "step_000000250",
                                   "step_000000300.aside", "step_000000400.aside"));
  EXPECT_EQ(ReadCheckpoint(checkpoints_ + "/best")->env_steps, 200);
  EXPECT_THAT(*RewindCheckpoints(run_dir_, 250), testing::IsEmpty());
  EXPECT_TRUE(absl::IsNotFound(RewindCheckpoints(run_dir_, 240).status()));
}

TEST_F(CheckpointStoreTest, StateMustBeJson) {
  CheckpointContent content = Example(1.0f);
  content.state_json = "not JSON";
  ASSERT_TRUE(WriteCheckpoint(run_dir_, 100, content, 1).ok());
  EXPECT_THAT(std::string(ReadCheckpoint(run_dir_).status().message()),
              HasSubstr("state.json: broken JSON at byte "));
}

TEST_F(CheckpointStoreTest, TheFormatOfAFileIsCheckedEvenWhenItsCrcFits) {
  Write(100);
  const std::string folder = Folder("000000100");
  ASSERT_TRUE(WriteFileAtomic(folder + "/model.safetensors", "short").ok());
  const auto entry = [](const char* name, absl::string_view text) {
    return absl::StrCat("\"", name, "\":{\"bytes\":", text.size(), ",\"crc32c\":\"",
                        absl::Hex(Crc32c(text), absl::kZeroPad8), "\"}");
  };
  ForgeChecksums(folder, absl::StrCat(R"({"env_steps":100,"files":{)",
                                      entry("config.resolved.yaml", "seed: 3\n"), ",",
                                      entry("model.safetensors", "short"), ",",
                                      entry("state.json", "{\"updates\": 5}\n"), "}}"));
  EXPECT_THAT(std::string(ReadCheckpoint(run_dir_).status().message()),
              HasSubstr("model.safetensors: truncated: 5 bytes"));
}

}  // namespace
}  // namespace lzero::checkpoint_store_test
