#!/usr/bin/env python3
"""How long it takes from spawn to the whole catalog, and how much memory that holds, over trees of 1,000 and 20,000 skills.

For each size, in turn, as medians with the least and the most:
  walk     a walk with stat over the tree, by a compiled program
  openssl  `openssl sha256` of each file, on all cores
  server   to the answer of the first skills/get, which needs the whole catalog
  warm     the same with an index of the run before, if the server has the option --index
  peer     the same by rmcp's SkillCatalog
The page cache is warm. Processor time is that of all cores in sum; unlike the time, it does not depend on what else the
machine does. Memory is what is resident once the server does nothing more, beyond what it is over one small skill.
"""
import os
import pathlib
import subprocess
import tempfile

import common

HASH = "find {} -type f -print0 | xargs -0 -n 500 -P {} openssl sha256 >/dev/null"


def first(load, asked, *command):
    """Seconds from spawn to the first answer."""
    return common.run_json(load, "first", asked, 1, *command)[0] / 1e6


def memory(command):
    """What is resident once the first answer is there, and the most that was before."""
    with common.Pipe(command, stderr=subprocess.DEVNULL) as process:
        process.digest(0)
        process.settle(1)
        return process.memory(), process.peak_memory()


def write_index(command, index):
    """Lets the server write its index."""
    with common.Pipe(command, stderr=subprocess.DEVNULL) as process:
        process.digest(0)
        process.settle(2)
    if not pathlib.Path(index).exists():
        raise SystemExit("the server wrote no index")


def bench(options, skills, peers, empty):
    with tempfile.TemporaryDirectory() as work, common.tree(options, skills) as root, \
            common.messages([common.message(0, "skills/get", uri=common.skill_uri(0))]) as asked:
        common.warm(root)
        commands = {"server": [common.server(), "stdio", "-q", root], "peer": [peers / "peer", "stdio", root]}
        if common.has_option("--index"):
            index = os.path.join(work, "index")
            commands["server, warm (--index)"] = [common.server(), "stdio", "-q", "--index", index, root]
            write_index(commands["server, warm (--index)"], index)
        contenders = {"walk with stat": lambda: common.timed([peers / "walk", root]),
                      "openssl sha256": lambda: common.timed(["sh", "-c", HASH.format(root, os.cpu_count())])}
        for name, command in commands.items():
            contenders[name] = lambda command=command: first(peers / "load", asked, *command)
        found = common.rounds(options.rounds, {name: lambda run=run: common.cpu_of(run)
                                               for name, run in contenders.items()})
        resident = {name: memory(command) for name, command in commands.items()}

    report(options, skills, found, resident, empty)


def report(options, skills, found, resident, empty):
    files = skills * options.files
    print(f"### {skills:,} skills, {files:,} files, {files * options.bytes / 1e6:,.0f} MB\n")
    rows = []
    for name, runs in found.items():
        row = [name]
        for kind, times in enumerate(zip(*runs)):
            row.append(common.median(times, "{:.2f}"))
            for other in ("openssl sha256", "walk with stat"):
                row.append(f"{common.ratio(times, [run[kind] for run in found[other]]):.2f}")
        now, peak = resident.get(name, (None, None))
        if now:
            base = empty["peer" if name == "peer" else "server"]
            row += [f"{now / 1e6:,.0f} MB", f"{(now - base) / files:,.0f} B", f"{peak / 1e6:,.0f} MB"]
        rows.append(row + [""] * (10 - len(row)))
    common.table(["", "seconds", "× openssl", "× walk", "CPU seconds", "× openssl", "× walk", "resident", "a file", "peak"], rows)


def main():
    options = common.parser(__doc__).parse_args()
    peers = common.peers()
    common.machine()
    with tempfile.TemporaryDirectory() as small:
        common.make(small, 1, 1, 0)
        empty = {"server": memory([common.server(), "stdio", "-q", small])[0],
                 "peer": memory([peers / "peer", "stdio", small])[0]}
    print(f"Over one small skill: server {empty['server'] / 1e6:.1f} MB, peer {empty['peer'] / 1e6:.1f} MB.\n")
    for skills in options.skills:
        bench(options, skills, peers, empty)


main()
