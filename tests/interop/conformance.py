#!/usr/bin/env python3
"""The official conformance suite over HTTP: the skills scenarios on the example, and the base scenarios, in both eras,
and what it checks of sessions.

usage: conformance.py DIR
An empty listing passes the suite, so the checks are counted.
"""
import pathlib
import re
import sys

import served
import suite

# In the legacy era the two checks of cache hints are skipped, since that era has none.
COUNTS = {
    served.MODERN: {"enumeration": (32, 0), "manifest": (6, 0), "directory": (7, 0)},
    served.LEGACY: {"enumeration": (30, 2), "manifest": (6, 0), "directory": (7, 0)},
}
# Fewer base scenarios than these mean that some did not run.
BASE = {served.MODERN: 40, served.LEGACY: 33}
# Scenarios that find something to check only where there are sessions.
SESSIONS = {"server-session-lifecycle": 3, "server-sse-multiple-streams": 1}


def skills(url, version):
    """Without --force the suite skips the scenarios of an extension as soon as a version is named."""
    for scenario in suite.SCENARIOS:
        passed, skipped = COUNTS[version][scenario]
        found = suite.by_status(suite.checks(url, f"sep-2640-skills-{scenario}", "--spec-version", version, "--force"))
        counted = {status: len(ids) for status, ids in found.items()}
        wanted = {"SUCCESS": passed, **({"SKIPPED": skipped} if skipped else {})}
        print(f"  {version} sep-2640-skills-{scenario}: {counted.get('SUCCESS', 0)} passed")
        if counted != wanted:
            others = {status: ids for status, ids in found.items() if status != "SUCCESS"}
            yield f"{version} {scenario}: {counted}, not {wanted}: {others}"


def base(url, version):
    """The suite itself compares with the list, and also fails when something on the list passes."""
    ran = served.run(["conformance", "server", "--url", url, "--suite", "all", "--spec-version", version,
                      "--expected-failures", served.HERE / "expected" / f"{version}.yaml"], seconds=600)
    count = re.search(r"Running all suite \((\d+) scenarios\)", ran.stdout)
    total = re.search(r"Total: (\d+) passed", ran.stdout)
    print(f"  {version} base: {count[1] if count else 0} scenarios, {total[1] if total else 0} checks passed")
    if ran.returncode or not count or int(count[1]) != BASE[version]:
        summary = ran.stdout[ran.stdout.find("=== SUMMARY"):]
        yield f"{version} base scenarios: exit code {ran.returncode}\n{summary}{ran.stderr}"


def sessions(url):
    for scenario, passed in SESSIONS.items():
        found = suite.by_status(suite.checks(url, scenario, "--spec-version", served.LEGACY))
        found.pop("INFO", None)
        print(f"  {served.LEGACY} {scenario}: {len(found.get('SUCCESS', []))} passed")
        if {status: len(ids) for status, ids in found.items()} != {"SUCCESS": passed}:
            yield f"{scenario} with sessions: {found}"


def main(directory):
    failures, total = [], 0
    with served.http(directory) as url:
        for version in (served.MODERN, served.LEGACY):
            failures += [*skills(url, version), *base(url, version)]
            total += len(suite.SCENARIOS) + 1
    with served.http("--sessions", "8", directory) as url:
        failures += sessions(url)
        total += len(SESSIONS)
    served.finish("conformance", failures, total)


main(pathlib.Path(sys.argv[1]).resolve())
