#!/usr/bin/env python3
"""Every native environment, shown as text, PNG files and a GIF: files that another reader understands, with the
same pictures in both; what a user can get wrong; and an agent's episodes as a GIF.

    render_test.py LZERO FOLDER
"""
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from pictures import Gif, read_png
from program import ROOT, Program

STEPS = 3
COUNTING = ROOT / "configs/teaching/counting_unizero.yaml"

# (what, exit code, parts, arguments behind `envs rollout`)
WRONG = [
    ("an unknown format", 2, ["--render: got 'jpeg', allowed: text, png, gif"], ["catch", "--render", "jpeg"]),
    ("no format", 2, ["error: envs rollout: --render needs a value"], ["catch", "--render"]),
    ("a scale of 0", 2, ["error: envs rollout: --scale: got '0', allowed: an integer from 1 to 16"],
     ["catch", "--render", "gif", "--scale", "0"]),
    ("no pictures a second", 2, ["error: envs rollout: --fps: got '0', allowed: an integer from 1 to 50"],
     ["catch", "--render", "gif", "--fps", "0"]),
    ("pictures a second of a trace", 2, ["error: --fps is of an animation; add --render gif"],
     ["catch", "--fps", "5"]),
    ("a scale of text", 2, ["error: --scale is of pictures; add --render gif or --render png"],
     ["catch", "--render", "text", "--scale", "2"]),
    ("too many steps", 2, ["error: 6000 steps are to be played; allowed with --render: 1 to 5000"],
     ["catch", "--render", "gif", "--steps", "6000"]),
    ("no folder for a gif", 2, ["error: cannot create nowhere/a.gif: no folder nowhere"],
     ["catch", "--render", "gif", "--out", "nowhere/a.gif"]),
    ("a picture for a folder", 2, ["--out: got 'a.png', allowed with --render png: a folder"],
     ["catch", "--render", "png", "--out", "a.png"]),
    ("a folder with pictures", 2, ["--out: folder catch_frames holds frame_0000.png already"],
     ["catch", "--render", "png"]),
    ("a folder for a gif", 2, ["error: --out: 'catch_frames' is a folder; allowed with --render gif: a file"],
     ["catch", "--render", "gif", "--out", "catch_frames"]),
    ("a disk that is full", 1, ["error: cannot write /dev/full: No space left on device"],
     ["catch", "--render", "gif", "--out", "/dev/full"]),
    ("an action that is none", 2, ["error: action number 1: action 7 is out of range"],
     ["catch", "--render", "gif", "--actions", "seven.txt", "--out", "seven.gif"]),
]


def native_ids(program):
    _, listed = program.output("envs", "list")
    ids = [line.split()[0] for line in listed.splitlines()]
    return [name for name in ids if name[-1] not in ":/"]


def wrong_with(folder, name, text):
    """What is wrong with the files of one environment; "" when nothing is."""
    stem = "".join(c if c.isalnum() or c in ".-" else "_" for c in name)
    pngs = sorted((folder / f"{stem}_frames").glob("*.png"))
    gif = Gif((folder / f"{stem}.gif").read_bytes())
    if [path.name for path in pngs] != [f"frame_{i:04d}.png" for i in range(len(pngs))]:
        return f"names {[path.name for path in pngs]}"
    starts = text.count("episode ")
    if not STEPS < len(pngs) == len(gif.frames) == STEPS + starts:
        return f"{len(pngs)} PNG files, {len(gif.frames)} frames, {starts} episodes"
    if gif.loops != 0:
        return f"loops {gif.loops}"
    for i in (0, len(pngs) - 1):  # exact: no environment of ours has more than 256 colors
        if read_png(pngs[i].read_bytes()) != (gif.width, gif.height, gif.frames[i][1]):
            return f"frame {i} of the GIF is not that of the PNG"
    if text.count(", action ") != STEPS or len(text.splitlines()) < 3 * len(pngs):
        return f"text:\n{text}"
    return ""


def check_every_environment(program, folder):
    names = native_ids(program)
    program.check("there are many", 0, str(names), 0, "'catch'", "'tictactoe'", "'minigrid/empty'")

    def show(what):
        return program.run("envs", "rollout", what[0], "--render", what[1], "--steps", STEPS)

    asked = [(name, form) for name in names for form in ("text", "gif", "png")]
    with ThreadPoolExecutor(max_workers=2) as pool:
        shown = dict(zip(asked, pool.map(show, asked)))
    for name in names:
        code, text = shown[name, "text"]
        program.check(f"{name} as text", code, text, 0, "episode 0, seed 0\n", "step 1, action ")
        for form in ("gif", "png"):
            code, printed = shown[name, form]
            program.check(f"{name} as {form}", code, printed, 0, f"{name}: {STEPS} steps, ", "written to ")
        try:
            wrong = wrong_with(folder, name, text)
        except (AssertionError, OSError) as error:
            wrong = repr(error)
        program.check(f"{name}: the files", 1 if wrong else 0, wrong, 0)


def check_options(program, folder):
    program.expect("fps and scale", 0, ["written to big.gif (10 pictures of 240 x 480 pixels, "], "envs", "rollout",
                   "catch", "--render", "gif", "--steps", "9", "--fps", "20", "--scale", "2", "--out", "big.gif")
    gif = Gif((folder / "big.gif").read_bytes())
    delays = [delay for delay, _ in gif.frames]
    program.check("delays", 0, str(delays), 0, str([50] * 9 + [550]))
    (folder / "moves.txt").write_text("2 2\n0\n")
    code, printed = program.run("envs", "rollout", "catch", "--render", "text", "--actions", "moves.txt")
    program.check("actions of a file", code, printed, 0, "step 3, action 0, reward 0, return 0\n")
    program.expect("a trace as ever", 0, ['{"type":"meta","env":"catch"'], "envs", "rollout", "catch", "--steps", "2")
    # A gif may go where no file is made of it.
    program.expect("a gif into a pipe", 0, ["GIF89a"], "envs", "rollout", "catch", "--render", "gif", "--steps", "2",
                   "--out", "/dev/stdout")


def check_interrupt(program, folder):
    """Whoever is stopped while it plays leaves whole files or none."""
    command = [program.lzero, "envs", "rollout", "go", "--steps", "5000", "--render"]
    playing = [subprocess.Popen([*command, form, "--out", out], cwd=folder, stdout=subprocess.DEVNULL)
               for form, out in (("png", "cut_frames"), ("gif", "cut.gif"))]
    limit = time.monotonic() + 30
    while len(list(folder.glob("cut_frames/*.png"))) < 5 and time.monotonic() < limit:
        time.sleep(0.01)
    for process in playing:
        process.send_signal(signal.SIGINT)
    codes = [process.wait(timeout=30) for process in playing]
    program.check("interrupted", 0, str(codes), 0, "[-2, ")
    torn = [path.name for path in folder.glob("cut_frames/*.png") if path.read_bytes()[-8:-4] != b"IEND"]
    program.check("every PNG is whole", len(torn), str(torn), 0)
    if codes[1] != 0:
        program.check("no gif", 1 if (folder / "cut.gif").exists() else 0, "", 0)


def check_agent(program, folder):
    program.expect("a run", 0, ["run folder"], "train", COUNTING, "stop.max_env_steps=100", "train.start_env_steps=50",
                   "evaluate.every_updates=0", "--run-dir", "run")
    code, printed = program.run("eval", "run", "--episodes", "2", "--render", "gif")
    program.check("an agent as a gif", code, printed, 0, "return        mean ", "pictures      counting.gif (",
                  ", episodes: all 2\n")
    # Every step of every episode, and its first state.
    length = float(re.search(r"episodes      2, mean length ([0-9.]+)", printed).group(1))
    num_pictures = int(re.search(r"counting.gif \(([0-9]+) pictures", printed).group(1))
    program.check("all episodes are shown", 0, str(num_pictures - 2), 0, str(int(2 * length)))
    plain = program.run("eval", "run", "--episodes", "2")[1]
    program.check("they are those of every evaluation", 0, plain, 0, *re.findall("return        mean .*", printed))
    program.expect("more episodes than pictures", 0, [" of 4000, then it is full"], "eval", "run", "--episodes", "4000",
                   "--render", "gif", "--out", "long.gif")
    code, printed = program.run("eval", "run", "--episodes", "100000", "--render", "gif", "--out", "/proc/a.gif")
    program.check("a folder that cannot be written", code, printed, 1, "error: cannot create /proc/a.gif.tmp: ")
    program.check("which is told before anything is played", int("mean return" in printed), printed, 0)
    program.expect("a folder as the animation", 2, ["--out: '.' is a folder; allowed with --render gif: a file"], "eval",
                   "run", "--render", "gif", "--out", ".")
    gif = Gif((folder / "counting.gif").read_bytes())
    program.check("its frames", 0, str((gif.width, gif.height, gif.loops)), 0, "(240, 88, 0)")
    code, printed = program.output("eval", "run", "--episodes", "1", "--render", "gif", "--out", "other.gif", "--scale",
                                   "2", "--json")
    program.check("beside JSON", code, printed, 0, '{"checkpoint":')
    program.check("JSON alone", printed.count("\n"), printed, 1)
    program.check("its scale", 0, str(Gif((folder / "other.gif").read_bytes()).width), 0, "480")
    program.expect("no folder for it", 2, ["error: cannot create nowhere/a.gif: no folder nowhere"], "eval", "run",
                   "--render", "gif", "--out", "nowhere/a.gif")
    program.expect("a file of no gif", 2, ["error: --out is the file of an animation; add --render gif"], "eval", "run",
                   "--out", "a.gif")
    program.expect("PNG files of an agent", 2, ["--render: got 'png', allowed: text, gif"], "eval", "run", "--render",
                   "png")


def main():
    lzero, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    program = Program(lzero, folder)
    check_every_environment(program, folder)
    check_options(program, folder)
    (folder / "seven.txt").write_text("7\n")
    for what, code, parts, arguments in WRONG:
        program.expect(what, code, parts, "envs", "rollout", *arguments)
    left = sorted(path.name for path in folder.glob("seven.gif*")) + sorted(path.name for path in folder.glob("*.tmp"))
    program.check("what was refused left nothing", len(left), str(left), 0)
    check_interrupt(program, folder)
    check_agent(program, folder)
    program.finish()


if __name__ == "__main__":
    main()
