#include "tests/mcts/reference_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace lzero {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

std::vector<double> SoftmaxOf(const std::vector<double>& logits) {
  const double peak = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  std::vector<double> result;
  for (const double logit : logits) sum += std::exp(logit - peak);
  for (const double logit : logits) result.push_back(std::exp(logit - peak) / sum);
  return result;
}

// The visits that a candidate must have in simulation `simulation`, by playing out the tournament.
int ConsideredAt(int num_candidates, int num_simulations, int simulation) {
  if (num_candidates <= 1) return simulation;
  const double rounds = std::ceil(std::log2(num_candidates));
  std::vector<int> visits(static_cast<size_t>(num_candidates), 0);
  size_t alive = visits.size();
  int now = 0;
  while (true) {
    const int each = std::max(
        1, static_cast<int>(std::floor(num_simulations / (rounds * static_cast<double>(alive)))));
    for (int repeat = 0; repeat < each; ++repeat) {
      for (size_t i = 0; i < alive; ++i) {
        if (now++ == simulation) return visits[i];
        visits[i] += 1;
      }
    }
    alive = std::max<size_t>(2, alive / 2);
  }
}

}  // namespace

ReferenceSearch::ReferenceSearch(const SearchConfig& config, bool has_chance,
                                 std::vector<uint8_t> legal, std::vector<double> gumbel,
                                 Model model)
    : config_(config),
      has_chance_(has_chance),
      legal_(std::move(legal)),
      gumbel_(std::move(gumbel)),
      model_(std::move(model)) {}

void ReferenceSearch::Run() {
  root_ = std::make_unique<Node>();
  root_->outputs = model_({});
  for (size_t a = 0; a < legal_.size(); ++a) {
    if (!legal_[a]) root_->outputs.logits[a] = kNever;
  }
  if (config_.policy == SearchPolicy::kPuct) {
    for (double& logit : root_->outputs.logits) logit /= config_.root_policy_temperature;
  }
  root_->mean = root_->outputs.value;
  root_->visits = 1;
  for (int64_t s = 0; s < config_.num_simulations; ++s) {
    std::vector<int32_t> path;
    Simulate(root_.get(), &path, 0.0, 1.0);
  }
}

int ReferenceSearch::NumVisits(const Node& node, int action) const {
  const auto found = node.action_visits.find(action);
  return found == node.action_visits.end() ? 0 : found->second;
}

double ReferenceSearch::Q(const Node& node, int action) const {
  const Node& child = *node.children.at(action);
  return child.outputs.reward + child.outputs.discount * child.mean;
}

std::vector<double> ReferenceSearch::Priors(const Node& node) const {
  return SoftmaxOf(node.outputs.logits);
}

double ReferenceSearch::TreeNormalised(double q) const {
  if (!any_q_) return 0.0;
  return std::clamp((q - min_q_) / std::max(max_q_ - min_q_, config_.min_max_delta), 0.0, 1.0);
}

double ReferenceSearch::Fpu(const Node& node, bool is_root, double parent_fpu, double sign) const {
  double sum = 0.0;
  int count = 0;
  for (const auto& [action, visits] : node.action_visits) {
    sum += Q(node, action);
    ++count;
  }
  if (is_root) return count == 0 ? 0.0 : sum / count;
  return (sign * parent_fpu + sum) / (count + 1);
}

// Completed Q times the strength; rescaled inside the node, or by the range of the whole tree.
std::vector<double> ReferenceSearch::Completed(const Node& node, bool by_tree) const {
  const auto priors = Priors(node);
  double sum_prior = 0.0;
  double weighted = 0.0;
  int total = 0;
  int most = 0;
  for (const auto& [action, visits] : node.action_visits) {
    sum_prior += priors[static_cast<size_t>(action)];
    weighted += priors[static_cast<size_t>(action)] * Q(node, action);
    total += visits;
    most = std::max(most, visits);
  }
  double mixed = node.outputs.value;
  if (config_.use_mixed_value && total > 0) {
    mixed = (node.outputs.value + total * weighted / sum_prior) / (1.0 + total);
  }
  std::vector<double> q(node.outputs.logits.size(), mixed);
  for (const auto& [action, visits] : node.action_visits) {
    q[static_cast<size_t>(action)] = Q(node, action);
  }
  if (by_tree) {
    for (double& value : q) value = TreeNormalised(value);
  } else if (config_.rescale_values) {
    // Below the root an action that is not there has no Q.
    double low = std::numeric_limits<double>::infinity();
    double high = kNever;
    for (size_t a = 0; a < q.size(); ++a) {
      if (&node != root_.get() && node.outputs.logits[a] == kNever) continue;
      low = std::min(low, q[a]);
      high = std::max(high, q[a]);
    }
    for (double& value : q) value = (value - low) / std::max(high - low, config_.q_epsilon);
  }
  for (double& value : q) value *= (config_.maxvisit_init + most) * config_.value_scale;
  return q;
}

std::vector<double> ReferenceSearch::QScores(const Node& node, double fpu) const {
  const bool gumbel = config_.policy == SearchPolicy::kGumbel;
  if (config_.q_transform == QTransform::kCompletedByMixValue) return Completed(node, false);
  if (config_.q_transform == QTransform::kTreeMinMax && gumbel) return Completed(node, true);
  std::vector<double> scores(node.outputs.logits.size(), 0.0);
  double low = node.mean;
  double high = node.mean;
  for (const auto& [action, visits] : node.action_visits) {
    low = std::min(low, Q(node, action));
    high = std::max(high, Q(node, action));
  }
  for (int a = 0; a < static_cast<int>(scores.size()); ++a) {
    const bool visited = NumVisits(node, a) > 0;
    double& score = scores[static_cast<size_t>(a)];
    if (config_.q_transform == QTransform::kTreeMinMax) {
      score = TreeNormalised(visited ? Q(node, a) : fpu);
    } else if (config_.q_transform == QTransform::kParentAndSiblings) {
      score = visited ? (Q(node, a) - low) / std::max(high - low, config_.q_epsilon) : 0.0;
    } else {
      const double q = visited ? Q(node, a) : config_.min_value;
      score = (q - config_.min_value) / (config_.max_value - config_.min_value);
    }
  }
  return scores;
}

double ReferenceSearch::ForcedVisits(int action) const {
  return std::sqrt(config_.forced_playouts * Priors(*root_)[static_cast<size_t>(action)] *
                   root_->visits);
}

bool ReferenceSearch::IsAbove(double number, double other) {
  smallest_gap_ = std::min(smallest_gap_, std::abs(number - other));
  return number > other;
}

int ReferenceSearch::PickBest(const std::vector<double>& scores) {
  const auto best = std::max_element(scores.begin(), scores.end());
  for (auto other = scores.begin(); other != scores.end(); ++other) {
    if (other != best && *other > kNever) smallest_gap_ = std::min(smallest_gap_, *best - *other);
  }
  return static_cast<int>(best - scores.begin());
}

int ReferenceSearch::Select(const Node& node, bool is_root, double fpu) {
  const auto q_scores = QScores(node, fpu);
  const auto priors = Priors(node);
  std::vector<double> scores(priors.size(), kNever);
  const int total = node.visits - 1;
  if (config_.policy == SearchPolicy::kPuct) {
    const double exploration =
        std::sqrt(node.visits) *
        (config_.pb_c_init + std::log((node.visits + config_.pb_c_base + 1) / config_.pb_c_base));
    for (size_t a = 0; a < scores.size(); ++a) {
      if (node.outputs.logits[a] == kNever) continue;
      const int visits = NumVisits(node, static_cast<int>(a));
      scores[a] = q_scores[a] + exploration * priors[a] / (1 + visits);
      if (is_root && visits > 0 && IsAbove(ForcedVisits(static_cast<int>(a)), visits))
        return static_cast<int>(a);
    }
  } else if (is_root) {
    const int num_legal = static_cast<int>(std::count(legal_.begin(), legal_.end(), uint8_t{1}));
    const int candidates =
        static_cast<int>(std::min<int64_t>(num_legal, config_.max_num_considered_actions));
    const int wanted = ConsideredAt(candidates, static_cast<int>(config_.num_simulations), total);
    const auto& logits = node.outputs.logits;
    const double peak = *std::max_element(logits.begin(), logits.end());
    for (size_t a = 0; a < scores.size(); ++a) {
      if (!legal_[a] || NumVisits(node, static_cast<int>(a)) != wanted) continue;
      scores[a] = gumbel_[a] + logits[a] - peak + q_scores[a];
    }
  } else {
    std::vector<double> logits = node.outputs.logits;
    for (size_t a = 0; a < logits.size(); ++a) logits[a] += q_scores[a];
    const auto improved = SoftmaxOf(logits);
    for (size_t a = 0; a < scores.size(); ++a) {
      if (node.outputs.logits[a] == kNever) continue;
      scores[a] = improved[a] - NumVisits(node, static_cast<int>(a)) / (1.0 + total);
    }
  }
  return PickBest(scores);
}

// The outcome whose share of the visits would lag behind its probability the most.
int ReferenceSearch::SelectOutcome(const Node& node) {
  std::vector<double> scores = Priors(node);
  for (size_t outcome = 0; outcome < scores.size(); ++outcome) {
    if (scores[outcome] == 0.0) scores[outcome] = kNever;
    scores[outcome] /= 1 + NumVisits(node, static_cast<int>(outcome));
  }
  return PickBest(scores);
}

double ReferenceSearch::Simulate(Node* node, std::vector<int32_t>* path, double parent_fpu,
                                 double sign) {
  const double fpu = Fpu(*node, path->empty(), parent_fpu, sign);
  const bool is_chance = has_chance_ && path->size() % 2 == 1;
  const int action = is_chance ? SelectOutcome(*node) : Select(*node, path->empty(), fpu);
  path->push_back(action);
  auto& child = node->children[action];
  double below;
  const int64_t limit = config_.max_depth.value_or(config_.num_simulations);
  if (child == nullptr) {
    child = std::make_unique<Node>();
    child->outputs = model_(*path);
    child->mean = below = child->outputs.value;
    child->visits = 1;
  } else if (static_cast<int64_t>(path->size()) >= limit) {
    below = child->outputs.value;  // evaluated again
    child->visits += 1;
  } else {
    below = Simulate(child.get(), path, fpu, child->outputs.discount < 0 ? -1.0 : 1.0);
  }
  const double value = child->outputs.reward + child->outputs.discount * below;
  node->action_visits[action] += 1;
  node->mean = (node->mean * node->visits + value) / (node->visits + 1);
  node->visits += 1;
  const double q = Q(*node, action);
  min_q_ = any_q_ ? std::min(min_q_, q) : q;
  max_q_ = any_q_ ? std::max(max_q_, q) : q;
  any_q_ = true;
  return value;
}

std::vector<double> ReferenceSearch::PrunedVisits() {
  const auto q_scores = QScores(*root_, 0.0);
  const auto priors = Priors(*root_);
  const int best = BestAction();
  const auto score = [&](int a, int visits) {
    const double exploration =
        std::sqrt(root_->visits) *
        (config_.pb_c_init + std::log((root_->visits + config_.pb_c_base + 1) / config_.pb_c_base));
    return q_scores[static_cast<size_t>(a)] +
           exploration * priors[static_cast<size_t>(a)] / (1 + visits);
  };
  const double best_score = score(best, NumVisits(*root_, best));
  std::vector<double> kept;
  for (int a = 0; a < static_cast<int>(legal_.size()); ++a) {
    int visits = NumVisits(*root_, a);
    if (a != best && visits > 0 && config_.forced_playouts > 0.0) {
      int removable = 0;
      while (IsAbove(ForcedVisits(a), removable + 1)) ++removable;
      for (; removable > 0 && visits > 0 && IsAbove(best_score, score(a, visits - 1));
           --removable) {
        --visits;
      }
      if (visits == 1) visits = 0;
    }
    kept.push_back(visits);
  }
  return kept;
}

std::vector<double> ReferenceSearch::ActionWeights() {
  if (config_.policy == SearchPolicy::kPuct) {
    std::vector<double> shares = PrunedVisits();
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= sum;
    return shares;
  }
  std::vector<double> logits = root_->outputs.logits;
  const auto q_scores = QScores(*root_, 0.0);
  for (size_t a = 0; a < logits.size(); ++a) logits[a] += q_scores[a];
  return SoftmaxOf(logits);
}

int ReferenceSearch::BestAction() {
  std::vector<double> scores(legal_.size(), kNever);
  const auto q_scores = QScores(*root_, 0.0);
  const auto& logits = root_->outputs.logits;
  const double peak = *std::max_element(logits.begin(), logits.end());
  int most = 0;
  for (const auto& [action, visits] : root_->action_visits) most = std::max(most, visits);
  for (size_t a = 0; a < scores.size(); ++a) {
    const int visits = NumVisits(*root_, static_cast<int>(a));
    if (config_.policy == SearchPolicy::kPuct) {
      scores[a] = visits;
    } else if (visits == most) {
      scores[a] = gumbel_[a] + logits[a] - peak + q_scores[a];
    }
  }
  return static_cast<int>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

}  // namespace lzero
