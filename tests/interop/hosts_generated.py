#!/usr/bin/env python3
"""The hosts read generated frontmatters: no warning of `check` is false, and few are missing.

usage: hosts_generated.py N      env SEED: of the generator (default: 1)
The generator makes what no author writes, so a loss that `check` does not know is allowed once in a hundred.
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import hosts
import served

MISSED_MAX = 0.01
GENERATE = """
import { generate } from "./generate.mjs";
const texts = [];
for (let n = 0; n < Number(process.argv[1]); n += 1) texts.push(generate(Number(process.argv[2]), n));
console.log(JSON.stringify(texts));
"""


def check(directory):
    ran = subprocess.run([served.BINARY, "check", "--format", "json", directory], capture_output=True)
    return json.loads(ran.stdout)["findings"]


def skill_of(finding):
    return pathlib.PurePath(finding["path"]).parent.name


def main(count):
    ran = served.run(["node", "--input-type=module", "--eval", GENERATE, count, os.environ.get("SEED", "1")],
                     cwd=served.HERE / "yaml")
    if ran.returncode:
        sys.exit(ran.stderr)
    failures, total = [], 0
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for number, text in enumerate(json.loads(ran.stdout)):
            (work / f"g{number}").mkdir()
            (work / f"g{number}/SKILL.md").write_text(f"---\nname: g{number}\ndescription: d\n{text}\n---\n", encoding="utf-8")
        # What is not served, and what would cost the whole listing.
        for finding in check(work):
            if finding["severity"] == "error" or any(host["loses"] == "listing" for host in finding["hosts"]):
                shutil.rmtree(work / skill_of(finding), ignore_errors=True)
        told = collections.defaultdict(set)
        for finding in check(work):
            told[skill_of(finding)].update(host["name"] for host in finding["hosts"])
        for client in hosts.clients():
            seen = hosts.look(client, [str(work)])[0]
            lost = {uri.split("/")[2]: why for uri, why in seen["skills"].items() if why}
            false = [name for name, names in told.items() if client in names and name not in lost]
            missed = [name for name in lost if client not in told[name]]
            print(f"  {client}: {len(seen['skills'])} listed, {len(lost)} lost, {len(false)} warnings false, {len(missed)} missing")
            total += 1
            if seen["listing"] or false or len(missed) > MISSED_MAX * len(seen["skills"]):
                examples = {name: [(work / name / "SKILL.md").read_text(), lost.get(name)] for name in [*false, *missed][:5]}
                failures.append(f"{client}: {seen['listing']}\n{json.dumps(examples, indent=1)}")
    served.finish("generated hosts", failures, total)


if __name__ == "__main__":
    main(sys.argv[1])
