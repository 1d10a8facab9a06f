"""What all drivers need: the binary, the tools, and a server that runs while a block runs.

env SKILLSERVE: the binary (default: target/release/skillserve)
env INTEROP_TOOLS: where tests/interop/install put the clients (default: target/interop)
"""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
BINARY = pathlib.Path(os.environ.get("SKILLSERVE", REPOSITORY / "target/release/skillserve")).resolve()
TOOLS = pathlib.Path(os.environ.get("INTEROP_TOOLS", REPOSITORY / "target/interop")).resolve()
LEGACY, MODERN = "2025-11-25", "2026-07-28"
START_SECONDS = 30


def environment(home):
    """The pinned node comes first in PATH, and no client finds or leaves settings in the real home directory."""
    path = f"{TOOLS / 'node_modules/.bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(home), "NO_COLOR": "1"}


def run(command, seconds=120, **more):
    """Run a client and return what it did; a client that hangs is an error of the driver."""
    with tempfile.TemporaryDirectory() as home:
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace",
                              timeout=seconds, env=environment(home), **more)


@contextlib.contextmanager
def http(*directories):
    """Serve the directories on a free port and give the URL."""
    with tempfile.TemporaryFile() as errors:
        command = [BINARY, "http", "--listen", "127.0.0.1:0", *directories]
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        try:
            yield wait_for_url(server, errors, directories)
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def wait_for_url(server, errors, directories):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        said = os.pread(errors.fileno(), 1 << 20, 0).decode("utf-8", "replace")
        if url := re.search(r"http://127\.0\.0\.1:\d+/mcp", said):
            return url[0]
        if server.poll() is not None:
            break
        time.sleep(0.02)
    sys.exit(f"the server for {directories} gave no URL (exit code {server.poll()}):\n{said}")


def listed(url):
    """All entries of skills/list, in order."""
    entries, cursor = [], None
    while True:
        meta = {"io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": "interop", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}}
        params = {"_meta": meta, **({"cursor": cursor} if cursor else {})}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "skills/list", "params": params})
        request = urllib.request.Request(url, body.encode(), {
            "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": MODERN, "Mcp-Method": "skills/list"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read().decode("utf-8")
        # An answer may also come as the only event of a stream.
        lines = [line[5:] for line in text.split("\n") if line.startswith("data:") and line[5:].strip()]
        result = json.loads(lines[-1] if lines else text)["result"]
        entries += result["skills"]
        cursor = result.get("nextCursor")
        if not cursor:
            return entries


def expected(directory):
    """How many skills, and how many files of skills, a directory holds that has nothing to refuse."""
    skills = [path.parent for path in pathlib.Path(directory).rglob("SKILL.md")]
    return len(skills), sum(sum(path.is_file() for path in skill.rglob("*")) for skill in skills)


def finish(what, failures, total):
    """One summary line; every failure by name before it."""
    for failure in failures:
        print(f"FAILED {what}: {failure}")
    print(f"{what}: {total - len(failures)} of {total} passed")
    sys.exit(1 if failures or not total else 0)
