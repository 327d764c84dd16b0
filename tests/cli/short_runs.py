"""Short training runs for the tests of what is done with finished runs."""
from program import ROOT

COUNTING = "configs/teaching/counting_unizero.yaml"
SHORT = {"stop.max_env_steps": 150, "train.start_env_steps": 50, "search.num_simulations": 2, "train.batch_size": 8,
         "evaluate.every_updates": 20, "evaluate.episodes": 4, "env.num_evaluators": 4, "stop.target_return": "null"}


def settings(**others):
    """The words of a short run's settings; in `others` __ stands for the point of a key."""
    return [f"{key}={value}" for key, value in
            (SHORT | {key.replace("__", "."): value for key, value in others.items()}).items()]


def train(program, run, config=COUNTING, **others):
    program.expect(f"train {run}", 0, ["run folder"], "train", ROOT / config, *settings(**others), "--run-dir", run)


def mean_returns(run):
    """{env steps: mean return} of a run's evaluations, from their episodes."""
    means = {}
    for table in sorted((run / "eval").glob("step_*/episodes.csv")):
        rows = [line.split(",") for line in table.read_text().splitlines()[1:]]
        means[int(table.parent.name.removeprefix("step_"))] = sum(float(row[2]) for row in rows) / len(rows)
    return means
