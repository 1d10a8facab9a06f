#!/usr/bin/env python3
"""MCP Inspector verifies every skill, over both transports and in both eras.

usage: inspector.py DIR
"""
import json
import pathlib
import sys

import served


def verify(target, era, wanted):
    """Exit code 0 also comes for an empty listing, so the reports are counted."""
    ran = served.run(["mcp-inspector", "--cli", *target, "--method", "skills/list", "--verify", "--require-digests",
                      "--protocol-era", era])
    reports = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    files = [file["status"] for report in reports for file in report["files"]]
    if ran.returncode or (len(reports), files.count("verified")) != wanted:
        return f"exit code {ran.returncode}, {len(reports)} skills, {len(files)} files\n{ran.stdout}{ran.stderr}"
    return None


def main(directory):
    wanted, failures = served.expected(directory), []
    with served.http(directory) as url:
        targets = {"stdio": [served.BINARY, "stdio", directory], "http": ["--server-url", url, "--transport", "http"]}
        for transport, target in targets.items():
            for era in ("modern", "legacy"):
                wrong = verify(target, era, wanted)
                print(f"  {transport} {era}: {'failed' if wrong else '%d skills, %d files verified' % wanted}")
                if wrong:
                    failures.append(f"{transport} {era}: {wrong}")
    served.finish("inspector", failures, 4)


main(pathlib.Path(sys.argv[1]).resolve())
