#include "lzero/config/experiment_config.h"

namespace lzero {
namespace {

void VisitWorkers(FieldVisitor& visitor, EnvConfig& env) {
  visitor.Int({"num_workers",
               "Processes that the Python environments of a role are shared among; 0: one for each "
               "core, no more than environments; changes no result",
               "processes"},
              &env.num_workers, {0, 1024});
  visitor.Int({"max_restarts",
               "Times that a worker process may die and be started again before the run stops; the "
               "episodes it was playing are truncated",
               "restarts"},
              &env.max_restarts, {0, 1000000});
  visitor.Float({"step_timeout_s",
                 "A worker process that answers no message for so long is ended, as if it had died",
                 "seconds"},
                &env.step_timeout_s, {0, 86400, true});
  visitor.Text({"python",
                "Interpreter of Python environments; auto: that of tools/setup.sh --python-envs, "
                "else python3"},
               &env.python);
}

}  // namespace

void EnvConfig::Visit(FieldVisitor& visitor) {
  visitor.BeginSection("env", "The environment, and how many copies of it run.");
  visitor.Text({"id", "Name of the environment, see: lzero envs list"}, &id);
  visitor.Int(
      {"board_size", "Rows and columns of a square board; 0: what the environment says", "squares"},
      &board_size, {0, 1000});
  visitor.TextMap({"settings", "Settings of this environment alone, see: lzero envs info ID"},
                  &settings);
  visitor.Int(
      {"max_episode_steps",
       "Episodes are truncated after this many steps; 0: what the environment says", "steps"},
      &max_episode_steps, {0, 1e9});
  visitor.Int(
      {"num_collectors", "Environments that collect together, one row of the search batch each",
       "environments", kCartPole},
      &num_collectors, {1, 4096});
  visitor.Int({"num_evaluators", "Environments that evaluate together", "environments", kPrototype},
              &num_evaluators, {1, 4096});
  visitor.Int(
      {"num_threads", "Threads that step the environments of a role together; changes no result",
       "threads"},
      &num_threads, {1, 1024});
  visitor.Float({"random_opening_fraction",
                 "Share of collected episodes that begin with uniformly random legal moves", "",
                 "prototype runs on TicTacToe"},
                &random_opening_fraction, kFraction);
  visitor.Int(
      {"random_opening_plies", "Longest random opening; its length is uniform from 1 to this",
       "moves", "prototype runs on TicTacToe"},
      &random_opening_plies, {1, 10000});
  VisitWorkers(visitor, *this);
  visitor.EndSection();
}

}  // namespace lzero
