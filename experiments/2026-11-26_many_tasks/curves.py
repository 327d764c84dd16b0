# curves.py: curves.svg from the *.jsonl of this folder and the configs; needs PyYAML. Normalised score of each
# evaluation over the share of the task's env steps; a colour a kind of run, a line a seed.
import collections, json, pathlib, yaml

HERE = pathlib.Path(__file__).parent
CONFIGS = HERE / "../../configs/multitask"
COLORS = {"together": "#1f5fbf", "alone": "#999", "fresh": "#999", "warm": "#1f5fbf", "adapters": "#d9701a"}


def tasks_of(name):
    config = yaml.safe_load((CONFIGS / name).read_text())
    return {task["name"]: {"score": config.get("score"), "stop": config.get("stop"), **task} for task in config["tasks"]}


def rows_of(name):
    path = HERE / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def score_of(row, task):
    measured = row["eval/grade"] if task["score"].get("measure") == "grade" else row["eval/return_mean"]
    return (measured - task["score"]["random"]) / (task["score"]["expert"] - task["score"]["random"])


def of_many(name, tasks):
    """Lines of runs of several tasks, which end at the same time."""
    lines = collections.defaultdict(list)
    total = sum(task["stop"]["max_env_steps"] for task in tasks.values())
    for row in rows_of(name):
        for task in tasks:
            if f"task/{task}/score" in row:
                lines[task, "together", row["run"]].append((row["env_steps"] / total, row[f"task/{task}/score"]))
    return lines


def of_one(name, tasks, kind_of):
    lines = collections.defaultdict(list)
    for row in rows_of(name):
        task = next((task for task in sorted(tasks, key=len, reverse=True) if row["run"].startswith(task + "_")), None)
        if task is not None and ("eval/return_mean" in row):
            lines[task, kind_of(row["run"]), row["run"]].append(
                (row["env_steps"] / tasks[task]["stop"]["max_env_steps"], score_of(row, tasks[task])))
    return lines


def panel(task, steps, lines, left, top):
    x, y = lambda share: left + 34 + 180 * min(share, 1), lambda score: top + 130 - 95 * max(-0.15, min(score, 1.15))
    out = [f'<text x="{left + 34}" y="{top + 12}" font-weight="bold">{task}</text>'
           f'<text x="{left + 214}" y="{top + 12}" text-anchor="end">{steps:,} steps</text>',
           f'<rect x="{left + 34}" y="{top + 18}" width="180" height="127" fill="none" stroke="#bbb"/>']
    for mark in (0, 1):
        out.append(f'<path d="M{left + 34} {y(mark):.1f}h180" stroke="#ddd"/><text x="{left + 30}" y="{y(mark) + 4:.1f}" text-anchor="end">{mark}</text>')
    for (kind, _), points in lines:
        path = "L".join(f"{x(share):.1f} {y(score):.1f}" for share, score in points)
        out.append(f'<path d="M{path}" fill="none" stroke="{COLORS[kind]}" stroke-width="1.2"/>')
    return "\n".join(out)


def main():
    suite, held_out, control = tasks_of("suite_unizero.yaml"), tasks_of("held_out_unizero.yaml"), tasks_of("dmc6_unizero.yaml")
    held_out.pop("wide_catch")
    rows = [(suite, {**of_one("alone.jsonl", suite, lambda run: "alone"), **of_many("suite.jsonl", suite)}),
            (held_out, of_one("transfer.jsonl", held_out, lambda run: run.split("_")[-2])),
            (control, {**of_one("control_alone.jsonl", control, lambda run: "alone"), **of_many("control.jsonl", control)})]
    panels = [(task, tasks[task]["stop"]["max_env_steps"],
               [(key[1:], points) for key, points in lines.items() if key[0] == task])
              for tasks, lines in rows if lines for task in tasks]
    drawn = [panel(*each, 225 * (i % 4), 30 + 165 * (i // 4)) for i, each in enumerate(panels)]
    words = "one model of all tasks, or started from it: blue; the task alone, or fresh: grey; frozen with adapters: orange"
    height = 35 + 165 * -(-len(panels) // 4)
    (HERE / "curves.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="910" height="{height}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="910" height="{height}" fill="#fff"/>\n<text x="34" y="20">{words}</text>\n' + "\n".join(drawn) + "\n</svg>\n")


main()
