#include "lzero/pipe/hello.h"

#include <limits>

#include "gtest/gtest.h"
#include "lzero/pipe/frame.h"
#include "nlohmann/json.hpp"

namespace lzero::hello_test {
namespace {

nlohmann::json Parse(const std::string& frame) {
  EXPECT_EQ(frame.substr(0, 4), std::string("\x80\0\0\0", 4));
  return nlohmann::json::parse(frame.substr(4));
}

TEST(HelloTest, AnEnvironmentTellsItsSpec) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EnvSpec spec;
  spec.id = "slide";
  spec.observation = {{2, 3}, {-kInfinity}, {0.5f}};
  spec.action.kind = ActionKind::kBox;
  spec.action.low = {-2.0f};
  spec.action.high = {2.0f};
  spec.max_episode_steps = 200;
  const auto json = Parse(EnvHello(spec, "0.1.0"));
  EXPECT_EQ(json, nlohmann::json::parse(R"({"protocol": 2, "program": "lzero", "version": "0.1.0",
    "kind": "environment", "env": {"id": "slide",
      "observation": {"shape": [2, 3], "low": [null], "high": [0.5], "type": "float32",
                      "frame_stack": 1},
      "action": {"kind": "box", "low": [-2.0], "high": [2.0]},
      "players": 1, "max_episode_steps": 200, "can_save": false, "deterministic": true}})"));
}

TEST(HelloTest, APolicyTellsItsCheckpointAndLimits) {
  EnvSpec spec;
  spec.action.num_actions = 4;
  PolicyFacts facts;
  facts.checkpoint = "run/\xff";  // no UTF-8
  facts.family = "unizero";
  facts.env_steps = 992;
  facts.num_simulations = 25;
  facts.max_past_steps = 7;
  facts.max_batch = 32;
  facts.observation = "auto";
  const auto json = Parse(PolicyHello(facts, spec, "0.1.0"));
  EXPECT_EQ(json["kind"], "policy");
  EXPECT_EQ(json["env"]["action"], nlohmann::json::parse(R"({"kind": "discrete", "n": 4})"));
  EXPECT_EQ(json["policy"], nlohmann::json::parse(R"({"checkpoint": "run/\ufffd",
    "family": "unizero", "env_steps": 992, "simulations": 25, "past_steps": 7, "max_batch": 32,
    "needs_state": false, "observation": "auto"})"));
}

}  // namespace
}  // namespace lzero::hello_test
