#!/usr/bin/env python3
"""What deploy/ holds, as far as a machine without a cluster can check it: linters and schemas, and then the real thing. The
image's build command makes a static binary that runs alone in a read-only directory; every command line of the Kubernetes
recipes and of the systemd unit serves; systemd's own tool hands over a socket; nginx and Caddy stand in front.

usage: deploy.py        Linux, as root; nginx, caddy and systemd must be installed
"""
import contextlib
import http.client
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import yaml

import served

DEPLOY = served.REPOSITORY / "deploy"
VENV = served.TOOLS / "venv/bin"
SKILL = "---\nname: {0}\ndescription: {1}\n---\n"
PATIENCE = 30
NOBODY = 65532
# The largest exposure that `systemd-analyze security` may find, of 10.
EXPOSURE_MAX = 2.0


def must(command, **more):
    """Runs a command that has to succeed, and gives back what it said."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    if done.returncode:
        raise AssertionError(f"{shlex.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def until(what, condition):
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come about")
        time.sleep(0.05)
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(port, path, host="localhost", headers=()):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={"Host": host, **dict(headers)})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except OSError:
        return None, b""
    finally:
        connection.close()


def request(method, params):
    meta = {"io.modelcontextprotocol/protocolVersion": served.MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "deploy", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
               "MCP-Protocol-Version": served.MODERN, "Mcp-Method": method}
    if "uri" in params:
        headers["Mcp-Name"] = params["uri"]
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    return json.dumps(body).encode(), headers


def post(port, path, method, params, **more):
    """Opens a request and gives back the answer, still to be read."""
    body, headers = request(method, params)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("POST", path, body, {**headers, "Host": "localhost", **more})
    return connection.getresponse()


@contextlib.contextmanager
def running(command, **more):
    """A process that is ended with the block, and must then end by itself."""
    errors = tempfile.TemporaryFile()
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, **more)
    try:
        process.said = lambda: os.pread(errors.fileno(), 1 << 20, 0).decode("utf-8", "replace")
        yield process
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


def serves(process, port, skills, token=None):
    """Waits until the process serves so many skills."""
    bearer = {"Authorization": f"Bearer {token}"} if token else {}
    ready = lambda: process.poll() is not None or get(port, "/readyz", "10.1.2.3:8008")[0] == 200
    until("readiness", ready)
    assert process.poll() is None, process.said()
    assert get(port, "/healthz", "10.1.2.3:8008")[0] == 200
    listed = json.loads(post(port, "/mcp", "skills/list", {}, **bearer).read())
    assert len(listed["result"]["skills"]) == skills, listed


def container(work):
    """The image's own build command makes a binary that needs nothing around it."""
    recipe = DEPLOY / "container/Containerfile"
    must([VENV / "hadolint", recipe])
    lines = recipe.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    build = lines[:next(at for at, line in enumerate(lines) if line == "FROM scratch")]
    source, binary = work / "source", work / "skillserve"
    source.mkdir()
    for line in build:
        if line.startswith("COPY "):
            *names, to = line.split()[1:]
            for name in names:
                copy = shutil.copytree if (served.REPOSITORY / name).is_dir() else shutil.copy
                copy(served.REPOSITORY / name, source / to / name if to == "./" else source / to)
    target = served.REPOSITORY / "target/container"
    target.mkdir(parents=True, exist_ok=True)
    (source / "target").symlink_to(target)
    for line in build:
        if line.startswith("RUN "):
            environment = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}
            must(["sh", "-ec", line[4:].replace(" /skillserve", f" {binary}")], cwd=source, env=environment)
    assert "INTERP" not in must(["readelf", "--program-headers", binary]), "the binary is not static"

    root = work / "root"
    shutil.copytree(served.REPOSITORY / "skills-example", root / "skills")
    shutil.copy(binary, root / "skillserve")
    port = free_port()
    inside = f"""mount --bind {root} {root} && mount -o remount,ro,bind {root}
        exec chroot --userspec={NOBODY}:{NOBODY} {root} /skillserve http --listen 0.0.0.0:{port} --anonymous /skills"""
    with running(["unshare", "--mount", "sh", "-ec", inside]) as process:
        serves(process, port, 5)
    assert process.returncode == 0, process.said()
    refused = subprocess.run(["chroot", root, "/skillserve", "http", "--listen", f"0.0.0.0:{port}", "/skills"],
                             capture_output=True, text=True, timeout=PATIENCE)
    assert refused.returncode == 2 and "--token-file" in refused.stderr and "--anonymous" in refused.stderr, refused


def kubernetes(work):
    """The manifests keep to their schemas, and what they start serves what they mount."""
    for name in ("configmap", "git-sync"):
        manifest = DEPLOY / f"kubernetes/{name}.yaml"
        must([VENV / "kubernetes-validate", "--strict", manifest])
        parts = {part["kind"]: part for part in yaml.safe_load_all(manifest.read_text(encoding="utf-8"))}
        pod = parts["Deployment"]["spec"]["template"]["spec"]
        ours = next(each for each in pod["containers"] if each["name"] == "skillserve")
        place = work / name
        port = free_port()
        mounts = {each["mountPath"]: place / each["name"] for each in ours["volumeMounts"]}
        (place / "tokens").mkdir(parents=True)
        (place / "tokens/tokens").write_text(parts["Secret"]["stringData"]["tokens"], encoding="utf-8")
        if name == "configmap":
            project(place / "skills", parts["ConfigMap"], pod)
        else:
            sync(place / "git", "one")

        def local(argument):
            argument = re.sub(r"^--listen=.*", f"--listen=127.0.0.1:{port}", argument)
            for inside, outside in mounts.items():
                argument = re.sub(rf"(^|=){inside}(/|$)", rf"\1{outside}\2", argument)
            return argument

        token = parts["Secret"]["stringData"]["tokens"].strip().split(":")[1]
        with running([served.BINARY, *map(local, ours["args"])]) as process:
            serves(process, port, 1, token)
            for probe in ("livenessProbe", "readinessProbe"):
                assert get(port, ours[probe]["httpGet"]["path"], "10.1.2.3:8008")[0] == 200, probe
            service = parts["Service"]["metadata"]["name"]
            answer = post(port, "/mcp", "skills/list", {}, Host=f"{service}:8008", Authorization=f"Bearer {token}")
            assert answer.status == 200, answer.status
            assert post(port, "/mcp", "skills/list", {}, Host=service).status == 401
            if name == "git-sync":
                sync(place / "git", "two")
                is_two = lambda: b"skill://two/" in post(port, "/mcp", "skills/list", {}, Authorization=f"Bearer {token}").read()
                until("the next commit", is_two)
        assert process.returncode == 0, process.said()


def project(volume, config_map, pod):
    """Writes a ConfigMap as the kubelet does: each file is a link through a link that is swapped as a whole."""
    volume.mkdir()
    items = next(each["configMap"]["items"] for each in pod["volumes"] if "configMap" in each)
    for item in items:
        file = volume / "..2026" / item["path"]
        file.parent.mkdir(parents=True)
        file.write_text(config_map["data"][item["key"]], encoding="utf-8")
        first = pathlib.Path(item["path"]).parts[0]
        (volume / first).symlink_to(f"..data/{first}")
    (volume / "..data").symlink_to("..2026")


def sync(git, name):
    """Writes a commit with one skill as git-sync does, and swaps the link to it."""
    skill = git / ".worktrees" / name / name
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL.format(name, "d"), encoding="utf-8")
    (git / "next").symlink_to(f".worktrees/{name}")
    (git / "next").rename(git / "current")


def systemd(work):
    """The unit is well formed and confined, what it starts serves, and it takes over the socket."""
    unit = (DEPLOY / "systemd/skillserve.service").read_text(encoding="utf-8")
    (work / "skillserve.service").write_text(unit.replace("/usr/local/bin/skillserve", str(served.BINARY)), encoding="utf-8")
    shutil.copy(DEPLOY / "systemd/skillserve.socket", work)
    said = must(["systemd-analyze", "verify", work / "skillserve.service", work / "skillserve.socket"])
    assert "skillserve" not in said, said
    said = must(["systemd-analyze", "security", "--offline=yes", f"--threshold={int(EXPOSURE_MAX * 10)}", work / "skillserve.service"])
    command = shlex.split(re.search(r"^ExecStart=(.*)$", unit, re.M)[1])
    port = free_port()
    command = [served.BINARY, *(part.replace("/srv/skills", str(served.REPOSITORY / "skills-example")) for part in command[1:])]
    with running(["systemd-socket-activate", "-l", f"127.0.0.1:{port}", *command]) as process:
        # The first connection starts it.
        serves(process, port, 5)


def proxies(work):
    """Behind nginx and Caddy, under a path of its own: listing, page, a large file, a stream, and the client's address."""
    skills = work / "skills"
    (skills / "a").mkdir(parents=True)
    (skills / "a/SKILL.md").write_text(SKILL.format("a", "first"), encoding="utf-8")
    (skills / "a/large.bin").write_bytes(bytes(range(256)) * 4096 * 8)
    inner = free_port()
    command = [served.BINARY, "http", "--listen", f"127.0.0.1:{inner}", "--allow-host", "example.com",
               "--trusted-proxy", "127.0.0.1/32", skills]
    for name, proxy in (("nginx", nginx), ("caddy", caddy)):
        outer = free_port()
        with running(command) as process:
            serves(process, inner, 1)
            with proxy(work, inner, outer):
                through(name, outer, process, skills)
        assert process.returncode == 0, process.said()


def through(name, port, process, skills):
    host = {"Host": "example.com"}
    until(f"{name}", lambda: get(port, "/skills/", "example.com")[0] == 200)
    page = get(port, "/skills/", "example.com")[1].decode()
    for link in re.findall(r'(?:href|src|action)="([^"]*)"', page):
        assert not link.startswith("/"), f"{name}: the link {link} leads out of the path"
    path = "/skills/mcp"
    large = json.loads(post(port, path, "resources/read", {"uri": "skill://a/large.bin"}, **host).read())
    assert len(large["result"]["contents"][0]["blob"]) > 10 << 20
    filter_ = {"notifications": {"resourcesListChanged": True, "resourceSubscriptions": ["skill://a/SKILL.md"]}}
    stream = post(port, path, "subscriptions/listen", filter_, **host)
    assert stream.status == 200, stream.status
    lines = iter(stream.readline, b"")
    next(line for line in lines if b"acknowledged" in line)
    (skills / "a/SKILL.md").write_text(SKILL.format("a", f"changed through {name}"), encoding="utf-8")
    next(line for line in lines if b"notifications/resources/updated" in line)
    # What a client says of itself is not believed: the log names where it comes from.
    post(port, path, "skills/list", {}, **host, **{"X-Forwarded-For": "203.0.113.9", "X-Request-Id": f"{name}-forged"}).read()
    line = until("the line of a request", lambda: next((line for line in process.said().splitlines() if f"{name}-forged" in line), None))
    assert "address=127.0.0.1" in line and "203.0.113.9" not in line, line
    too_large = post(port, path, "skills/list", {"cursor": "x" * (300 << 10)}, **host)
    assert too_large.status in (400, 413), too_large.status
    stream.close()


@contextlib.contextmanager
def nginx(work, inner, outer):
    snippet = (DEPLOY / "proxy/nginx.conf").read_text(encoding="utf-8").replace("127.0.0.1:8008", f"127.0.0.1:{inner}")
    (work / "skillserve.conf").write_text(snippet, encoding="utf-8")
    (work / "nginx.conf").write_text(f"""
        daemon off; pid {work}/nginx.pid; error_log stderr;
        events {{}}
        http {{
            access_log off; client_body_temp_path {work}/body; proxy_temp_path {work}/proxy;
            fastcgi_temp_path {work}/f; uwsgi_temp_path {work}/u; scgi_temp_path {work}/s;
            server {{ listen 127.0.0.1:{outer}; include {work}/skillserve.conf; }}
        }}""", encoding="utf-8")
    must(["nginx", "-t", "-c", work / "nginx.conf"])
    with running(["nginx", "-c", work / "nginx.conf"]):
        yield


@contextlib.contextmanager
def caddy(work, inner, outer):
    snippet = (DEPLOY / "proxy/Caddyfile").read_text(encoding="utf-8")
    assert must(["caddy", "fmt", DEPLOY / "proxy/Caddyfile"]) == snippet, "caddy fmt would change it"
    # Plain HTTP on a free port, because nobody gives out a certificate here.
    snippet = snippet.replace("127.0.0.1:8008", f"127.0.0.1:{inner}").replace("example.com {", f"http://example.com:{outer} {{")
    (work / "Caddyfile").write_text("{\n\tadmin off\n\tgrace_period 2s\n}\n" + snippet, encoding="utf-8")
    home = {**os.environ, "HOME": str(work), "XDG_DATA_HOME": str(work), "XDG_CONFIG_HOME": str(work)}
    with running(["caddy", "run", "--config", work / "Caddyfile", "--adapter", "caddyfile"], env=home):
        yield


def main():
    failures, checks = [], [container, kubernetes, systemd, proxies]
    only = sys.argv[1:]
    for check in checks:
        if only and check.__name__ not in only:
            continue
        with tempfile.TemporaryDirectory() as work:
            try:
                check(pathlib.Path(work))
            except (AssertionError, OSError, StopIteration, subprocess.SubprocessError, json.JSONDecodeError) as error:
                failures.append(f"{check.__name__}: {error.__context__ or error!r}")
    served.finish("deploy", failures, len(only) or len(checks))


if __name__ == "__main__":
    main()
