#include "lzero/env/python/worker_messages.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"

namespace lzero::worker_messages_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

constexpr char kObservation[] = R"({"type":"float32","shape":[2],"low":[-1.0,null],"high":[1.0]})";
constexpr char kDiscrete[] = R"({"kind":"discrete","size":3})";

// A sound answer to "make", with other parts where they are given.
std::string SpecText(const std::string& observation = kObservation,
                     const std::string& action = kDiscrete, const std::string& cap = "500",
                     const std::string& mask_size = "0", const std::string& version = "1") {
  return absl::StrCat(R"({"ok":true,"version":)", version, R"(,"pid":7,"spec":{"observation":)",
                      observation, R"(,"action":)", action, R"(,"max_episode_steps":)", cap,
                      R"(,"mask_size":)", mask_size, R"(,"has_lives":false}})");
}

std::string Nested(int depth) {
  return absl::StrCat(std::string(depth, '['), std::string(depth, ']'));
}

void ExpectRefused(const std::string& text, const std::string& message) {
  const auto spec = ReadSpec(text);
  ASSERT_FALSE(spec.ok()) << text;
  EXPECT_EQ(spec.status(),
            absl::InternalError(absl::StrCat("answer of the worker process: ", message)))
      << text;
}

// What a worker says reaches terminals.
TEST(WorkerMessagesTest, EscapesControlBytes) {
  const auto spec = ReadSpec(
      R"({"ok":true,"version":1,"spec":{"observation":{"type":"float32","shape":[2],"low":[0],)"
      R"("high":[1],"parts":["a\u001b[31m\nb"]},"action":{"kind":"discrete","size":2},)"
      R"("max_episode_steps":0,"mask_size":0}})");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->observation.parts, std::vector<std::string>{"a\\x1b[31m\\x0ab"});
  WorkerRefusal refusal;
  EXPECT_EQ(
      ReadAnswer(R"({"ok":false,"error":"a\u001bb","traceback":"c\u0007\nd"})", &refusal).message(),
      "a\\x1bb");
  EXPECT_EQ(refusal.traceback, "c\\x07\nd");
  EXPECT_EQ(*ReadTraceback(R"({"ok":true,"traceback":"e\u001b"})"), "e\\x1b");
  EXPECT_EQ(*ReadDrawnText(R"({"ok":true,"text":"e\u001b"})"), "e\\x1b");
}

TEST(WorkerMessagesTest, AsksForEnvironmentsWithTypedSettings) {
  WorkerTask task;
  task.kind = "gymnasium";
  task.id = "ALE/Pong-v5";
  task.settings = {{"a", "true"},  {"b", "false"},       {"c", "null"},
                   {"d", "-3"},    {"e", "0.25"},        {"f", "4x4"},
                   {"g", "007"},   {"h", "1e-3"},        {"i", ""},
                   {"j", "True"},  {"k", "\"q\""},       {"l", "nan"},
                   {"m", "1e400"}, {"n", "[\"SF\", 1]"}, {"o", "{\"a\": [true]}"},
                   {"p", "[1,"},   {"q", "no"},          {"r", "None"}};
  task.keeps_pixels = true;
  task.observation = "vector";
  task.wrappers = {"a:b(1, 2)"};
  task.python_path = {"/c", "/d"};
  EXPECT_EQ(task.Name(), "gymnasium:ALE/Pong-v5");
  const auto json = nlohmann::json::parse(MakeText(task, 4));
  EXPECT_EQ(json["op"], "make");
  EXPECT_EQ(json["kind"], "gymnasium");
  EXPECT_EQ(json["id"], "ALE/Pong-v5");
  EXPECT_EQ(json["num_envs"], 4);
  EXPECT_EQ(json["keeps_pixels"], true);
  EXPECT_EQ(json["observation"], "vector");
  EXPECT_EQ(json["wrappers"], nlohmann::json({"a:b(1, 2)"}));
  EXPECT_EQ(json["python_path"], nlohmann::json({"/c", "/d"}));
  const auto& settings = json["settings"];
  EXPECT_EQ(settings["a"], true);
  EXPECT_EQ(settings["b"], false);
  EXPECT_TRUE(settings["c"].is_null());
  EXPECT_TRUE(settings["d"].is_number_integer());
  EXPECT_EQ(settings["d"], -3);
  EXPECT_EQ(settings["e"], 0.25);
  EXPECT_EQ(settings["f"], "4x4");
  EXPECT_EQ(settings["n"], nlohmann::json({"SF", 1}));
  EXPECT_EQ(settings["o"]["a"][0], true);
  EXPECT_EQ(settings["p"], "[1,") << "no JSON: a text";
  EXPECT_EQ(settings["g"], "007");
  EXPECT_EQ(settings["h"], 1e-3);
  EXPECT_EQ(settings["i"], "");
  EXPECT_EQ(settings["j"], true) << "as Python writes it";
  EXPECT_EQ(settings["k"], "q") << "quoted: a text whatever it says";
  EXPECT_EQ(settings["q"], false);
  EXPECT_TRUE(settings["r"].is_null());
  EXPECT_EQ(settings["l"], "nan");
  EXPECT_EQ(settings["m"], "1e400");
}

TEST(WorkerMessagesTest, AsksWithTextsThatAreNoUtf8) {
  WorkerTask task;
  task.kind = "gymnasium";
  task.id = "a\xff\"b";
  task.settings["x\n"] = std::string("\0\x80", 2);
  EXPECT_TRUE(nlohmann::json::accept(MakeText(task, 1)));
}

TEST(WorkerMessagesTest, TellsTheLayout) {
  WorkerSizes sizes;
  sizes.num_slots = 2;
  sizes.num_frames = 2;
  sizes.max_repeat = 4;
  sizes.frame_bytes = 10;
  const WorkerLayout layout = WorkerLayout::Of(sizes);
  const auto json = nlohmann::json::parse(AttachText(layout));
  EXPECT_EQ(json["op"], "attach");
  EXPECT_EQ(json["magic"], 0x4c5a45524f5f3031);
  EXPECT_EQ(json["bytes"], layout.num_bytes);
  EXPECT_EQ(json["buffers"][0], 64);
  EXPECT_EQ(json["buffers"][1], layout.buffer_starts[1]);
  EXPECT_EQ(json["layout"]["num_slots"], 2);
  EXPECT_EQ(json["layout"]["frames"], 2);
  EXPECT_EQ(json["layout"]["max_repeat"], 4);
  EXPECT_EQ(json["layout"]["observations"]["bytes"], 40);
  EXPECT_EQ(json["layout"]["count"]["offset"], 0);
}

TEST(WorkerMessagesTest, NamesAVerb) {
  EXPECT_EQ(VerbText("close"), R"({"op":"close"})");
  EXPECT_EQ(VerbText("render", 0), R"({"op":"render","slot":0})");
  EXPECT_EQ(VerbText("error", 12), R"({"op":"error","slot":12})");
}

TEST(WorkerMessagesTest, TasksAreEqualByAllTheyHold) {
  const WorkerTask task = {"gymnasium", "A-v0", {{"x", "1"}}, false};
  EXPECT_EQ(task, (WorkerTask{"gymnasium", "A-v0", {{"x", "1"}}, false}));
  EXPECT_NE(task, (WorkerTask{"dm_control", "A-v0", {{"x", "1"}}, false}));
  EXPECT_NE(task, (WorkerTask{"gymnasium", "A-v1", {{"x", "1"}}, false}));
  EXPECT_NE(task, (WorkerTask{"gymnasium", "A-v0", {{"x", "2"}}, false}));
  EXPECT_NE(task, (WorkerTask{"gymnasium", "A-v0", {{"x", "1"}}, true}));
}

TEST(WorkerMessagesTest, ReadsAnswers) {
  EXPECT_TRUE(ReadAnswer(R"({"ok":true})").ok());
  WorkerRefusal refusal;
  EXPECT_EQ(ReadAnswer(R"({"ok":false,"error":"no such","traceback":"Traceback 1"})", &refusal),
            absl::InvalidArgumentError("no such"));
  EXPECT_EQ(refusal.error, "no such");
  EXPECT_EQ(refusal.traceback, "Traceback 1");
  EXPECT_EQ(refusal.missing_package, "");
  EXPECT_EQ(ReadAnswer(R"({"ok":false,"error":"No module","missing":"numpy"})", &refusal),
            absl::FailedPreconditionError("No module"));
  EXPECT_EQ(refusal.missing_package, "numpy");
  EXPECT_EQ(refusal.traceback, "");
  EXPECT_EQ(ReadAnswer(R"({"ok":false})"), absl::InvalidArgumentError("it refused"));
  EXPECT_EQ(ReadAnswer(R"({"ok":false,"error":null})"), absl::InvalidArgumentError("it refused"));
}

TEST(WorkerMessagesTest, RefusesWhatIsNoAnswer) {
  EXPECT_EQ(ReadAnswer("hello"), absl::InternalError("answer of the worker process: broken JSON at "
                                                     "byte 1, in 'hello'"));
  EXPECT_EQ(ReadAnswer("{}"), absl::InternalError("answer of the worker process: ok is missing; "
                                                  "allowed: true or false"));
  for (const char* text :
       {"", "null", "[]", "3", R"({"ok":1})", R"({"ok":"true"})", R"({"ok":null})", "{\"ok\":true",
        "{\"ok\":true}x", "\xff\xfe", R"({"ok":true,"x":"\ud800"})", "{\"ok\":true,\"x\":\"\xff\"}",
        R"({"ok":false,"error":3})", R"({"ok":true,"x":1e999})", R"({"ok":true,"x":NaN})"}) {
    EXPECT_EQ(ReadAnswer(text).code(), absl::StatusCode::kInternal) << text;
  }
}

TEST(WorkerMessagesTest, ReadsASpecOfNumbers) {
  const auto spec = ReadSpec(SpecText());
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->observation.type, ObservationType::kFloat32);
  EXPECT_EQ(spec->observation.shape, std::vector<int64_t>({2}));
  EXPECT_EQ(spec->observation.low, std::vector<float>({-1.0f, -kInfinity}));
  EXPECT_EQ(spec->observation.high, std::vector<float>({1.0f, 1.0f})) << "as many as on the other";
  EXPECT_EQ(spec->action.kind, ActionKind::kDiscrete);
  EXPECT_EQ(spec->action.num_actions, 3);
  EXPECT_EQ(spec->max_episode_steps, 500);
  EXPECT_FALSE(spec->has_action_mask);
  EXPECT_FALSE(spec->has_lives);
}

TEST(WorkerMessagesTest, ReadsASpecOfPicturesWithMaskAndLives) {
  const auto spec = ReadSpec(absl::StrReplaceAll(
      SpecText(R"({"type":"uint8","shape":[210,160,3],"low":[0.0],"high":[1.0]})", kDiscrete, "0",
               "3"),
      {{"\"has_lives\":false", "\"has_lives\":true"}}));
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->observation.type, ObservationType::kUint8);
  EXPECT_EQ(spec->observation.shape, std::vector<int64_t>({210, 160, 3}));
  EXPECT_EQ(spec->observation.low, std::vector<float>({0.0f}));
  EXPECT_EQ(spec->max_episode_steps, 0);
  EXPECT_TRUE(spec->has_action_mask);
  EXPECT_TRUE(spec->has_lives);
}

TEST(WorkerMessagesTest, ReadsASpecOfBoxActions) {
  const auto spec = ReadSpec(
      SpecText(kObservation, R"({"kind":"box","size":2,"low":[-2.0,null],"high":[2.0,null]})"));
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->action.kind, ActionKind::kBox);
  EXPECT_EQ(spec->action.low, std::vector<float>({-2.0f, -kInfinity}));
  EXPECT_EQ(spec->action.high, std::vector<float>({2.0f, kInfinity}));
}

// What is clipped to them must lie inside those of the environment, which are doubles.
TEST(WorkerMessagesTest, RoundsBoundsOfActionsInwards) {
  const auto spec = ReadSpec(
      SpecText(kObservation, R"({"kind":"box","size":3,"low":[-0.1,0.1,1.5],"high":[0.1,0.3,2]})"));
  ASSERT_TRUE(spec.ok()) << spec.status();
  const std::vector<double> low = {-0.1, 0.1, 1.5}, high = {0.1, 0.3, 2.0};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_GE(static_cast<double>(spec->action.low[i]), low[i]) << i;
    EXPECT_LE(static_cast<double>(spec->action.high[i]), high[i]) << i;
    EXPECT_NEAR(spec->action.low[i], low[i], 1e-8) << i;
    EXPECT_NEAR(spec->action.high[i], high[i], 3e-8) << i;
  }
  EXPECT_EQ(spec->action.low[2], 1.5f);
  EXPECT_EQ(spec->action.high[2], 2.0f);
  // An action that cannot be chosen.
  const auto single =
      ReadSpec(SpecText(kObservation, R"({"kind":"box","size":1,"low":[0.1],"high":[0.1]})"));
  ASSERT_TRUE(single.ok()) << single.status();
  EXPECT_EQ(single->action.low[0], 0.1f);
  EXPECT_EQ(single->action.high[0], 0.1f);
}

TEST(WorkerMessagesTest, PassesARefusalOn) {
  WorkerRefusal refusal;
  EXPECT_EQ(ReadSpec(R"({"ok":false,"error":"E","traceback":"T"})", &refusal).status(),
            absl::InvalidArgumentError("E"));
  EXPECT_EQ(refusal.traceback, "T");
}

TEST(WorkerMessagesTest, RefusesOtherVersions) {
  ExpectRefused(SpecText(kObservation, kDiscrete, "1", "0", "2"),
                "version is 2; allowed: 1, the version of the protocol here");
  ExpectRefused(SpecText(kObservation, kDiscrete, "1", "0", "\"1\""),
                "version is \"1\"; allowed: 1, the version of the protocol here");
  ExpectRefused(R"({"ok":true})",
                "version is missing; allowed: 1, the version of the protocol here");
}

TEST(WorkerMessagesTest, RefusesObservationsThatMakeNoSense) {
  const auto refused = [](const std::string& shape, const std::string& message,
                          const std::string& low = "[0]", const std::string& high = "[1]",
                          const std::string& type = "float32") {
    ExpectRefused(SpecText(absl::StrCat(R"({"type":")", type, R"(","shape":)", shape, R"(,"low":)",
                                        low, R"(,"high":)", high, "}")),
                  absl::StrCat("spec.observation.", message));
  };
  ExpectRefused(SpecText("null"), "spec.observation is null; allowed: an object");
  refused("[2]", "type is \"int64\"; allowed: uint8, float32", "[0]", "[1]", "int64");
  refused("3", "shape is 3; allowed: a list");
  refused("[]", "shape is []; allowed: a list of 1 to 8 lengths");
  refused("[1,1,1,1,1,1,1,1,1]", "shape is [1,1,1,1,1,1,1,1,1]; allowed: a list of 1 to 8 lengths");
  refused("[2,0]", "shape[1] is 0; allowed: a whole number, 1 to 67108864");
  refused("[67108865]", "shape[0] is 67108865; allowed: a whole number, 1 to 67108864");
  for (const char* shape : {"[8193,8193]", "[67108864,67108864,67108864]"}) {
    refused(shape, absl::StrCat("shape is ", shape, "; allowed: at most 67108864 numbers in all"));
  }
  refused("[3]", "low is [0,0]; allowed: a list of 3 bounds, or of 1", "[0,0]");
  refused("[3]", "high is [1,1,1,1]; allowed: a list of 3 bounds, or of 1", "[0]", "[1,1,1,1]");
  refused("[1]", "high[0] is [1]; allowed: a number or null", "[0]", "[[1]]");
  refused("[2]", "low is [0,3]; allowed: bounds that are not above 'high'", "[0,3]", "[1,2]");
  refused("[2]", "low is [1]; allowed: bounds that are not above 'high'", "[1]", "[1,0]");
}

TEST(WorkerMessagesTest, RefusesActionsThatMakeNoSense) {
  const auto refused = [](const std::string& action, const std::string& message) {
    ExpectRefused(SpecText(kObservation, action), "spec.action" + message);
  };
  refused("null", " is null; allowed: an object");
  refused(R"({"kind":"discrete","size":0})", ".size is 0; allowed: a whole number, 1 to 65536");
  refused(R"({"kind":"discrete","size":65537})",
          ".size is 65537; allowed: a whole number, 1 to 65536");
  refused(R"({"kind":"tuple","size":2})", ".kind is \"tuple\"; allowed: discrete, box");
  refused(R"({"kind":"box","size":2,"low":[0],"high":[1,1]})",
          ".low is [0]; allowed: a list of 2 bounds");
  refused(R"({"kind":"box","size":1,"low":[0],"high":"1"})", ".high is \"1\"; allowed: a list");
  refused(R"({"kind":"box","size":1,"low":[2],"high":[1]})",
          ".low is [2]; allowed: bounds that are not above 'high'");
}

TEST(WorkerMessagesTest, RefusesOtherNumbersThatMakeNoSense) {
  ExpectRefused(SpecText(kObservation, kDiscrete, "-1"),
                "spec.max_episode_steps is -1; allowed: a whole number, 0 to 1099511627776");
  ExpectRefused(SpecText(kObservation, kDiscrete, "1", "-1"),
                "spec.mask_size is -1; allowed: a whole number, 0 to 65536");
  ExpectRefused(SpecText(kObservation, kDiscrete, "1", "4"),
                "spec.mask_size is 4; allowed: 0 or the 3 actions");
  ExpectRefused(SpecText(kObservation, R"({"kind":"box","size":1,"low":[0],"high":[1]})", "1", "1"),
                "spec.mask_size is 1; allowed: 0 or the 0 actions");
  ExpectRefused(R"({"ok":true,"version":1})", "spec is missing; allowed: an object");
}

// Bounds beyond float32 are none; where there is nothing between them they make no sense.
TEST(WorkerMessagesTest, TakesHugeBoundsForNone) {
  const auto spec = ReadSpec(
      SpecText(R"({"type":"float32","shape":[2],"low":[-1e300,-1.7e308],"high":[1e39,3e38]})"));
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->observation.low, std::vector<float>({-kInfinity, -kInfinity}));
  EXPECT_EQ(spec->observation.high, std::vector<float>({kInfinity, 3e38f}));
  ExpectRefused(SpecText(R"({"type":"float32","shape":[1],"low":[1e300],"high":[1e301]})"),
                "spec.observation.low is [1e+300]; allowed: bounds that are not above 'high'");
  ExpectRefused(SpecText(kObservation, R"({"kind":"box","size":1,"low":[-1e301],"high":[-1e300]})"),
                "spec.action.low is [-1e+301]; allowed: bounds that are not above 'high'");
}

// Deep enough to run out of stack in anything that goes down one call a level.
TEST(WorkerMessagesTest, RefusesDeepNesting) {
  for (const int depth : {17, 1000000}) {
    for (const std::string& text :
         {absl::StrCat(R"({"ok":true,"x":)", Nested(depth), "}"), Nested(depth),
          SpecText(
              absl::StrCat(R"({"type":"float32","shape":[1],"low":[)", Nested(depth), "]}"))}) {
      EXPECT_EQ(ReadSpec(text).status(),
                absl::InternalError("answer of the worker process: nested too deep: more than 16 "
                                    "lists and objects"));
    }
  }
  EXPECT_TRUE(ReadAnswer(absl::StrCat(R"({"ok":true,"x":)", Nested(5), "}")).ok());
}

TEST(WorkerMessagesTest, ReadsTracebacks) {
  EXPECT_EQ(*ReadTraceback(R"({"ok":true,"traceback":"Traceback\n  x\u00e9"})"),
            "Traceback\n  x\xc3\xa9");
  EXPECT_EQ(*ReadTraceback(R"({"ok":true})"), "");
  EXPECT_EQ(ReadTraceback(R"({"ok":true,"traceback":5})").status().message(),
            "answer of the worker process: traceback is 5; allowed: a text");
}

TEST(WorkerMessagesTest, ReadsPictureSizes) {
  const auto size = ReadBlankPicture(R"({"ok":true,"width":4,"height":3,"bytes":36})");
  ASSERT_TRUE(size.ok());
  EXPECT_EQ(size->width, 4);
  EXPECT_EQ(size->height, 3);
  const auto refusal = [](const std::string& text) {
    return std::string(ReadBlankPicture(text).status().message());
  };
  EXPECT_EQ(refusal(R"({"ok":true,"width":4,"height":3,"bytes":35})"),
            "answer of the worker process: bytes is 35; allowed: 36 = width * height * 3");
  EXPECT_EQ(refusal(R"({"ok":true,"width":0,"height":3,"bytes":0})"),
            "answer of the worker process: width is 0; allowed: a whole number, 1 to 16384");
  EXPECT_EQ(refusal(R"({"ok":true,"width":3,"bytes":0})"),
            "answer of the worker process: height is missing; allowed: a whole number, 1 to 16384");
  EXPECT_EQ(
      refusal(R"({"ok":true,"width":16384,"height":16384,"bytes":805306368})"),
      "answer of the worker process: bytes is 805306368; allowed: a whole number, 1 to 67108864");
  EXPECT_EQ(ReadBlankPicture(R"({"ok":false,"error":"no picture"})").status(),
            absl::InvalidArgumentError("no picture"));
}

}  // namespace
}  // namespace lzero::worker_messages_test
