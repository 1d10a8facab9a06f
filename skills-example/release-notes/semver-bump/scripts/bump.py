#!/usr/bin/env python3
"""Print the version that follows another one.

usage: bump.py VERSION major|minor|patch     VERSION as 1.2.3, v1.2.3 or 1.2.3-rc.1
exit: 0 done, 2 wrong usage
"""
import re
import sys

NUMBER = r"(0|[1-9][0-9]*)"
VERSION = re.compile(rf"(v?){NUMBER}\.{NUMBER}\.{NUMBER}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


def bump(version, part):
    match = VERSION.fullmatch(version)
    if not match:
        raise ValueError(f"not a semantic version: {version}")
    major, minor, patch = (int(match[i]) for i in (2, 3, 4))
    # A pre-release already stands before its release: 1.5.0-rc.1 leads to 1.5.0, also by a minor step.
    before = match[5] is not None
    if part == "major" and not (before and minor == patch == 0):
        major, minor, patch = major + 1, 0, 0
    elif part == "minor" and not (before and patch == 0):
        minor, patch = minor + 1, 0
    elif part == "patch" and not before:
        patch += 1
    return f"{match[1]}{major}.{minor}.{patch}"


def main(arguments):
    if len(arguments) != 2 or arguments[1] not in ("major", "minor", "patch"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        print(bump(*arguments))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
