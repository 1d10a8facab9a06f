#!/usr/bin/env python3
"""Counts the instructions of each hot path with callgrind, and compares them with those in instructions.json.

No time is taken, so it does not matter what else the machine does. Each path is counted from the end of the start, with N and
with 2 N requests (or edits, looks, files), and the difference is taken: what the end costs drops out. The server has one thread of each kind, because
threads that look for work in vain would be counted too, and always the same randomness (seed.c), because the layout of hash
maps is worth some per cent. What still differs, by when threads happen to be woken, is in the tolerance of each path.

Callgrind's processor is a plain one: it has no instructions for SHA-256, so that the portable code is counted.

The counts hold for the compiler, the processor's kind and the libraries that are written down with them. Where one of those is
another, nothing is compared. Under CI=true that is a failure, so that somebody records them anew.

Exit codes: 0 all within the tolerance, or nothing to compare; 1 a path takes more, or nothing was compared under CI=true.
"""
import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import common

BASELINE = common.HERE / "instructions.json"
SKILLS, FILES, LENGTH = 40, 10, 9728
REQUESTS, PAGES, EDITS, LOOKS = 200, 20, 80, 10
# The name of the file that a profile is written to, where there is to be one.
PROFILE = "callgrind.out"
# Files that are younger may be read twice at the start.
YOUNG_SECONDS = 3
# How often a path that takes more is measured in all, before that is believed.
TRIES = 3
EDIT_PAUSE_SECONDS = 0.1
ENVIRONMENT = {"TOKIO_WORKER_THREADS": "1", "RAYON_NUM_THREADS": "1", "PATH": os.environ["PATH"]}
# A look that comes by itself would be counted with what is going on.
STDIO = ["stdio", "-q", "--no-watch"]
HTTP = ["http", "-q", "--no-watch", "--listen", "127.0.0.1:0"]
# What decides between the ways that memory is copied and searched and that digests are made.
PROCESSOR_FLAGS = ("sse4_2", "avx2")
# What a path may differ by at least, however little the recorded runs differed: other machines of the same kind copy memory
# in other steps. A path that is made twice as dear by mistake is far beyond it.
TOLERANCE_MIN = 0.1


class Told(common.Pipe):
    """A server over pipes that says on stderr what it does."""

    def __init__(self, command, **options):
        super().__init__(command, stderr=subprocess.PIPE, **options)

    def wait_for(self, word):
        for line in self.process.stderr:
            if word.encode() in line:
                return
        sys.exit("the server ended")


class Kept(common.Web):
    """A server over HTTP that is spoken to over one connection."""

    connection = None

    def exchange(self, body):
        self.connection = self.connection or http.client.HTTPConnection(self.address, timeout=120)
        self.connection.request("POST", "/mcp", json.dumps(body), common.headers(body))
        return self.connection.getresponse().read()

    def __exit__(self, *problem):
        self.connection.close()
        super().__exit__(*problem)


def seed(work):
    """The library that fixes randomness."""
    library = pathlib.Path(work, "seed.so")
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=work) as made:
            subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{made}/seed.so", common.HERE / "seed.c"], check=True)
            os.replace(f"{made}/seed.so", library)
    return str(library)


def count(work, kind, arguments, drive=None, settle=lambda server: None):
    """Runs the server under callgrind, and gives how many instructions it took: in all, or while `drive` speaks to it, after
    `settle` has seen the end of its start. A start differs by more than some paths take. If there is to be a profile, the same
    is in it."""
    profile = pathlib.Path(work, PROFILE)
    waits = ["--instr-atstart=no"] if drive else []
    with tempfile.NamedTemporaryFile("r", dir=work, suffix=".log") as log:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile if profile.exists() else '/dev/null'}",
                   f"--log-file={log.name}", *waits, common.server(), *arguments]
        with kind(command, env={**ENVIRONMENT, "LD_PRELOAD": seed(work)}) as server:
            server.ask("skills/get", uri=common.skill_uri(0))
            if drive:
                settle(server)
                subprocess.run(["callgrind_control", "--instr=on", str(server.pid)], check=True, capture_output=True)
                drive(server)
        found = re.search(r"Collected : (\d+)", log.read())
    return int(found[1]) if found else sys.exit(f"callgrind counted nothing: {command}")


def build(work, trees, times):
    """A start over so many times as many files, to the whole catalog."""
    return count(work, common.Pipe, [*STDIO, trees[times]])


def look(work, trees, times):
    """Looks at everything that find nothing new."""
    def drive(server):
        for _ in range(LOOKS * times):
            server.process.send_signal(signal.SIGHUP)
            server.wait_for("debug: looked")
    return count(work, Told, ["stdio", "-v", "--no-watch", trees[1]], drive, lambda server: server.wait_for("debug: looked"))


def edit(work, trees, times):
    """Edits of the same skill, each until a subscriber is told. Others would be read again while they are young."""
    root, aside = (pathlib.Path(tempfile.mkdtemp(dir=work)) for _ in range(2))
    shutil.copytree(trees[1], root, dirs_exist_ok=True)
    time.sleep(YOUNG_SECONDS)

    def settle(server):
        # It looks once more for what happened before it watched.
        server.wait_for("debug: looked")
        server.wait_for("debug: looked")
        server.send("subscriptions/listen", notifications={"resourcesListChanged": True})
        server.receive()

    def drive(server):
        for at in range(EDITS * times):
            # Put in its place at once, so that it is one change.
            edited = aside / "SKILL.md"
            edited.write_bytes(common.skill_md(0, f"edit {at:03}\n"))
            edited.rename(root / common.skill_path(0) / "SKILL.md")
            server.receive()
            server.wait_for("debug: looked")
            # Whatever the edit still causes is its own, and nothing of it falls together with the next.
            time.sleep(EDIT_PAUSE_SECONDS)
    return count(work, Told, ["stdio", "-v", root], drive, settle)


def asking(kind, arguments, method, number, parameters):
    """So many requests, one after the other."""
    def run(work, trees, times):
        def drive(server):
            for at in range(number * times):
                server.ask(method, **parameters(at % SKILLS))
        return count(work, kind, [*arguments, trees[1]], drive)
    return number, run


def paths():
    """Each path: how many units are in it, and how it is counted at so many times as many."""
    found = {"catalog built, a file": (SKILLS * FILES, build), "look that finds nothing": (LOOKS, look), "edit": (EDITS, edit)}
    transports = {"stdio": (common.Pipe, STDIO), "http": (Kept, HTTP)}
    methods = {"skills/get": (REQUESTS, lambda n: {"uri": common.skill_uri(n)}),
               "resources/read, 10 KiB": (REQUESTS, lambda n: {"uri": common.skill_uri(n, "references/file-0.md")}),
               "resources/directory/read": (REQUESTS, lambda n: {"uri": common.skill_uri(n, "references")}),
               f"skills/list, {SKILLS} skills": (PAGES, lambda n: {})}
    for transport, (kind, arguments) in transports.items():
        for name, (number, parameters) in methods.items():
            found[f"{name}, {transport}"] = asking(kind, arguments, name.split(",")[0], number, parameters)
    return found


@contextlib.contextmanager
def make_trees():
    """A directory to work in, and in it a tree, and one of twice as many skills."""
    with tempfile.TemporaryDirectory() as work:
        trees = {times: pathlib.Path(work, f"tree-{times}") for times in (1, 2)}
        for times, root in trees.items():
            common.make(root, SKILLS * times, FILES, LENGTH)
        time.sleep(YOUNG_SECONDS)
        yield work, trees


def profile(name):
    """Writes a profile of one path."""
    if name not in paths():
        sys.exit(f"the paths are: {'; '.join(paths())}")
    with make_trees() as (work, trees):
        pathlib.Path(work, PROFILE).touch()
        paths()[name][1](work, trees, 1)
        shutil.copy(pathlib.Path(work, PROFILE), PROFILE)
    print(f"Read it with: callgrind_annotate --inclusive=yes {PROFILE}")
    return 0


def measure(names=None):
    """Instructions a unit, by path: of all, or of these. As many runs at a time as there are processors."""
    these = {name: path for name, path in paths().items() if names is None or name in names}
    with make_trees() as (work, trees), concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {(name, times): pool.submit(run, work, trees, times)
                for name, (_, run) in these.items() for times in (1, 2)}
        return {name: round((runs[name, 2].result() - runs[name, 1].result()) / number)
                for name, (number, _) in these.items()}


def environment():
    """What the counts depend on beside the code."""
    say = lambda *command: subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    about = dict(line.split(": ", 1) for line in say("rustc", "-vV").splitlines() if ": " in line)
    flags = next((line.split() for line in open("/proc/cpuinfo") if line.startswith("flags")), [])
    return {"rustc": about["release"], "target": about["host"], "valgrind": say("valgrind", "--version"),
            "libc": " ".join(platform.libc_ver()), "processor": [flag for flag in PROCESSOR_FLAGS if flag in flags]}


def record(runs):
    """Writes the medians of several runs, and for each path a tolerance of 1.5 times what they differ by."""
    measured = [measure() for _ in range(runs)]
    counts = {}
    for name in measured[0]:
        values = [each[name] for each in measured]
        middle = round(statistics.median(values))
        spread = (max(values) - min(values)) / middle
        print(f"  {name}: {middle:,} ({min(values):,}–{max(values):,}, {spread:.2%})")
        counts[name] = {"instructions": middle, "tolerance": round(max(TOLERANCE_MIN, 1.5 * spread), 3)}
    BASELINE.write_text(json.dumps({"environment": environment(), "paths": counts}, indent=2) + "\n")
    print(f"{len(counts)} paths recorded")
    return 0


def nothing(why):
    print(f"NOTHING COMPARED, {why}")
    return 1 if os.environ.get("CI") == "true" else 0


def compare():
    if not shutil.which("valgrind"):
        return nothing("valgrind is missing: install it")
    baseline = json.loads(BASELINE.read_text())
    others = [f"{name} is {value}, not {baseline['environment'].get(name)}"
              for name, value in environment().items() if value != baseline["environment"].get(name)]
    if others:
        return nothing(f"{'; '.join(others)}: record the counts of this machine with --record")
    measured, failures, better = measure(), [], []
    for _ in range(TRIES - 1):
        # What a thread did out of turn once, it seldom does again.
        again = {name for name, path in baseline["paths"].items()
                 if measured.get(name, 0) > path["instructions"] * (1 + path["tolerance"])}
        measured.update(measure(again) if again else {})
    for name in baseline["paths"].keys() | measured.keys():
        if name not in baseline["paths"] or name not in measured:
            failures.append(f"{name} is measured or recorded, but not both")
    for name, now in measured.items():
        if name not in baseline["paths"]:
            continue
        before, tolerance = baseline["paths"][name]["instructions"], baseline["paths"][name]["tolerance"]
        change = now / before - 1
        print(f"  {name}: {now:,}, before {before:,}, {change:+.1%} of ±{tolerance:.1%}")
        if change > tolerance:
            failures.append(f"{name} takes {change:.1%} more")
        elif change < -tolerance:
            better.append(name)
    if better:
        print(f"less than before, so record it with --record: {', '.join(better)}")
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{len(measured) - len(failures)} of {len(measured)} paths passed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the counts of this machine to instructions.json")
    parser.add_argument("--runs", type=int, default=5, help="how many runs are recorded (default: 5)")
    parser.add_argument("--profile", metavar="PATH", help=f"write a profile of one path to {PROFILE} instead")
    options = parser.parse_args()
    if options.profile:
        return profile(options.profile)
    return record(options.runs) if options.record else compare()


sys.exit(main())
