// Where the defaults of settings come from, as `lzero config explain` tells it.
#ifndef LZERO_CONFIG_FIELD_SOURCES_H_
#define LZERO_CONFIG_FIELD_SOURCES_H_

namespace lzero {

inline constexpr char kFamilies[] = "UniZero (arXiv 2406.10667), AlphaZero (Silver et al. 2018)";
inline constexpr char kUniZero[] = "UniZero (arXiv 2406.10667)";
inline constexpr char kAlphaZero[] = "AlphaZero (Silver et al. 2018)";
inline constexpr char kKataGo[] = "KataGo (Wu 2019, arXiv 1902.10565)";
inline constexpr char kMuZero[] = "MuZero (Schrittwieser et al. 2020)";
inline constexpr char kMuZeroB[] = "MuZero (Schrittwieser et al. 2020), appendix B";
inline constexpr char kGumbel[] = "Gumbel MuZero (Danihelka et al. 2022)";
inline constexpr char kEpsilonGreedy[] = "temporally extended epsilon-greedy (Dabney et al. 2021)";
inline constexpr char kSampled[] = "Sampled MuZero (Hubert et al. 2021)";
inline constexpr char kStochastic[] = "Stochastic MuZero (Antonoglou et al. 2022)";
inline constexpr char kPriorities[] = "Prioritized experience replay (Schaul et al. 2016)";
inline constexpr char kEfficientZeroV2[] = "EfficientZero V2 (Wang et al. 2024)";
inline constexpr char kBbf[] = "BBF (Schwarzer et al. 2023, arXiv 2305.19452)";
inline constexpr char kCountBonus[] = "Bellemare et al. 2016, arXiv 1606.01868";
inline constexpr char kEpisodicCounts[] = "NovelD (Zhang et al. 2021)";
inline constexpr char kLightZero[] = "LightZero, UniZero policy defaults";
inline constexpr char kCartPole[] = "LightZero, CartPole UniZero config";
inline constexpr char kTrialRuns[] = "trial runs on CartPole";

}  // namespace lzero

#endif  // LZERO_CONFIG_FIELD_SOURCES_H_
