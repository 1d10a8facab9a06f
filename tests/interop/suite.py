"""Run scenarios of the official conformance suite and read what they checked."""
import json
import pathlib
import tempfile

import served

SCENARIOS = ("enumeration", "manifest", "directory")


def checks(url, scenario, *options):
    """The checks of one scenario; there is no result without checks."""
    with tempfile.TemporaryDirectory() as out:
        ran = served.run(["conformance", "server", "--url", url, "--scenario", scenario, "-o", out, *options])
        files = list(pathlib.Path(out).rglob("checks.json"))
        found = json.loads(files[0].read_text(encoding="utf-8")) if files else []
    if not found:
        raise RuntimeError(f"{scenario} did not run: {ran.stdout}{ran.stderr}")
    return found


def by_status(found):
    """The ids of the checks, by their status."""
    result = {}
    for check in found:
        result.setdefault(check["status"], []).append(check["id"])
    return result
