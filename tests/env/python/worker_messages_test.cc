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
            absl::InternalError(absl::StrCat("the worker process answers ", message)))
      << text;
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
  EXPECT_EQ(task.Name(), "gymnasium:ALE/Pong-v5");
  const auto json = nlohmann::json::parse(MakeText(task, 4));
  EXPECT_EQ(json["op"], "make");
  EXPECT_EQ(json["kind"], "gymnasium");
  EXPECT_EQ(json["id"], "ALE/Pong-v5");
  EXPECT_EQ(json["num_envs"], 4);
  EXPECT_EQ(json["keeps_pixels"], true);
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
  EXPECT_EQ(ReadAnswer(R"({"ok":false,"error":3,"missing":[],"traceback":{}})"),
            absl::InvalidArgumentError("it refused"));
}

TEST(WorkerMessagesTest, RefusesWhatIsNoAnswer) {
  EXPECT_EQ(ReadAnswer(""), absl::InternalError("the worker process answers no JSON: ''"));
  EXPECT_EQ(ReadAnswer("hello"),
            absl::InternalError("the worker process answers no JSON: 'hello'"));
  for (const char* text :
       {"null", "[]", "3", "{}", R"({"ok":1})", R"({"ok":"true"})", R"({"ok":null})",
        "{\"ok\":true", "{\"ok\":true}x", "\xff\xfe", R"({"ok":true,"x":"\ud800"})",
        "{\"ok\":true,\"x\":\"\xff\"}", R"({"ok":true,"x":1e999})", R"({"ok":true,"x":NaN})"}) {
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
                "protocol version 2; this is version 1");
  ExpectRefused(SpecText(kObservation, kDiscrete, "1", "0", "\"1\""),
                "protocol version \"1\"; this is version 1");
  ExpectRefused(R"({"ok":true})", "protocol version null; this is version 1");
}

TEST(WorkerMessagesTest, RefusesObservationsThatMakeNoSense) {
  const auto with = [](const std::string& shape, const std::string& low = "[0]",
                       const std::string& high = "[1]", const std::string& type = "float32") {
    return SpecText(absl::StrCat(R"({"type":")", type, R"(","shape":)", shape, R"(,"low":)", low,
                                 R"(,"high":)", high, "}"));
  };
  ExpectRefused(with("[2]", "[0]", "[1]", "int64"), "observations of type 'int64'");
  ExpectRefused(with("[2]", "[0]", "[1]", std::string(99, 'x')),
                absl::StrCat("observations of type '", std::string(40, 'x'), "'"));
  ExpectRefused(SpecText("null"), "observations of type ''");
  ExpectRefused(SpecText("[1]"), "observations of type ''");
  for (const char* shape : {"[]", "null", "3", "{}", "[1,1,1,1,1,1,1,1,1]", "\"[2]\""}) {
    ExpectRefused(with(shape), "observations without a shape");
  }
  ExpectRefused(with("[0]"), "'length': 0; allowed: 1 .. 67108864");
  ExpectRefused(with("[-1]"), "'length': -1; allowed: 1 .. 67108864");
  ExpectRefused(with("[2.0]"), "'length': 2.0; allowed: 1 .. 67108864");
  ExpectRefused(with("[\"2\"]"), "'length': \"2\"; allowed: 1 .. 67108864");
  ExpectRefused(with("[18446744073709551615]"),
                "'length': 18446744073709551615; allowed: 1 .. 67108864");
  ExpectRefused(with("[18446744073709551617]"),
                "'length': 1.8446744073709552e+19; allowed: 1 .. 67108864");
  ExpectRefused(with("[8193,8193]"), "observations that are too large");
  ExpectRefused(with("[67108864,67108864,67108864]"), "observations that are too large");
  ExpectRefused(with("[3]", "[0,0]"), "no list 'low' of 3 bounds");
  ExpectRefused(with("[3]", "null"), "no list 'low' of 3 bounds");
  ExpectRefused(with("[3]", "{\"a\":1}"), "no list 'low' of 3 bounds");
  ExpectRefused(with("[3]", "[0]", "[1,1,1,1]"), "no list 'high' of 3 bounds");
  ExpectRefused(with("[1]", "[true]"), "'low' with true");
  ExpectRefused(with("[1]", "[0]", "[[1]]"), "'high' with [1]");
  ExpectRefused(with("[2]", "[0,3]", "[1,2]"), "observation bounds in the wrong order");
  ExpectRefused(with("[2]", "[1]", "[1,0]"), "observation bounds in the wrong order");
}

TEST(WorkerMessagesTest, RefusesActionsThatMakeNoSense) {
  const auto with = [](const std::string& action) { return SpecText(kObservation, action); };
  ExpectRefused(with("null"), "'size': null; allowed: 1 .. 65536");
  ExpectRefused(with(R"({"kind":"discrete","size":0})"), "'size': 0; allowed: 1 .. 65536");
  ExpectRefused(with(R"({"kind":"discrete","size":65537})"), "'size': 65537; allowed: 1 .. 65536");
  ExpectRefused(with(R"({"kind":"tuple","size":2})"), "actions of kind 'tuple'");
  ExpectRefused(with(R"({"size":2})"), "actions of kind ''");
  ExpectRefused(with(R"({"kind":"box","size":2,"low":[0],"high":[1,1]})"),
                "no list 'low' of 2 bounds");
  ExpectRefused(with(R"({"kind":"box","size":1,"low":[0],"high":"1"})"),
                "no list 'high' of 1 bounds");
  ExpectRefused(with(R"({"kind":"box","size":1,"low":[2],"high":[1]})"),
                "action bounds in the wrong order");
}

TEST(WorkerMessagesTest, RefusesOtherNumbersThatMakeNoSense) {
  ExpectRefused(SpecText(kObservation, kDiscrete, "-1"),
                "'max_episode_steps': -1; allowed: 0 .. 1099511627776");
  ExpectRefused(SpecText(kObservation, kDiscrete, "0.5"),
                "'max_episode_steps': 0.5; allowed: 0 .. 1099511627776");
  ExpectRefused(SpecText(kObservation, kDiscrete, "1", "-1"),
                "'mask_size': -1; allowed: 0 .. 65536");
  ExpectRefused(SpecText(kObservation, kDiscrete, "1", "4"), "masks of 4 for 3 actions");
  ExpectRefused(SpecText(kObservation, R"({"kind":"box","size":1,"low":[0],"high":[1]})", "1", "1"),
                "masks of 1 for 0 actions");
  ExpectRefused(R"({"ok":true,"version":1})", "observations of type ''");
}

// Bounds beyond float32 are none; where there is nothing between them they make no sense.
TEST(WorkerMessagesTest, TakesHugeBoundsForNone) {
  const auto spec = ReadSpec(
      SpecText(R"({"type":"float32","shape":[2],"low":[-1e300,-1.7e308],"high":[1e39,3e38]})"));
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->observation.low, std::vector<float>({-kInfinity, -kInfinity}));
  EXPECT_EQ(spec->observation.high, std::vector<float>({kInfinity, 3e38f}));
  ExpectRefused(SpecText(R"({"type":"float32","shape":[1],"low":[1e300],"high":[1e301]})"),
                "observation bounds in the wrong order");
  ExpectRefused(SpecText(kObservation, R"({"kind":"box","size":1,"low":[-1e301],"high":[-1e300]})"),
                "action bounds in the wrong order");
}

// Long enough to run out of stack in anything that goes down one call a level.
TEST(WorkerMessagesTest, SurvivesDeepNesting) {
  EXPECT_EQ(ReadAnswer(absl::StrCat(R"({"ok":true,"x":)", Nested(17), "}")),
            absl::InternalError("the worker process answers JSON that is nested too deep"));
  EXPECT_TRUE(ReadAnswer(absl::StrCat(R"({"ok":true,"x":)", Nested(5), "}")).ok());
  for (const int depth : {100, 1000000}) {
    const std::string deep = Nested(depth);
    for (const std::string& text :
         {deep, absl::StrCat(R"({"ok":)", deep, "}"), absl::StrCat(R"({"ok":true,"x":)", deep, "}"),
          absl::StrCat(R"({"ok":false,"error":)", deep, "}"),
          SpecText(kObservation, kDiscrete, "1", "0", deep),
          SpecText(kObservation, kDiscrete, deep), SpecText(deep), SpecText(kObservation, deep),
          SpecText(absl::StrCat(R"({"type":"float32","shape":[)", deep, "]}")),
          SpecText(absl::StrCat(R"({"type":"float32","shape":[1],"low":[)", deep, "]}")),
          SpecText(absl::StrCat(R"({"type":)", deep, "}")), std::string(depth, '['),
          absl::StrReplaceAll(deep, {{"[", "{\"a\":["}, {"]", "]}"}})}) {
      EXPECT_FALSE(ReadSpec(text).ok()) << text.substr(0, 80);
      EXPECT_FALSE(ReadPictureSize(text).ok()) << text.substr(0, 80);
      (void)ReadAnswer(text);
      (void)ReadTraceback(text);
    }
  }
}

TEST(WorkerMessagesTest, ReadsTracebacks) {
  EXPECT_EQ(*ReadTraceback(R"({"ok":true,"traceback":"Traceback\n  x\u00e9"})"),
            "Traceback\n  x\xc3\xa9");
  EXPECT_EQ(*ReadTraceback(R"({"ok":true})"), "");
  EXPECT_EQ(*ReadTraceback(R"({"ok":true,"traceback":5})"), "");
  EXPECT_EQ(ReadTraceback("?").status(),
            absl::InternalError("the worker process answers no JSON: '?'"));
}

TEST(WorkerMessagesTest, ReadsPictureSizes) {
  const auto size = ReadPictureSize(R"({"ok":true,"width":4,"height":3,"bytes":36})");
  ASSERT_TRUE(size.ok());
  EXPECT_EQ(size->width, 4);
  EXPECT_EQ(size->height, 3);
  const auto refusal = [](const std::string& text) {
    return std::string(ReadPictureSize(text).status().message());
  };
  EXPECT_EQ(refusal(R"({"ok":true,"width":4,"height":3,"bytes":35})"),
            "the worker process answers 'bytes': 35; allowed: 36 .. 36");
  EXPECT_EQ(refusal(R"({"ok":true,"width":0,"height":3,"bytes":0})"),
            "the worker process answers 'width': 0; allowed: 1 .. 16384");
  EXPECT_EQ(refusal(R"({"ok":true,"width":3,"bytes":0})"),
            "the worker process answers 'height': null; allowed: 1 .. 16384");
  EXPECT_EQ(refusal(R"({"ok":true,"width":16384,"height":16384,"bytes":805306368})"),
            "the worker process answers a picture that is too large");
  EXPECT_EQ(ReadPictureSize(R"({"ok":false,"error":"no picture"})").status(),
            absl::InvalidArgumentError("no picture"));
}

}  // namespace
}  // namespace lzero::worker_messages_test
