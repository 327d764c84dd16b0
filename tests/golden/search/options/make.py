"""Makes the golden trees of this folder with mctx in float64 (pip install mctx; CPU).

    python make.py FOLDER

Every search runs in a random model whose outputs depend on the path of actions alone and are
multiples of 1/1024. Meaning of the numbers: ../README.md.
"""
import functools
import json
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import mctx
import numpy as np

jax.config.update("jax_enable_x64", True)

SIBLINGS = dict(name="qtransform_by_parent_and_siblings", epsilon=1e-8)
COMPLETED = dict(name="qtransform_completed_by_mix_value", value_scale=0.1, maxvisit_init=50.0,
                 rescale_values=True, use_mixed_value=True, epsilon=1e-8)


def min_max(low, high):
    return dict(name="qtransform_by_min_max", min_value=low, max_value=high)


def round_off(x):
    return jnp.round(x * 1024) / 1024


def model_outputs(key, case):
    keys = jax.random.split(key, 4)
    scale = case.get("value_scale_model", 1.0)
    logits = round_off(jax.random.normal(keys[0], (case["num_actions"],)))
    value = round_off(scale * jax.random.uniform(keys[1], minval=-1, maxval=1))
    reward = round_off(scale * jax.random.uniform(keys[2], minval=-1, maxval=1))
    ended = jax.random.uniform(keys[3]) < case.get("terminal_prob", 0.0)
    return logits, value, reward, jnp.where(ended, 0.0, case.get("discount", 0.997))


def run(case):
    def recurrent(params, rng, action, path_keys):
        del params, rng
        path_keys = jax.vmap(jax.random.fold_in)(path_keys, action)
        logits, value, reward, discount = jax.vmap(lambda k: model_outputs(k, case))(path_keys)
        return mctx.RecurrentFnOutput(reward=reward, discount=discount, prior_logits=logits,
                                      value=value), path_keys

    root_key = jax.random.fold_in(jax.random.PRNGKey(case["seed"]), 12345)
    logits, value, _, _ = model_outputs(root_key, case)
    transform = dict(case["qtransform"])
    options = dict(
        params=(), rng_key=jax.random.PRNGKey(case["seed"] + 1), recurrent_fn=recurrent,
        root=mctx.RootFnOutput(prior_logits=logits[None], value=value[None],
                               embedding=root_key[None]),
        num_simulations=case["num_simulations"], max_depth=case.get("max_depth"),
        invalid_actions=jnp.array([case["invalid_actions"]]),
        qtransform=functools.partial(getattr(mctx, transform.pop("name")), **transform))
    if case["policy"] == "muzero_policy":
        output = mctx.muzero_policy(**options, dirichlet_fraction=case["dirichlet_fraction"],
                                    temperature=0.0)
    else:
        output = mctx.gumbel_muzero_policy(
            **options, max_num_considered_actions=case["max_num_considered_actions"],
            gumbel_scale=case["gumbel_scale"])
        case["root_gumbel"] = np.asarray(output.search_tree.extra_data.root_gumbel)[0].tolist()
    return logits, output


def describe(case):
    root_logits, output = run(case)
    tree = jax.tree_util.tree_map(lambda x: np.asarray(x)[0], output.search_tree)
    nodes, per_node, paths = [], [], {0: []}
    for i in range(case["num_simulations"] + 1):
        parent, action = int(tree.parents[i]), int(tree.action_from_parent[i])
        if i > 0 and int(tree.node_visits[i]) == 0:
            continue  # this simulation ended at the depth limit in a node that existed
        if i > 0:
            paths[i] = paths[parent] + [action]
        nodes.append(dict(
            path=paths[i],
            prior_logits=(root_logits if i == 0 else tree.children_prior_logits[i]).tolist(),
            value=float(tree.raw_values[i]),
            reward=float(tree.children_rewards[parent, action]) if i > 0 else 0.0,
            discount=float(tree.children_discounts[parent, action]) if i > 0 else 0.0))
        visits = tree.children_visits[i].tolist()
        q = tree.children_rewards[i] + tree.children_discounts[i] * tree.children_values[i]
        per_node.append(dict(
            path=paths[i], visit_counts=visits, node_visits=int(tree.node_visits[i]),
            raw_value=float(tree.raw_values[i]), search_value=float(tree.node_values[i]),
            qvalues=[float(v) if n > 0 else None for v, n in zip(q, visits)]))
    expected = dict(
        root_visit_counts=per_node[0]["visit_counts"], root_value=per_node[0]["search_value"],
        action=int(output.action[0]), action_weights=np.asarray(output.action_weights)[0].tolist(),
        root_prior_probs=np.asarray(jax.nn.softmax(tree.children_prior_logits[0])).tolist(),
        per_node=per_node)
    return dict(config=case, nodes=nodes, expected=expected)


def puct(name, actions, simulations, seed, qtransform=None, **rest):
    return dict(dict(name="puct_" + name, policy="muzero_policy", num_actions=actions,
                     num_simulations=simulations, seed=seed, qtransform=qtransform or SIBLINGS,
                     invalid_actions=[0] * actions, dirichlet_fraction=0.0, temperature=0.0,
                     pb_c_init=1.25, pb_c_base=19652.0), **rest)


def gumbel(name, actions, simulations, seed, qtransform=None, **rest):
    return dict(dict(name="gumbel_" + name, policy="gumbel_muzero_policy", num_actions=actions,
                     num_simulations=simulations, seed=seed, qtransform=qtransform or COMPLETED,
                     invalid_actions=[0] * actions, max_num_considered_actions=16,
                     gumbel_scale=0.0), **rest)


CASES = [
    puct("depth3", 4, 40, 1, max_depth=3),
    puct("depth1", 5, 20, 2, max_depth=1),
    gumbel("depth2", 5, 40, 3, max_depth=2),
    gumbel("norescale", 6, 32, 4, dict(COMPLETED, rescale_values=False, value_scale=0.05)),
    gumbel("nomixed", 6, 32, 5, dict(COMPLETED, use_mixed_value=False)),
    puct("completed", 6, 40, 6, COMPLETED, invalid_actions=[0, 1, 0, 0, 0, 1]),
    puct("minmax", 6, 40, 7, min_max(-5.0, 5.0), discount=-1.0, invalid_actions=[1, 0, 0, 0, 0, 0]),
    gumbel("minmax", 6, 40, 8, min_max(-2.0, 3.0), gumbel_scale=1.0),
    gumbel("siblings", 6, 40, 9, SIBLINGS, gumbel_scale=1.0, max_num_considered_actions=5),
    puct("dirichlet", 6, 40, 10, dirichlet_fraction=0.25, invalid_actions=[0, 0, 1, 0, 0, 0]),
    puct("a1", 1, 20, 11),
    gumbel("a1", 1, 20, 12),
    gumbel("considered1", 4, 20, 13, max_num_considered_actions=1),
    gumbel("few_simulations", 30, 10, 14, gumbel_scale=1.0),
    puct("one_legal", 5, 30, 17, invalid_actions=[1, 1, 0, 1, 1], terminal_prob=0.3),
    gumbel("one_legal", 5, 30, 18, invalid_actions=[1, 1, 0, 1, 1], terminal_prob=0.3),
]

if __name__ == "__main__":
    for tree in map(describe, CASES):
        with open(os.path.join(sys.argv[1], tree["config"]["name"] + ".json"), "w") as file:
            json.dump(tree, file)
            file.write("\n")
