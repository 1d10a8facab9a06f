#!/usr/bin/env python3
"""How fast the server answers over HTTP, over trees of 1,000 and 20,000 skills, beside the tuned peer and a bare route.

For each size, in turn, as medians with the least and the most:
  requests  skills/get, resources/read of a file of some 10 KiB and resources/directory/read; the bare route gives out as
            many bytes as the server's answers have. The set of files that is asked for fits into every cache. Whatever
            answers has one processor, and the client another one. Processor time is that of the program that answers
  miss      the same with `--cache-bytes 0`, if the server has the option
  pages     the whole catalog through all of its pages, and the first page alone
  blobs     clients that each ask for a file of 10 MiB and do not read: what is resident beyond the server at rest, for each
            answer in flight, as a multiple of the answer's body
"""
import json
import os
import pathlib
import socket
import statistics
import tempfile
import time

import common

BLOB_BYTES = 10 << 20
BLOBS = 16
CLIENTS = [1, 4, 16, 64]
PAGE_MAX_BYTES = 256 * 1024
# What two answers must agree about.
FACTS = {"skills/get": lambda answer: sorted((file["uri"], file["digest"]) for file in answer["skill"]["resources"]),
         "resources/read": lambda answer: answer["contents"][0]["text"],
         "resources/directory/read": lambda answer: sorted(child["uri"] for child in answer["resources"])}


def same_answers(server, peer, asked):
    """Makes sure that both answer alike: the peer is a yardstick only if it does the same work."""
    for method, messages in asked.items():
        mine, theirs = (json.loads(web.exchange(messages[0]))["result"] for web in (server, peer))
        if FACTS[method](mine) != FACTS[method](theirs):
            raise SystemExit(f"the peer answers {method} with something else")


def each_request(options, asked, webs, peers):
    rows = []
    for method, messages in asked.items():
        size = round(statistics.mean(len(webs["server"].exchange(each)) for each in messages[:50]))
        with common.messages(messages) as file, common.Web([peers / "bare", size], **common.on("server")) as bare:
            def load(web):
                cpu = web.fine_cpu()
                told = common.run_json(peers / "load", "http", web.address, file, options.connections,
                                       options.seconds, **common.on("client"))
                return {**told, "cpu_us": (web.fine_cpu() - cpu) * 1e6 / told["answers"]}

            found = common.rounds(options.rounds, {name: lambda web=web: load(web)
                                                   for name, web in {**webs, "bare": bare}.items()})
        rate = {name: [each["per_second"] for each in runs] for name, runs in found.items()}
        cpu = {name: statistics.median(each["cpu_us"] for each in runs) for name, runs in found.items()}
        for name, runs in found.items():
            over = lambda other: f"{common.ratio(rate[name], rate[other]):.2f}" if name != other else ""
            p50, p99 = (statistics.median(each[key] for each in runs) for key in ("p50_us", "p99_us"))
            rows.append([f"`{method}`, {size:,} B" if name == "server" else "", name, common.median(rate[name]),
                         over("peer"), over("bare"), f"{cpu[name]:,.1f}",
                         f"{cpu['peer'] / cpu[name]:.2f}" if name != "peer" else "", f"{p50:,.0f}", f"{p99:,.0f}"])
    common.table(["", "", "requests a second", "× peer", "× bare", "CPU, µs a request", "the peer's ×", "p50, µs", "p99, µs"],
                 rows)


def listing(options, webs, peers):
    with common.messages([common.message(1, "skills/list")]) as file:
        run = lambda web, *words: common.run_json(peers / "load", words[0], web.address, file, *words[1:], options.seconds)
        whole = common.rounds(options.rounds, {name: lambda web=web: run(web, "pages") for name, web in webs.items()})
        first = common.rounds(options.rounds, {"server": lambda: run(webs["server"], "http", 1)})["server"]
    speed = {name: [each["mb_per_second"] for each in runs] for name, runs in whole.items()}
    largest = {name: max(each["largest_bytes"] for each in runs) for name, runs in whole.items()}
    rows = [[name, common.median(speed[name]), f"{common.ratio(speed[name], speed['peer']):.2f}",
             common.median((each["whole_ms"] for each in runs), "{:,.1f}"), runs[0]["pages"], f"{largest[name]:,}"]
            for name, runs in whole.items()]
    common.table(["whole catalog, one connection", "MB/s", "× peer", "ms", "pages", "largest page, B"], rows)
    p50, p99 = (common.median((each[key] / 1e3 for each in first), "{:.2f}") for key in ("p50_us", "p99_us"))
    print(f"First page: {p50} ms at p50, {p99} ms at p99. Largest page within {PAGE_MAX_BYTES:,} bytes: "
          f"{'yes' if largest['server'] <= PAGE_MAX_BYTES else 'NO'}.\n")


def bench(options, skills, peers):
    print(f"### {skills:,} skills\n")
    asked = common.requests(skills, options.set)
    with common.tree(options, skills) as root:
        common.warm(root)
        alone = common.on("server")
        with (common.serve(root, **alone) as server, common.serve(root, "--cache-bytes", "0", **alone) as miss,
              common.Web([peers / "peer", "http", root], **alone) as peer):
            same_answers(server, peer, asked)
            miss.ask("skills/get", uri=common.skill_uri(0))
            each_request(options, asked, {"server": server, "server, --cache-bytes 0": miss, "peer": peer}, peers)
        with common.serve(root) as server, common.Web([peers / "peer", "http", root]) as peer:
            server.ask("skills/get", uri=common.skill_uri(0))
            listing(options, {"server": server, "peer": peer}, peers)


def unread(server, clients):
    """How much memory it takes to answer so many clients that do not read, and how many answers there were."""
    server.settle()
    before = server.memory()
    server.forget_peak()
    sockets = []
    for client in range(clients):
        host, port = server.address.rsplit(":", 1)
        connection = socket.create_connection((host, int(port)))
        body = common.message(client, "resources/read", uri=common.skill_uri(client % BLOBS, "blob.bin"))
        headers = {"Host": server.address, **common.headers(body), "Content-Length": len(json.dumps(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        connection.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n{json.dumps(body)}".encode())
        sockets.append(connection)
    time.sleep(1)
    server.settle()
    peak = server.peak_memory() - before
    answered = 0
    for connection in sockets:
        connection.setblocking(False)
        try:
            answered += bool(connection.recv(1))
        except BlockingIOError:
            pass
        connection.close()
    return peak, answered


def blobs(peers):
    """The largest answers. Each number of clients has a server of its own: an allocator keeps what it had."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for n in range(BLOBS):
            skill = root / common.skill_path(n)
            skill.mkdir(parents=True)
            (skill / "SKILL.md").write_bytes(common.skill_md(n))
            (skill / "blob.bin").write_bytes(bytes([n]) + os.urandom(BLOB_BYTES - 1))
        starts = {"server": lambda: common.serve(root), "peer": lambda: common.Web([peers / "peer", "http", root])}
        rows = []
        for clients in CLIENTS:
            for name, start in starts.items():
                with start() as web:
                    web.ask("skills/get", uri=common.skill_uri(0))
                    body = len(web.exchange(common.message(0, "resources/read", uri=common.skill_uri(0, "blob.bin"))))
                with start() as web:
                    web.ask("skills/get", uri=common.skill_uri(0))
                    rest = web.memory()
                    peak, answered = unread(web, clients)
                rows.append([clients, name, answered, f"{rest / 1e6:,.0f} MB", f"{peak / 1e6:,.0f} MB",
                             f"{peak / body / max(answered, 1):.2f}"])
    print(f"### Files of 10 MiB, answers of {body / 1e6:.1f} MB, clients that do not read\n")
    common.table(["clients", "", "answers begun", "at rest", "peak beyond", "an answer, × body"], rows)


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--seconds", type=float, default=2, help="how long each round is (default: 2)")
    parser.add_argument("--set", type=int, default=1000, help="how many skills are asked for (default: 1000)")
    parser.add_argument("--connections", type=int, default=16, help="how many requests are in flight (default: 16)")
    parser.add_argument("--no-blobs", action="store_true", help="leave the large files out")
    options = parser.parse_args()
    peers = common.peers()
    common.machine()
    for skills in options.skills:
        bench(options, skills, peers)
    if not options.no_blobs:
        blobs(peers)


main()
