#include "lzero/config/dump.h"

#include <algorithm>
#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/load.h"
#include "tests/config/config_test_tools.h"

namespace lzero::dump_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Gives every field a random value of its range, with all digits a double has.
class Randomizer {
 public:
  explicit Randomizer(uint64_t seed) : random_(seed) {}
  void Set(const ConfigField& field) {
    std::visit([&](auto stored) { Set(field, stored); }, field.value);
  }

 private:
  void Set(const ConfigField& field, int64_t* value) { *value = DrawInt(field.range); }
  void Set(const ConfigField& field, double* value) { *value = DrawFloat(field.range); }
  void Set(const ConfigField&, bool* value) { *value = random_() % 2 == 0; }
  void Set(const ConfigField&, std::string* value) {
    static const char* const kTexts[] = {"cartpole", "null", "~",        "a: b",
                                         "010",      "- x",  "\"'\\",    "caf\xc3\xa9",
                                         "# no",     "{a}",  " spaces ", "plugin:x/y-z.so",
                                         "<<",       "true", "*a"};
    *value = kTexts[random_() % std::size(kTexts)];
  }
  void Set(const ConfigField& field, std::map<std::string, std::string>* value) {
    value->clear();
    for (const char* const name : {"size", "komi", "a.b", "null"}) {
      if (random_() % 2 == 0) Set(field, &(*value)[name]);
    }
  }
  void Set(const ConfigField&, std::vector<std::string>* value) {
    static const char* const kTexts[] = {"libx.so", "/a b/liby.so", "null", "[x", "#z", "{a}"};
    value->clear();
    while (random_() % 3 != 0) value->push_back(kTexts[random_() % std::size(kTexts)]);
  }
  void Set(const ConfigField& field, ChoiceIndex value) {
    value.Set(static_cast<int>(random_() % field.choices.size()));
  }
  void Set(const ConfigField& field, std::optional<int64_t>* value) {
    *value = random_() % 3 == 0 ? std::nullopt : std::optional<int64_t>(DrawInt(field.range));
  }
  void Set(const ConfigField& field, std::optional<double>* value) {
    *value = random_() % 3 == 0 ? std::nullopt : std::optional<double>(DrawFloat(field.range));
  }

  void Set(const ConfigField&, Device* value) {
    *value = random_() % 2 == 0 ? Device::kCpu
                                : Device{Device::Kind::kCuda, static_cast<int>(random_() % 3)};
  }
  void Set(const ConfigField& field, std::optional<Device>* value) {
    value->reset();
    if (random_() % 3 != 0) Set(field, &value->emplace());
  }

  int64_t DrawInt(const Range& range) {
    return std::uniform_int_distribution<int64_t>(static_cast<int64_t>(range.low),
                                                  static_cast<int64_t>(range.high))(random_);
  }
  double DrawFloat(const Range& range) {
    while (true) {
      const double value = std::uniform_real_distribution<double>(range.low, range.high)(random_);
      const double tiny = std::ldexp(value, -static_cast<int>(random_() % 60));
      const double drawn = random_() % 2 == 0 ? value : tiny;
      if (drawn > range.low && drawn < range.high) return drawn;
    }
  }
  std::mt19937_64 random_;
};

// Makes the rules between fields hold.
void MakeConsistent(ExperimentConfig& config) {
  config.model.num_heads = 2 + config.model.num_heads % 15;
  config.model.sim_norm_group = config.model.num_heads;
  config.model.embed_dim = config.model.num_heads * 6;
  config.model.support_size |= 1;
  config.model.value_support = {{"min", "-0.5"}, {"max", "1e3"}, {"bins", "7"}};
  config.model.reward_support.clear();
  config.model.context_length = std::max<int64_t>(2, config.model.context_length / 2 * 2);
  config.model.latent_loss =
      config.model.latent_norm == LatentNorm::kSimNorm ? LatentLoss::kGroupKl : LatentLoss::kMse;
  config.search.q_transform = QTransform::kTreeMinMax;
  config.search.cheap_num_simulations = 1;
  if (config.search.min_value >= config.search.max_value) {
    std::swap(config.search.min_value, config.search.max_value);
  }
  config.replay.capacity += 10000000;
  config.replay.sample_from = SampleFrom::kAnywhere;
  config.train.start_env_steps %= 1000;
  config.train.final_learning_rate = config.train.learning_rate / 3;
  if (config.replay.augment_symmetries) {
    config.replay.augment_shift = config.replay.bootstrap_context_steps = 0;
  }
  config.replay.td_steps_final = 1;
  config.replay.fresh_share = 0.0;
  config.search.num_interior_samples.reset();
  config.train.tail_updates = config.train.reset_every_updates = 0;
  config.inference.graphs = Graphs::kOff;
  config.inference.runner = Runner::kAuto;
  if (config.inference.dtype == InferenceDtype::kTf32 || config.inference.device.is_cuda()) {
    config.inference.dtype = InferenceDtype::kFp32;
  }
  if (config.learner_device().is_cpu()) config.train.dtype = TrainDtype::kFp32;
  if (config.train.dtype == TrainDtype::kTf32) config.deterministic = true;
  config.stop.max_env_steps = 1000 + config.stop.max_env_steps.value_or(0) / 2;
  config.evaluate.every_updates += 1;
  config.checkpoint.every_updates += 1;
  config.replay.capacity = std::min<int64_t>(config.replay.capacity, 10000000000);
}

TEST(ResolvedYaml, ReadsBackToIdenticalValues) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    ExperimentConfig config;
    Randomizer randomizer(seed);
    for (const ConfigField& field : FieldsOf(config)) randomizer.Set(field);
    MakeConsistent(config);
    const std::string yaml = ResolvedYaml(config);
    const auto loaded = ParseResolvedConfig(yaml, "dump");
    ASSERT_TRUE(loaded.ok()) << loaded.status() << "\n" << yaml;
    EXPECT_EQ(RawValues(*loaded), RawValues(config));
    EXPECT_EQ(ResolvedYaml(*loaded), yaml);
  }
}

TEST(ResolvedYaml, IsABlockASection) {
  const std::string yaml = ResolvedYaml(ExperimentConfig());
  EXPECT_THAT(
      yaml, StartsWith(
                "env:\n  id: cartpole\n  board_size: 0\n  settings: {}\n  max_episode_steps: 0\n"));
  EXPECT_THAT(yaml, HasSubstr("\ntrain:\n  batch_size: 64\n  updates_per_env_step: 0.25\n"));
  EXPECT_THAT(yaml, HasSubstr("\n  learning_rate: 0.001\n"));
  EXPECT_THAT(yaml, HasSubstr("\nstop:\n  max_env_steps: 20000\n  max_updates: null\n"));
  EXPECT_THAT(yaml, ::testing::EndsWith("\nplugins: []\nseed: 0\ndeterministic: false\n"));
}

TEST(DiffConfigs, ListsWhatDiffers) {
  ExperimentConfig a;
  ExperimentConfig b;
  EXPECT_THAT(DiffConfigs(a, b), IsEmpty());
  b.env.id = "catch";
  b.train.learning_rate = 0.0003;
  b.stop.target_return = 195;
  b.search.policy = SearchPolicy::kGumbel;
  std::vector<std::string> lines;
  for (const ConfigDifference& difference : DiffConfigs(a, b)) {
    lines.push_back(difference.key + " " + difference.a + " " + difference.b);
  }
  EXPECT_THAT(lines,
              ElementsAre("env.id cartpole catch", "search.policy puct gumbel",
                          "train.learning_rate 0.001 0.0003", "stop.target_return null 195"));
}

TEST(ExplainKey, SaysEverythingAboutAKey) {
  EXPECT_EQ(*ExplainKey("train.batch_size"),
            "train.batch_size\n"
            "  Sequences in one update.\n"
            "  allowed: an integer from 1 to 65536\n"
            "  default: 64\n"
            "  unit: sequences\n"
            "  source: trial runs on CartPole\n");
  EXPECT_EQ(
      *ExplainKey("deterministic"),
      "deterministic\n"
      "  Collect and learn in turn, not at once, and leave speeds out of metrics.jsonl: the same "
      "seed writes the same file, byte for byte, on device cpu. On cuda sums may be rounded in "
      "another order each time. Another schedule, so other weights than without it; those repeat "
      "too.\n"
      "  allowed: true or false\n"
      "  default: false\n");
}

TEST(ExplainKey, ExplainsASection) {
  const std::string text = *ExplainKey("checkpoint");
  EXPECT_THAT(text, StartsWith("checkpoint: What is kept to resume from.\n\n"));
  EXPECT_THAT(text, HasSubstr("checkpoint.every_updates\n"));
  EXPECT_THAT(text, HasSubstr("checkpoint.keep\n"));
  EXPECT_THAT(text, Not(HasSubstr("evaluate.every_updates\n")));
}

TEST(ExplainKey, ExplainsAllKeysOfAName) {
  const std::string text = *ExplainKey("num_simulations");
  EXPECT_THAT(text, HasSubstr("search.num_simulations\n"));
  EXPECT_THAT(text, HasSubstr("evaluate.num_simulations\n"));
  EXPECT_THAT(text, HasSubstr("default: null\n"));
}

TEST(ExplainKey, ExplainsEverything) {
  const std::string text = *ExplainKey("");
  EXPECT_THAT(text, StartsWith("env: "));
  EXPECT_THAT(text, HasSubstr("\nseed\n"));
  EXPECT_THAT(text, HasSubstr("search.pb_c_base\n"));
}

TEST(ExplainKey, ExplainsAMapForAnEntryOfIt) {
  EXPECT_EQ(*ExplainKey("env.settings.fen"), *ExplainKey("env.settings"));
}

TEST(ExplainKey, ExplainsAnotherProgramsName) {
  EXPECT_THAT(*ExplainKey("gamma"), StartsWith("gamma: here replay.discount\nreplay.discount\n  "));
  EXPECT_THAT(
      *ExplainKey("support_scale"),
      StartsWith("support_scale: here model.support_size; ours counts atoms: 2 * theirs + 1\n"));
  EXPECT_THAT(*ExplainKey("wandb"), StartsWith("wandb: every run writes metrics.jsonl"));
}

// One line a key, whether the word stands in the key, in what it means, or in its source.
TEST(ExplainKey, LooksForAnyOtherWord) {
  const std::string text = *ExplainKey("Q values");
  EXPECT_THAT(text, StartsWith("search.q_transform                How Q values are scaled "));
  EXPECT_THAT(text, HasSubstr("\nsearch.min_max_delta              q_transform tree_min_max: "));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  const std::string noise = *ExplainKey("_noise_");
  EXPECT_THAT(noise, HasSubstr("search.root_noise_alpha "));
  EXPECT_THAT(noise, HasSubstr("\nsearch.root_noise_fraction "));
  EXPECT_THAT(noise, Not(HasSubstr("allowed: ")));
  EXPECT_THAT(*ExplainKey("train.*"), StartsWith("train.batch_size "));
  EXPECT_EQ(*ExplainKey("num threads"), *ExplainKey("threads num"));
}

TEST(ExplainKey, NamesTheNearestOfAnUnknownKey) {
  const auto text = ExplainKey("train.btach_size");
  EXPECT_TRUE(absl::IsNotFound(text.status()));
  EXPECT_EQ(std::string(text.status().message()),
            "unknown key; got 'train.btach_size'; did you mean 'train.batch_size'?");
}

}  // namespace
}  // namespace lzero::dump_test
