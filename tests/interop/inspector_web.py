#!/usr/bin/env python3
"""MCP Inspector's web client, in a real browser, connects in both eras and verifies every file.

usage: inspector_web.py DIR        Chromium must be installed
"""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

import served

TOKEN = "inspector-web"
START_SECONDS = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def inspect(url, era, wanted):
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as output:
        environment = {**served.environment(home), "CLIENT_PORT": str(free_port()), "MCP_AUTO_OPEN_ENABLED": "false",
                       "MCP_INSPECTOR_API_TOKEN": TOKEN, "MCP_SANDBOX_PORT": str(free_port()),
                       "MCP_INSPECTOR_SECRET_STORE": "memory"}
        command = ["mcp-inspector", "--web", "--server-url", url, "--transport", "http", "--protocol-era", era]
        inspector = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment,
                                     start_new_session=True)
        try:
            page = wait_for_page(inspector, output)
            with open(served.HERE / "inspector_web.mjs", encoding="utf-8") as script:
                command = ["node", "--input-type=module", "-", page, wanted[0]]
                ran = served.run(command, seconds=180, stdin=script, cwd=served.TOOLS)
        finally:
            os.killpg(inspector.pid, 15)
            inspector.wait(10)
        if ran.returncode:
            return f"exit code {ran.returncode}\n{ran.stdout}{ran.stderr}"
        found = json.loads(ran.stdout)
        return None if (found["skills"], found["files"]) == wanted else f"{found}, wanted {wanted}"


def wait_for_page(inspector, output):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and inspector.poll() is None:
        said = os.pread(output.fileno(), 1 << 20, 0).decode("utf-8", "replace")
        if page := re.search(rf"http://\S+={TOKEN}", said):
            return page[0]
        time.sleep(0.1)
    sys.exit(f"MCP Inspector did not start:\n{said}")


def main(directory):
    wanted, failures = served.expected(directory), []
    with served.http(directory) as url:
        for era in ("modern", "legacy"):
            if wrong := inspect(url, era, wanted):
                failures.append(f"{era}: {wrong}")
    served.finish("inspector web", failures, 2)


main(pathlib.Path(sys.argv[1]).resolve())
