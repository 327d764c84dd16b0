# keep.py OUT RUN...: the lines of runs' metrics with evaluations, less everything but scores and counts, a run after another
import json, pathlib, sys
with open(sys.argv[1], "w") as out:
    for run in sys.argv[2:]:
        for line in open(run + "/metrics.jsonl"):
            m = json.loads(line)
            if not any(k.endswith("eval/return_mean") for k in m): continue
            keep = {k: (round(v, 4) if isinstance(v, float) else v) for k, v in m.items()
                    if k in ("env_steps", "updates") or k.startswith("score/") or
                    k.endswith(("/score", "eval/return_mean", "eval/grade")) or
                    (k.startswith("task/") and k.split("/", 2)[2] in ("env_steps", "updates"))}
            out.write(json.dumps({"run": pathlib.Path(run).name, **keep}, separators=(",", ":")) + "\n")
