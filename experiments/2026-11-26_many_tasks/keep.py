# keep.py RUN OUT: the lines of a run's metrics with evaluations, less everything but scores and counts
import json
import sys
with open(sys.argv[2], "w") as out:
    for line in open(sys.argv[1] + "/metrics.jsonl"):
        m = json.loads(line)
        if not any(k.endswith("eval/return_mean") for k in m): continue
        keep = {k: (round(v, 4) if isinstance(v, float) else v) for k, v in m.items()
                if k in ("env_steps", "updates") or k.startswith("score/") or
                k.endswith(("/score", "eval/return_mean", "eval/grade")) or
                (k.startswith("task/") and k.split("/", 2)[2] in ("env_steps", "updates"))}
        out.write(json.dumps(keep, separators=(",", ":")) + "\n")
