#!/usr/bin/env python3
"""The official skills scenarios once for every served skill of the edge set.

usage: conformance_edge.py EDGE_DIR     as the maker of the edge set wrote it

The suite looks only at the first listed skill. So each skill directory is served as its own root; where that is not the
same skill (its SKILL.md is a link out of this directory), the root of its case is served if the skill is the first there.
What the suite cannot do is named below; everything else must pass.
"""
import concurrent.futures
import csv
import json
import os
import pathlib
import sys
import urllib.parse

import served
import suite

# A skill without a sub-directory has nothing to show for this check.
NO_SUBDIRECTORY = {"sep-2640-directory-read-subdir-mimetype"}
# The suite's pattern for the frontmatter allows no blank after the opening fence, so it finds no frontmatter at all.
BLANK_AFTER_FENCE = {"sep-2640-skillmd-frontmatter", "sep-2640-entry-frontmatter-identical",
                     "sep-2640-final-segment-equals-name", "sep-2640-skillmd-metadata-name",
                     "sep-2640-skillmd-metadata-description"}
# A skill inside another one may have its name; both are served, and the suite warns.
SAME_NAME = {"sep-2640-names-should-be-unique"}


def path_of(entry):
    """The skill's path below the root, as the file system has it."""
    path = urllib.parse.unquote(entry["uri"], errors="surrogateescape")
    return path.removeprefix("skill://").removesuffix("/SKILL.md")


def served_skills(case):
    with served.http(case) as url:
        return [path_of(entry) for entry in served.listed(url)]


def check(case, path):
    """What is wrong with one skill: a list of texts, empty when all is well."""
    name = path.rsplit("/", 1)[-1]
    for root in (case / path, case):
        with served.http(root) as url:
            entries = served.listed(url)
            if entries and path_of(entries[0]) == (name if root != case else path):
                return list(differences(url, entries, case / path))
    return ["cannot be served so that it is the first"]


def differences(url, entries, directory):
    inside = entries[0]["uri"].removesuffix("SKILL.md")
    allowed = set()
    if not any("/" in file["uri"].removeprefix(inside) for file in entries[0]["resources"]):
        allowed |= NO_SUBDIRECTORY
    fence = (directory / "SKILL.md").read_bytes().split(b"\n", 1)[0].removesuffix(b"\r")
    if fence != fence.rstrip():
        allowed |= BLANK_AFTER_FENCE
    names = [entry["frontmatter"]["name"] for entry in entries]
    if len(set(names)) < len(names):
        allowed |= SAME_NAME
    counted = 0
    for scenario in suite.SCENARIOS:
        found = suite.checks(url, f"sep-2640-skills-{scenario}")
        counted += len(found)
        for one in found:
            if one["status"] != "SUCCESS" and one["id"] not in allowed:
                yield f"{one['status']} {one['id']}: {one.get('errorMessage', '')[:300]}"
    if counted != 32 + 6 + 7:
        yield f"{counted} checks instead of {32 + 6 + 7}"


def must_be_served(edge):
    """The rows of the table that have to be served; a skill at the root of its case is called by its name."""
    with open(edge / "EXPECT.open.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows = [row for row in rows if row["verdict"] == "serve"]
    return {(row["case"], json.loads(row["name"]) if row["skill"] == "." else row["skill"]) for row in rows}


def main(edge):
    cases = sorted(path for path in (edge / "open").iterdir() if path.is_dir())
    if not cases:
        sys.exit(f"no cases in {edge}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        skills = [(case, path) for case, paths in zip(cases, pool.map(served_skills, cases)) for path in paths]
        results = list(pool.map(lambda skill: check(*skill), skills))
    # What is not served is not looked at, so nothing may be missing that has to be served.
    missing = sorted(must_be_served(edge) - {(case.name, path) for case, path in skills})
    failures = [f"{case} {path}: is not served" for case, path in missing]
    for (case, path), wrong in zip(skills, results):
        if wrong:
            shown = path.encode("ascii", "backslashreplace").decode()
            failures.append(f"{case.name} {shown}: " + "; ".join(wrong))
    served.finish("conformance on the edge set", failures, len(skills) + len(missing))


main(pathlib.Path(sys.argv[1]).resolve())
