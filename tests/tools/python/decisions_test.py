"""An agent driven from Python plays as `lzero eval` does: equal returns and lengths, to the last bit."""
import sys

import package_testing
import lzero_cpp
import numpy as np


def play(agent, make, seeds, num_envs, needs_state):
    """What an evaluation does: `num_envs` environments, one episode a seed, one search for those that
    play. Returns returns [n], lengths [n]."""
    envs = [make() for _ in range(num_envs)]
    returns, lengths = np.zeros(len(seeds)), np.zeros(len(seeds), np.int64)
    last, episode, active, waiting = {}, {}, [], list(range(len(seeds)))

    def begin(i):
        episode[i] = waiting.pop(0)
        last[i] = envs[i].reset(seed=int(seeds[episode[i]]))
        agent.reset([i])

    agent.reset()
    for i in range(min(num_envs, len(seeds))):
        active.append(i)
        begin(i)
    while active:
        legal = None if agent.spec.action_dim else [last[i][1]["action_mask"] for i in active]
        decision = agent.act_batch([last[i][0] for i in active], active, legal,
                                   to_play=[last[i][1]["to_play"] for i in active],
                                   states=[envs[i].save() for i in active] if needs_state else None)
        still_active = []
        for i, action in zip(active, decision.actions):
            obs, _, terminated, truncated, told = envs[i].step(action)
            last[i] = obs, told
            number = episode[i]
            lengths[number] += 1
            returns[number] = told["episode_return"]
            if terminated or truncated:
                if not waiting:
                    continue
                begin(i)
            still_active.append(i)
        active = still_active
    for env in envs:
        env.close()
    return returns, lengths


def check_equal(name, run, episodes, num_envs, num_decisions):
    expected = lzero_cpp.evaluate(run, seeds=range(100, 100 + episodes))
    with lzero_cpp.load(run) as agent:
        needs_state = agent.facts["needs_state"]
        returns, lengths = play(agent, lzero_cpp.Run(run).make, expected.seeds, num_envs, needs_state)
    print(f"{name}: {lengths.sum()} decisions, mean return {returns.mean():.3f}")
    assert lengths.sum() >= num_decisions, lengths.sum()
    assert returns.tolist() == expected.returns.tolist(), (returns, expected.returns)
    assert lengths.tolist() == expected.lengths.tolist(), (lengths, expected.lengths)


def check_one_by_one(run, episodes):
    """`act` and `predict` alone, an episode after another: discrete actions draw nothing."""
    expected = lzero_cpp.evaluate(run, seeds=range(100, 100 + episodes))
    env = lzero_cpp.Run(run).make()
    with lzero_cpp.load(run) as agent:
        for use_predict in (False, True):
            returns = []
            for seed in expected.seeds:
                obs, told = env.reset(seed=int(seed))
                agent.reset(0)
                ended, state = False, None
                while not ended:
                    if use_predict:
                        action, state = agent.predict(obs, state)
                    else:
                        action = agent.act(obs)
                        if told["episode_return"] % 7 == 0:
                            agent.search(obs, id=0)  # which must not matter
                    obs, _, terminated, truncated, told = env.step(action)
                    ended = terminated or truncated
                returns.append(told["episode_return"])
            assert returns == expected.returns.tolist(), (use_predict, returns, expected.returns)
    env.close()


def check_sampled_trees(swing):
    """The nodes of a tree tell the actions of the environment that their slots stand for."""
    slots = package_testing.train("slots", "teaching/counting_unizero", "stop.max_env_steps=200", "search.num_sampled_actions=2")
    for run, obs in ((slots, np.eye(11)[0]), (swing, np.zeros(3))):
        with lzero_cpp.load(run) as agent:
            tree = agent.search(obs)
        children = np.flatnonzero(tree.parent == 0)
        assert (tree.decision.visits[0, tree.action[children]] == tree.visits[children]).all(), tree
        assert tree.decision.visits.sum() == tree.visits[children].sum()
    values = tree.action_values
    assert values[0] == 0 and (values[children] == tree.decision.sampled[0, tree.action[children]]).all(), tree
    below = np.flatnonzero(tree.parent > 0)
    assert below.size > 0 and (np.abs(values[1:]) <= 2).all() and len(set(values[:, 0])) == len(values), values
    assert (tree.columns()["action_0"] == values[:, 0]).all()


def main():
    pole = package_testing.train("pole", "classic/cartpole_unizero", "stop.max_env_steps=600", "env.num_evaluators=8",
                                 "stop.target_return=null", "search.num_simulations=8")
    check_equal("cartpole", pole, 20, 8, 1000)
    check_one_by_one(pole, 2)
    swing = package_testing.train("swing", "classic/pendulum_unizero", "stop.max_env_steps=300", "train.start_env_steps=200",
                                  "env.num_evaluators=3", "stop.target_return=null", "search.num_simulations=4",
                                  "evaluate.every_updates=0")
    check_equal("pendulum", swing, 6, 3, 1000)
    check_sampled_trees(swing)
    board = package_testing.train("board", "boards/tictactoe_alphazero", "stop.max_env_steps=200", "train.start_env_steps=100",
                                  "env.num_evaluators=16", "evaluate.every_updates=0", "search.num_simulations=8")
    check_equal("tictactoe", board, 210, 16, 1000)
    print("equal")
    sys.exit(0)


if __name__ == "__main__":
    main()
