// Wrong golden files: every message. Right ones are in golden_test.cc.
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/mcts/golden/golden.h"
#include "nlohmann/json.hpp"

namespace lzero::golden_parse_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Json = nlohmann::json;

Json Recorded(const std::string& name) {
  const auto text = ReadFile(JoinPath(JoinPath(LZ_TEST_DATA, "golden/search"), name));
  EXPECT_TRUE(text.ok()) << text.status();
  return Json::parse(*text);
}

std::string ErrorAfter(const std::string& name, const std::function<void(Json&)>& change) {
  Json json = Recorded(name);
  change(json);
  return std::string(ParseGoldenTree(json.dump()).status().message());
}

std::string PuctError(const std::function<void(Json&)>& change) {
  return ErrorAfter("puct_a2_s8.json", change);
}

std::string GumbelError(const std::function<void(Json&)>& change) {
  return ErrorAfter("gumbel_a3_s16.json", change);
}

TEST(GoldenParseTest, DocumentsThatAreNoTree) {
  EXPECT_EQ(ParseGoldenTree("{").status().message(), "golden tree: broken JSON at byte 2, in '{'");
  EXPECT_EQ(ParseGoldenTree("[]").status().message(),
            "golden tree: the document is []; allowed: an object");
  EXPECT_EQ(ParseGoldenTree("{}").status().message(),
            "golden tree: config is missing; allowed: an object");
  EXPECT_EQ(ParseGoldenTree("{\"config\":3}").status().message(),
            "golden tree: config is 3; allowed: an object");
}

TEST(GoldenParseTest, UnknownOptionsAreRefusedInWords) {
  EXPECT_THAT(PuctError([](Json& j) { j["config"]["virtual_loss"] = 3; }),
              StartsWith("golden tree: config.virtual_loss is an option that this search does not "
                         "have; it has: "));
  EXPECT_THAT(PuctError([](Json& j) { j["config"]["gumbel_scale"] = 0; }),
              HasSubstr("config.gumbel_scale is an option"));
  EXPECT_THAT(PuctError([](Json& j) { j["config"]["qtransform"]["power"] = 3; }),
              HasSubstr("config.qtransform.power is an option"));
  EXPECT_EQ(PuctError([](Json& j) { j["config"]["policy"] = "alphazero"; }),
            "golden tree: config.policy is \"alphazero\"; allowed: muzero_policy, "
            "gumbel_muzero_policy");
  EXPECT_THAT(PuctError([](Json& j) { j["config"]["qtransform"]["name"] = "none"; }),
              HasSubstr("config.qtransform.name is \"none\"; allowed: qtransform_by_parent"));
}

TEST(GoldenParseTest, WrongConfigValues) {
  EXPECT_EQ(PuctError([](Json& j) { j["config"].erase("policy"); }),
            "golden tree: config.policy is missing; allowed: a text");
  EXPECT_EQ(PuctError([](Json& j) { j["config"]["num_actions"] = 0; }),
            "golden tree: config.num_actions is 0; allowed: a whole number, 1 to 100000");
  EXPECT_EQ(PuctError([](Json& j) { j["config"]["num_simulations"] = 18446744073709551615u; }),
            "golden tree: config.num_simulations is 18446744073709551615; allowed: a whole number, "
            "1 to 100000");
  EXPECT_THAT(PuctError([](Json& j) { j["config"]["max_depth"] = 1.5; }),
              HasSubstr("config.max_depth is 1.5; allowed: a whole number"));
  EXPECT_EQ(PuctError([](Json& j) {
              j["config"]["invalid_actions"] = {0, 2};
            }),
            "golden tree: config.invalid_actions[1] is 2; allowed: a whole number, 0 to 1");
  EXPECT_EQ(PuctError([](Json& j) { j["config"]["invalid_actions"] = {0}; }),
            "golden tree: config.invalid_actions is [0]; allowed: a list of 2 entries");
  EXPECT_EQ(PuctError([](Json& j) { j["config"]["pb_c_init"] = "much"; }),
            "golden tree: config.pb_c_init is \"much\"; allowed: a number, at most 1e+30 in size");
  EXPECT_THAT(PuctError([](Json& j) { j["config"]["qtransform"] = "tree"; }),
              HasSubstr("config.qtransform is \"tree\"; allowed: an object"));
  EXPECT_THAT(PuctError([](Json& j) {
                j["config"]["qtransform"] = {{"name", "qtransform_by_min_max"}};
              }),
              HasSubstr("config.qtransform.min_value is missing; allowed: a number"));
  EXPECT_THAT(GumbelError([](Json& j) { j["config"]["qtransform"]["rescale_values"] = 1; }),
              HasSubstr("config.qtransform.rescale_values is 1; allowed: true or false"));
  EXPECT_EQ(GumbelError([](Json& j) {
              j["config"].erase("root_gumbel");
              j["config"]["gumbel_scale"] = 1.0;
            }),
            "golden tree: config.root_gumbel is missing; allowed: the noise that was added, unless "
            "gumbel_scale is 0");
  EXPECT_THAT(GumbelError([](Json& j) { j["config"]["max_num_considered_actions"] = 0; }),
              HasSubstr("config.max_num_considered_actions is 0; allowed: a whole number"));
  EXPECT_EQ(PuctError([](Json& j) {
              j["config"]["dirichlet_fraction"] = 0.25;
              j["expected"].erase("root_prior_probs");
            }),
            "golden tree: expected.root_prior_probs is missing; allowed: the priors with noise, "
            "unless dirichlet_fraction is 0");
}

TEST(GoldenParseTest, WrongNodes) {
  EXPECT_EQ(PuctError([](Json& j) { j["nodes"] = Json::array(); }),
            "golden tree: nodes has 0 entries; allowed: 1 to num_simulations + 1 = 9");
  EXPECT_THAT(PuctError([](Json& j) { j["nodes"] = 1; }),
              HasSubstr("nodes is 1; allowed: a list of objects"));
  EXPECT_THAT(PuctError([](Json& j) { j["nodes"][2] = 1; }),
              HasSubstr("nodes[2] is 1; allowed: an object"));
  EXPECT_THAT(PuctError([](Json& j) { j["nodes"][0]["path"] = {0}; }),
              HasSubstr("nodes[0].path is [0]; allowed: [] for the first node (the root)"));
  EXPECT_THAT(PuctError([](Json& j) { j["nodes"][2]["path"] = j["nodes"][1]["path"]; }),
              HasSubstr("allowed: a path that no earlier node has"));
  EXPECT_THAT(PuctError([](Json& j) { j["nodes"][1]["path"] = {2}; }),
              HasSubstr("nodes[1].path[0] is 2; allowed: a whole number, 0 to 1"));
  EXPECT_THAT(PuctError([](Json& j) { j["nodes"][1]["value"] = 1e40; }),
              HasSubstr("nodes[1].value is 1e+40; allowed: a number, at most 1e+30"));
  EXPECT_THAT(PuctError([](Json& j) { j["nodes"][1].erase("discount"); }),
              HasSubstr("nodes[1].discount is missing; allowed: a number"));
}

TEST(GoldenParseTest, WrongExpectations) {
  EXPECT_THAT(PuctError([](Json& j) { j.erase("expected"); }),
              HasSubstr("expected is missing; allowed: an object"));
  EXPECT_THAT(PuctError([](Json& j) { j["expected"]["action"] = 2; }),
              HasSubstr("expected.action is 2; allowed: a whole number, 0 to 1"));
  EXPECT_THAT(PuctError([](Json& j) { j["expected"]["per_node"][0] = "x"; }),
              HasSubstr("expected.per_node[0] is \"x\"; allowed: an object"));
  EXPECT_THAT(PuctError([](Json& j) { j["expected"]["per_node"][0]["qvalues"][1] = "x"; }),
              HasSubstr("expected.per_node[0].qvalues[1] is \"x\"; allowed: a number"));
  EXPECT_THAT(GumbelError([](Json& j) { j["expected"]["considered_visit_sequence"] = {0}; }),
              HasSubstr("considered_visit_sequence is [0]; allowed: a list of 16 entries"));
}

TEST(GoldenParseTest, OptionsReachTheConfig) {
  Json json = Recorded("gumbel_a3_s16.json");
  json["config"]["qtransform"]["use_mixed_value"] = false;
  json["config"]["qtransform"]["rescale_values"] = false;
  json["config"]["qtransform"]["epsilon"] = 1e-3;
  json["config"]["max_depth"] = 4;
  const auto golden = ParseGoldenTree(json.dump());
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(golden->config.policy, SearchPolicy::kGumbel);
  EXPECT_EQ(golden->config.q_transform, QTransform::kCompletedByMixValue);
  EXPECT_EQ(golden->config.num_simulations, 16);
  EXPECT_FALSE(golden->config.use_mixed_value);
  EXPECT_FALSE(golden->config.rescale_values);
  EXPECT_EQ(golden->config.q_epsilon, 1e-3);
  EXPECT_EQ(golden->config.max_depth, 4);
  Json tree = Recorded("puct_a2_s8.json");
  tree["config"]["qtransform"] = {{"name", "tree_min_max"}, {"min_max_delta", 0.5}};
  const auto puct = ParseGoldenTree(tree.dump());
  ASSERT_TRUE(puct.ok()) << puct.status();
  EXPECT_EQ(puct->config.q_transform, QTransform::kTreeMinMax);
  EXPECT_EQ(puct->config.min_max_delta, 0.5);
}

}  // namespace
}  // namespace lzero::golden_parse_test
