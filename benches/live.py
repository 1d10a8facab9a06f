#!/usr/bin/env python3
"""What following changes costs, over trees of 1,000 and 20,000 skills with ten files each.

usage: benches/live.py [SKILLS …]        env SKILLSERVE: the binary (default: target/release/skillserve)

Prints, for each size, as medians of several rounds:
  start      from spawn to the answer of the first skills/get
  idle look  a look at everything that finds nothing new (SIGHUP): processor time, and how many bytes it read
  one edit   from a finished write of one SKILL.md to the first skills/get that shows its new digest; processor time of its look
A bare walk with stat over the same tree, in this process, stands beside them for comparison.
Linux only: it reads /proc.
"""
import hashlib
import os
import pathlib
import signal
import statistics
import sys
import tempfile
import time

import common

FILES, LENGTH, ROUNDS = 10, 400, 15


def walk(root):
    """A bare walk with stat, the least that any look at everything does."""
    start, stack = time.process_time(), [root]
    while stack:
        with os.scandir(stack.pop()) as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    stack.append(entry.path)
    return time.process_time() - start


def edit(root, skills, k):
    """Edits one skill: which, and the digest that it has then."""
    n = k * 997 % skills
    content = common.skill_md(n, f"edit {k}\n")
    (root / common.skill_path(n) / "SKILL.md").write_bytes(content)
    return n, "sha256:" + hashlib.sha256(content).hexdigest()


def bench(skills):
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        common.make(root, skills, FILES, LENGTH)
        walked = statistics.median(walk(root) for _ in range(3))
        start = time.time()
        server = common.Pipe([common.server(), "stdio", "-q", root])
        server.digest(0)
        started = time.time() - start
        # Files as young as the clock of a file system is coarse are read twice.
        time.sleep(3)
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        server.settle()

        idle, read = [], []
        for _ in range(3):
            cpu, bytes_before = server.cpu(), server.read_bytes()
            server.process.send_signal(signal.SIGHUP)
            time.sleep(0.2)
            server.settle()
            idle.append(server.cpu() - cpu)
            read.append(server.read_bytes() - bytes_before)

        latency = []
        for k in range(ROUNDS):
            n, wanted = edit(root, skills, k)
            start = time.time()
            while server.digest(n) != wanted:
                if time.time() - start > 20:
                    sys.exit(f"an edit was not seen: {n}")
            latency.append(time.time() - start)

        # Nobody asks meanwhile, so that all the processor time is the look's.
        cpu = []
        for k in range(ROUNDS):
            time.sleep(0.3)
            before = server.fine_cpu()
            edit(root, skills, ROUNDS + k)
            time.sleep(0.3)
            cpu.append(server.fine_cpu() - before)
        resident = server.memory()
        server.close()
    median = statistics.median
    print(f"{skills:7} skills  walk {walked:6.2f} s  start {started:6.2f} s  "
          f"idle look {median(idle):6.2f} s cpu, {median(read) / 1000:.0f} kB read  "
          f"one edit {median(latency) * 1000:5.1f} ms (worst {max(latency) * 1000:.1f}), "
          f"{median(cpu) * 1000:.1f} ms cpu  {resident / 1e6:.0f} MB resident",
          flush=True)


for size in [int(word) for word in sys.argv[1:]] or [1000, 20000]:
    bench(size)
