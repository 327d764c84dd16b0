# ratio.py RUN: largest |updates - ratio x steps counted| of each task over all lines of its metrics. Counted are the
# steps after train.start_env_steps, but for the last round's, whose updates are made beside the next round.
import json
import sys

import yaml
run = sys.argv[1]
config = yaml.safe_load(open(run + "/config.resolved.yaml"))
def of(task, key, default):
    return task.get("train", {}).get(key, config.get("train", {}).get(key, default))
worst = {}
for line in open(run + "/metrics.jsonl"):
    m = json.loads(line)
    for t in config["tasks"]:
        name = t["name"]
        if f"task/{name}/updates" not in m: continue
        rnd = 8 * of(t, "steps_per_round", 1)
        steps = m[f"task/{name}/env_steps"] - rnd - of(t, "start_env_steps", 500)
        off = abs(m[f"task/{name}/updates"] - max(0, of(t, "updates_per_env_step", 0.25) * steps))
        worst[name] = max(worst.get(name, 0), off)
print(run, {k: round(v, 2) for k, v in worst.items()})
