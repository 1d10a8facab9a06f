#!/usr/bin/env python3
"""Every row of the edge set that must not be served has an error with a code that fits the row's reason.

usage: check_edge.py EDGE_DIR     as the maker of the edge set wrote it
"""
import collections
import csv
import json
import pathlib
import subprocess
import sys

import served

# The codes that fit a reason; a reason that is not here is a code itself.
FITTING = {
    "SKILL.md is a directory": {"skill-md-directory"},
    "dangling-link": {"link-dangles"},
    "symlink-escape": {"link-leaves"},
    "unclosed": {"unclosed-frontmatter"},
    # A line before the fence can make it either.
    "no-frontmatter": {"no-frontmatter", "not-utf8"},
    "yaml-syntax": {"yaml-syntax", "yaml-duplicate-key", "yaml-alias"},
    "yaml-depth": {"yaml-depth", "frontmatter-too-large"},
    # All that is missing is told at once.
    "name-missing": {"name-missing", "description-missing"},
}
# Hidden directories are passed over on purpose; `check` counts them in a note.
NOTED = {"hidden-dir"}


def findings(root):
    """The errors of a root, by the skill's path, and the notes."""
    ran = subprocess.run([served.BINARY, "check", "--format", "json", root], capture_output=True)
    report = json.loads(ran.stdout)
    by_skill = collections.defaultdict(set)
    for finding in report["findings"]:
        if finding["severity"] == "error":
            path = pathlib.PurePath(finding["path"])
            at = path.parent if path.name.lower() in ("skill.md", "skills.md") else path
            by_skill[str(at.relative_to(root))].add(finding["code"])
    return by_skill, report["notes"]


def main(edge):
    with open(edge / "EXPECT.open.tsv", encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE) if row["verdict"] == "skip"]
    roots = {case: findings(edge / "open" / case) for case in {row["case"] for row in rows}}
    failures = []
    for row in rows:
        by_skill, notes = roots[row["case"]]
        codes, reason = by_skill.get(row["skill"], set()), row["reason"]
        if reason in NOTED:
            fits = any("hidden" in note for note in notes)
        else:
            fits = codes and codes <= FITTING.get(reason, {reason})
        if not fits:
            failures.append(f"{row['case']} {row['skill']} ({reason}): {sorted(codes) or 'no error'}")
    served.finish("edge codes", failures, len(rows))


main(pathlib.Path(sys.argv[1]).resolve())
