#!/usr/bin/env python3
"""Measures `check` against the time that serving needs to start, over many skills. `check` may take 1.5 times as long.

usage: check.py [SKILLS]      default: 20000      env SKILLSERVE: the binary (default: target/release/skillserve)
Each is run several times in turn, once beforehand to warm the caches, and the medians are compared. Run it on a machine that
does nothing else: the load is printed.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import common

ROUNDS = 7
RATIO_MAX = 1.5
PARAGRAPH = "Read the [reference](references/guide.md) first, then follow each step and say what you did.\n\n"


def write(root, number):
    """A skill of the usual size: a SKILL.md of about 4 kB, a reference and a script."""
    skill = root / common.skill_path(number)
    (skill / "references").mkdir(parents=True)
    (skill / "scripts").mkdir()
    head = f"---\nname: skill-{number}\ndescription: Does the work number {number}, and says when it is done.\nlicense: MIT\n"
    head += 'metadata:\n  version: "1.0"\n  author: nobody\n---\n\n'
    (skill / "SKILL.md").write_text(head + PARAGRAPH * 40)
    (skill / "references/guide.md").write_text(f"# Guide {number}\n\n" + "One line of a guide.\n" * 100)
    (skill / "scripts/run.py").write_text("print('done')\n" * 30)


def serving(root):
    """Seconds until the server says that its catalog is built."""
    begin = time.perf_counter()
    server = subprocess.Popen([common.server(), "stdio", root], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if "serving" in line:
            break
    seconds = time.perf_counter() - begin
    server.communicate()
    return seconds


def checking(root):
    begin = time.perf_counter()
    subprocess.run([common.server(), "check", root], check=True, capture_output=True)
    return time.perf_counter() - begin


def main(skills):
    with tempfile.TemporaryDirectory() as root:
        for number in range(skills):
            write(pathlib.Path(root), number)
        serving(root), checking(root)
        rounds = [(serving(root), checking(root)) for _ in range(ROUNDS)]
    start, check = (statistics.median(times) for times in zip(*rounds))
    print(f"{skills} skills, {3 * skills} files, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"serving starts in {start:.2f} s, check takes {check:.2f} s: {check / start:.2f} times as long")
    return 0 if check / start <= RATIO_MAX else 1


sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000))
