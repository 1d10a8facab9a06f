#!/usr/bin/env python3
"""Client libraries are told of a changed file, over both transports and in both eras.

usage: live.py DIR
The directory is copied first, and the copy is changed.
"""
import pathlib
import shutil
import sys
import tempfile

import served

# What older clients need over HTTP to be told of anything.
OPTIONS = ["--sessions", "8"]


def typescript(era, file, uri, target):
    with open(served.HERE / "live.mjs", encoding="utf-8") as script:
        return served.run(["node", "--input-type=module", "-", era, file, uri, *target], cwd=served.TOOLS, stdin=script)


def python(era, file, uri, target):
    return served.run([served.TOOLS / "venv/bin/python", served.HERE / "live_client.py", era, file, uri, *target])


def main(directory):
    failures, total = [], 0
    with tempfile.TemporaryDirectory() as work:
        copy = pathlib.Path(work) / "skills"
        shutil.copytree(directory, copy)
        file = sorted(copy.rglob("SKILL.md"))[0]
        uri = f"skill://{file.relative_to(copy).as_posix()}"
        with served.http(*OPTIONS, copy) as url:
            targets = {"stdio": [served.BINARY, "stdio", copy], "http": [url]}
            for client in (typescript, python):
                for era in (served.MODERN, "legacy"):
                    for transport, target in targets.items():
                        label = f"{client.__name__} {transport} {era}"
                        ran = client(era, file, uri, target)
                        is_told = ran.returncode == 0 and ran.stdout.split() == ["told"]
                        print(f"  {label}: {'told' if is_told else 'failed'}")
                        total += 1
                        if not is_told:
                            failures.append(f"{label}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
    served.finish("live", failures, total)


main(pathlib.Path(sys.argv[1]).resolve())
