#include "lzero/config/synonyms.h"

#include <set>
#include <string>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "lzero/config/schema.h"

namespace lzero::synonyms_test {
namespace {

// Every key exists, no name is ours, and no name is given twice.
TEST(SynonymsTest, TheTableFitsTheSchema) {
  ExperimentConfig config;
  const std::vector<ConfigField> fields = FieldsOf(config);
  std::set<std::string> names, own;
  for (const ConfigField& field : fields) own.emplace(field.name);
  for (const Synonyms& entry : AllSynonyms()) {
    const bool has_key = *entry.key != '\0';
    EXPECT_EQ(FindField(fields, entry.key) != nullptr, has_key) << entry.key;
    EXPECT_TRUE(has_key || *entry.remark != '\0') << entry.names;
    for (const auto part : absl::StrSplit(entry.names, ' ')) {
      const std::string name(part);
      EXPECT_TRUE(names.insert(name).second) << name << " twice";
      EXPECT_FALSE(own.contains(name)) << name << " is ours";
    }
  }
}

TEST(SynonymsTest, TheLastPartOfAPathCounts) {
  for (const char* name : {"lr", "optimizer.lr", "LR", "adam-lr"}) {
    ASSERT_NE(FindSynonym(name), nullptr) << name;
    EXPECT_EQ(std::string(FindSynonym(name)->key), "train.learning_rate");
  }
  for (const char* name : {"", "lr.", "learning_rate", "lrr"}) {
    EXPECT_EQ(FindSynonym(name), nullptr) << name;
  }
}

TEST(SynonymsTest, CommonNamesOfLightZeroCleanRlAndStableBaselines3AreKnown) {
  const std::string common =
      "collector_env_num frame_stack_num frame_skip mcts_ctree num_res_blocks support_scale "
      "update_per_collect anneal_lr capture_video clip_coef num_envs start_e "
      "target_network_frequency torch_deterministic track train_frequency update_epochs "
      "buffer_size ent_coef frame_stack gamma gradient_steps learning_starts log_interval "
      "max_grad_norm n_envs n_steps policy_kwargs "
      "progress_bar target_kl tau tensorboard_log train_freq verbose vf_coef";
  for (const auto name : absl::StrSplit(common, ' ')) {
    EXPECT_NE(FindSynonym(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace lzero::synonyms_test
