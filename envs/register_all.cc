#include "envs/register_all.h"

#include <memory>

#include "envs/cartpole.h"
#include "envs/catch.h"
#include "envs/counting.h"
#include "envs/tictactoe.h"
#include "envs/tictactoe_solver.h"

namespace lzero {

void RegisterAllEnvs(EnvRegistry& registry) {
  registry.Register(
      {"counting", "toy: count to 10 by choosing the right one of 3 actions", Counting::Create});
  registry.Register({"catch", "catch a falling ball on a 10x5 board (bsuite)", Catch::Create});
  registry.Register(
      {"cartpole", "balance a pole on a cart (Gymnasium CartPole-v1), cap 500", CartPole::Create});
  registry.Register({"tictactoe", "TicTacToe, two players, optional random openings",
                     TicTacToe::Create, [] { return std::make_unique<TicTacToeGrader>(); }});
}

}  // namespace lzero
