#!/usr/bin/env python3
"""Every warning about hosts is true: the named host, really run, loses what the warning says, and loads the cured twin.

usage: hosts.py [CASE_WORD…]      only the cases whose code or label holds all words
Each case is served on its own, beside a skill without a fault; a listing is lost when that one is gone too. `check` has to
name exactly the hosts that lose, and nothing at all of the twin.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import served

sys.path.insert(0, str(served.HERE / "hosts"))
import cases  # noqa: E402

HOSTS = served.HERE / "hosts"
# Without a fault in any host's eyes.
NEIGHBOUR = "---\nname: neighbour\ndescription: Has no fault.\n---\n"
# Their faults are about the format, so they are told whatever the hosts do.
OF_THE_FORMAT = {"unknown-field"}


def typescript(directories):
    with open(HOSTS / "typescript.mjs", encoding="utf-8") as script:
        return served.run(["node", "--input-type=module", "-", served.BINARY, *directories], cwd=served.TOOLS, stdin=script,
                          seconds=900)


def fastmcp(directories):
    return served.run([served.TOOLS / "venv/bin/python", HOSTS / "fastmcp_host.py", served.BINARY, *directories], seconds=900)


def fast_agent(directories):
    return served.run([served.TOOLS / "venv-fast-agent/bin/python", HOSTS / "fast_agent_host.py", served.BINARY, *directories],
                      seconds=900)


CLIENTS = {cases.TYPESCRIPT: typescript, cases.FASTMCP: fastmcp, cases.FAST_AGENT: fast_agent}


def clients():
    """Those that are installed: fast-agent needs a Python that not every machine has. CI must have it."""
    if (served.TOOLS / "venv-fast-agent/bin/python").exists() or os.environ.get("CI") == "true":
        return list(CLIENTS)
    print("DID NOT RUN: fast-agent, because it is not installed")
    return [client for client in CLIENTS if client != cases.FAST_AGENT]


def inspector(directory):
    """Whether MCP Inspector verifies everything. It is slow, so only the cases that name it are shown to it."""
    ran = served.run(["mcp-inspector", "--cli", served.BINARY, "stdio", directory, "--method", "skills/list", "--verify",
                      "--protocol-era", "modern"])
    return ran.returncode == 0


def write(root, files, name):
    """A directory to serve: the skill and its neighbour."""
    for path, content in [*((f"{name}/{path}", content) for path, content in files.items()),
                          ("neighbour/SKILL.md", NEIGHBOUR)]:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def name_of(files):
    """The name of a skill is the word after its `name:`."""
    words = files["SKILL.md"].replace("{", " ").replace(",", " ").split()
    return words[words.index("name:") + 1].strip('"')


def told(directory):
    """What `check` says: for each code, what each host loses."""
    ran = subprocess.run([served.BINARY, "check", "--format", "json", "--include-hidden", directory], capture_output=True)
    if ran.returncode not in (0, 1):
        sys.exit(f"check ended with {ran.returncode}:\n{ran.stderr.decode()}")
    found = {}
    for finding in json.loads(ran.stdout)["findings"]:
        losses = found.setdefault(finding["code"], {})
        losses.update({host["name"]: host["loses"] for host in finding["hosts"]})
    return found


def lost(seen, name):
    """What a host lost of the skill, by what it said."""
    if seen["listing"] or "skill://neighbour/SKILL.md" not in seen["skills"]:
        return "listing"
    if seen["skills"].get(f"skill://{name}/SKILL.md", "it is not listed"):
        return "skill"
    return "file" if seen["files"] else None


def look(client, directories):
    ran = CLIENTS[client](directories)
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    if ran.returncode or len(lines) != len(directories):
        sys.exit(f"{client} ended with {ran.returncode} after {len(lines)} of {len(directories)}:\n{ran.stderr}")
    return lines


def judge(case, client_losses, told_of, is_cured, looked_at):
    """What is wrong with a case or with its twin."""
    codes, _, _, _, losses = case
    code, *also = codes.split()
    if also:
        losses = {cases.TYPESCRIPT: "skill", **losses}
    wanted = {} if is_cured else {host: loses for host, loses in losses.items() if host in looked_at}
    seen = {host: loses for host, loses in client_losses.items() if loses}
    if seen != wanted:
        yield f"the hosts lose {seen}, and not {wanted}"
    others = {other: hosts for other, hosts in told_of.items() if other not in OF_THE_FORMAT | {code, *also}}
    if others:
        yield f"check also tells {others}"
    if is_cured and code in told_of:
        yield f"check tells {code} of the cured twin"
    named = {host: loses for each in (code, *also) for host, loses in told_of.get(each, {}).items() if host != "windows"}
    if not is_cured and (code not in told_of or named != losses):
        yield f"check names {named}, and not {losses}"


def main(words):
    chosen = [case for case in cases.CASES if all(word in f"{case[0]} {case[1]}" for word in words)]
    failures, looked_at = [], clients()
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        roots = []
        for number, case in enumerate(chosen):
            for kind, files in (("bad", case[2]), ("good", case[3])):
                root = pathlib.Path(work) / f"{number}-{kind}"
                roots.append((case, name_of(files), kind == "good", write(root, files, name_of(files))))
        directories = [str(root) for *_, root in roots]
        looks = dict(zip(looked_at, pool.map(lambda client: look(client, directories), looked_at)))
        for case, _, is_cured, root in roots:
            if cases.INSPECTOR in case[4] and inspector(root) != is_cured:
                failures.append(f"{case[0]} {case[1]!r}: MCP Inspector {'fails' if is_cured else 'verifies it'}")
        for at, (case, name, is_cured, root) in enumerate(roots):
            losses = {client: lost(looks[client][at], name) for client in looked_at}
            for wrong in judge(case, losses, told(root), is_cured, looked_at):
                said = {client: looks[client][at] for client in looked_at if losses[client]}
                failures.append(f"{case[0]} {case[1]!r}{' (cured)' if is_cured else ''}: {wrong}\n    {json.dumps(said)[:1500]}")
    served.finish("hosts", failures, 2 * len(chosen))


if __name__ == "__main__":
    main(sys.argv[1:])
