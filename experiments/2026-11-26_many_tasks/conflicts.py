# conflicts.py RUN...: mean cosine of the gradients of shared parts for each pair of tasks, and the share of lines below 0
import collections, json, sys
cosines = collections.defaultdict(list)
for run in sys.argv[1:]:
    for line in open(run + "/metrics.jsonl"):
        for key, value in json.loads(line).items():
            if key.startswith("conflict/") and key.count("/") == 2: cosines[key[9:]].append(value)
print("pair,mean cosine,share below 0,lines")
for pair, values in sorted(cosines.items()):
    print(f"{pair},{sum(values) / len(values):.4f},{sum(v < 0 for v in values) / len(values):.2f},{len(values)}")
