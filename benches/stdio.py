#!/usr/bin/env python3
"""How fast the first answer is there after spawn, and how many requests a second one pipe carries.

First answer: server/discover, which hosts probe with, over trees of 1,000 and 20,000 skills, and by the peer over an empty
directory, because it loads before it answers. Requests: 16 in flight on one pipe, over the smallest of the trees and the
largest. All in turn, as medians with the least and the most.
"""
import tempfile

import common

WINDOW = 16


def first_answers(options, roots, peers):
    with tempfile.TemporaryDirectory() as empty, common.messages([common.message(0, "server/discover")]) as asked:
        commands = {f"server over {skills:,} skills": [common.server(), "stdio", "-q", root] for skills, root in roots.items()}
        commands["peer over an empty directory"] = [peers / "peer", "stdio", empty]
        spawn = lambda command: common.run_json(peers / "load", "first", asked, 1, *command)[0] / 1e3
        contenders = {name: lambda command=command: spawn(command) for name, command in commands.items()}
        took = common.rounds(max(options.rounds, options.spawns), contenders)
    print("### First answer to `server/discover` after spawn\n")
    common.table(["", "milliseconds"], [[name, common.median(each, "{:.1f}")] for name, each in took.items()])


def one_pipe(options, skills, root, peers):
    commands = {"server": [common.server(), "stdio", "-q", root], "peer": [peers / "peer", "stdio", root]}
    rows = []
    for method, asked in common.requests(skills, options.set).items():
        with common.messages(asked) as file:
            load = lambda command: common.run_json(peers / "load", "stdio", file, WINDOW, options.seconds, *command)
            found = common.rounds(options.rounds, {name: lambda command=command: load(command)
                                                   for name, command in commands.items()})
        rate = {name: [each["per_second"] for each in runs] for name, runs in found.items()}
        cpu = {name: [each["cpu"] * 1e6 / each["answers"] for each in runs] for name, runs in found.items()}
        rows.append([f"`{method}`", common.median(rate["server"]), common.median(rate["peer"]),
                     f"{common.ratio(rate['server'], rate['peer']):.2f}",
                     *(common.median(cpu[name], "{:,.1f}") for name in commands)])
    print(f"### Requests a second on one pipe, {skills:,} skills\n")
    common.table(["", "server", "peer", "server / peer", "server: CPU, µs a request", "peer"], rows)


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--spawns", type=int, default=21, help="how often a first answer is waited for (default: 21)")
    parser.add_argument("--seconds", type=float, default=2, help="how long each round is (default: 2)")
    parser.add_argument("--set", type=int, default=1000, help="how many skills are asked for (default: 1000)")
    options = parser.parse_args()
    peers = common.peers()
    common.machine()
    common.with_trees(options, lambda roots: (
        first_answers(options, roots, peers),
        [one_pipe(options, skills, root, peers) for skills, root in roots.items()]))


main()
