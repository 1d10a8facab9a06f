#!/usr/bin/env python3
"""Client libraries list and read every skill, over both transports and in every era in which they know skills.

usage: clients.py DIR
"""
import pathlib
import sys

import served


def typescript(target, era):
    # A script on standard input finds its modules from the working directory.
    with open(served.HERE / "typescript.mjs", encoding="utf-8") as script:
        return served.run(["node", "--input-type=module", "-", era, *target], cwd=served.TOOLS, stdin=script)


def fastmcp(target, _era):
    return served.run([served.TOOLS / "venv/bin/python", served.HERE / "fastmcp_client.py", *target])


def main(directory):
    wanted, failures, total = served.expected(directory), [], 0
    with served.http(directory) as url:
        targets = {"stdio": [served.BINARY, "stdio", directory], "http": [url]}
        for client, era in ((typescript, served.MODERN), (typescript, "legacy"), (fastmcp, served.MODERN)):
            for transport, target in targets.items():
                label = f"{client.__name__} {transport} {era}"
                ran = client(target, era)
                right = ran.returncode == 0 and ran.stdout.split() == [str(number) for number in wanted]
                print(f"  {label}: {'%d skills, %d files read' % wanted if right else 'failed'}")
                total += 1
                if not right:
                    failures.append(f"{label}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
    served.finish("clients", failures, total)


main(pathlib.Path(sys.argv[1]).resolve())
