#!/usr/bin/env python3
"""The GitHub Action, as far as that goes without GitHub: its steps are run with a `cargo` that hands out the built binary.

usage: action.py DIR     a directory of skills without a fault
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

import served

# What `cargo install … --root DIR` leaves behind.
CARGO = f"""#!/bin/sh
while [ "$1" != --root ]; do shift; done
mkdir -p "$2/bin" && cp {served.BINARY} "$2/bin/"
"""
BROKEN = "---\nname: broken\ndescription: Use this: now\n---\n"
ODD = "---\nname: odd\ndescription: d\nmetadata: {beta: yes}\n---\n"


def run(action, where, **given):
    """Runs the steps one after the other, as the runner does, until one fails."""
    inputs = {name: given.get(name.replace("-", "_"), spec["default"]) for name, spec in action["inputs"].items()}
    fill = lambda text: re.sub(r"\$\{\{ *inputs\.([\w-]+) *\}\}", lambda name: inputs[name[1]], text)
    with tempfile.TemporaryDirectory() as temporary:
        bin_ = pathlib.Path(temporary) / "bin"
        bin_.mkdir()
        (bin_ / "cargo").write_text(CARGO)
        (bin_ / "cargo").chmod(0o755)
        environment = {"PATH": f"{bin_}:{os.environ['PATH']}", "RUNNER_TEMP": temporary,
                       "GITHUB_ACTION_PATH": str(served.REPOSITORY)}
        output = ""
        for step in action["runs"]["steps"]:
            variables = {name: fill(value) for name, value in step.get("env", {}).items()}
            ran = subprocess.run([step["shell"], "-e", "-o", "pipefail", "-c", fill(step["run"])], cwd=where,
                                 env={**environment, **variables}, capture_output=True, text=True)
            output += ran.stdout + ran.stderr
            if ran.returncode:
                return ran.returncode, output
    return 0, output


def main(example):
    action = yaml.safe_load((served.REPOSITORY / "action.yml").read_text(encoding="utf-8"))
    failures = []

    def check(label, got, code, *words):
        if got[0] != code or not all(word in got[1] for word in words):
            failures.append(f"{label}: exit code {got[0]}\n{got[1]}")

    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for name, text in (("skills/broken", BROKEN), ("more skills/odd", ODD)):
            (work / name).mkdir(parents=True)
            (work / name / "SKILL.md").write_text(text)
        check("the example", run(action, example), 0, " 0 skipped, 0 warnings")
        check("an error", run(action, work), 1, "::error file=skills/broken/SKILL.md,line=3,endLine=3,col=22,")
        check("a warning", run(action, work, paths="more skills\n"), 0, "::warning file=more skills/odd/SKILL.md,")
        check("a denied warning", run(action, work, paths="more skills", deny_warnings="true"), 1, "::warning ")
        check("rules and hosts", run(action, work, paths="more skills", rules="yaml-versions=error\n", hosts="fastmcp"), 1,
              "::error file=more skills/odd/SKILL.md,")
        check("two paths", run(action, work, paths="skills\nmore skills"), 1, "::error ", "::warning ")
        check("a wrong path", run(action, work, paths="nowhere"), 2, "there is no file or directory")
    served.finish("action", failures, 7)


main(pathlib.Path(sys.argv[1]).resolve())
