#!/usr/bin/env python3
"""A server under attack goes on to serve a well-behaved client, and stays small.

usage: load.py [SECONDS]
Linux only: the attackers come from another loopback address. 1,000 connections say nothing; 200 read a large file at hardly
more than the least rate; 200 send a body byte by byte; 200 streams of HTTP/2 want nothing of the large file that they asked
for; and a flood of requests comes over 8 connections. Meanwhile one client asks for the listing and for files.
"""
import asyncio
import contextlib
import http.client
import json
import multiprocessing
import pathlib
import re
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time

import served

IDLE, SLOW_READERS, SLOW_WRITERS, FLOOD = 1000, 200, 200, 8
STARVED_CONNECTIONS, STARVED_STREAMS = 10, 20
ATTACKER = "127.0.0.2"
LARGE_BYTES, MIDDLE_BYTES = 8 << 20, 300 << 10
# Twice the least rate, with which a client can be sure to be served, and a little more.
SLOW_BYTES_A_SECOND = 70 << 10

# What must hold. A machine that does much else is slow at times, and then it is so without an attack too.
LISTING_P99_MAX_SECONDS = 1.0
FILE_MAX_SECONDS = 8.0
SLOWER_MAX_TIMES = 5
MEMORY_MAX_MIB = 512

# The server holds all of the attack where it may open as many files as this, some for its own use among them.
FILES = 4096
# Of which each process that attacks needs less than many systems allow.
CONNECTIONS_A_PROCESS = 500
# Apart enough for old systems, which let few connections wait, and drop what is more so that it looks open to its client.
CONNECT_SECONDS = 0.005


def request(method, params, name=None):
    """Headers and body of a request."""
    meta = {"io.modelcontextprotocol/protocolVersion": served.MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}).encode()
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream",
               "mcp-protocol-version": served.MODERN, "mcp-method": method, **({"mcp-name": name} if name else {})}
    return headers, body


LISTING = request("skills/list", {})
LARGE, MIDDLE = (request("resources/read", {"uri": uri}, uri) for uri in ("skill://big/large.txt", "skill://big/middle.txt"))


def http_1(request, length=None):
    headers, body = request
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length or len(body)}\r\n{lines}\r\n".encode() + body


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def http_2(request, streams):
    """A connection's beginning with a window of no bytes, and the same request over and over."""
    headers, body = request
    head = {":method": "POST", ":scheme": "http", ":authority": "localhost", ":path": "/mcp", **headers}
    # Each header as a literal that is not indexed.
    head = b"".join(b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
                    for name, value in head.items())
    begin = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, struct.pack(">HI", 4, 0))
    return begin + b"".join(frame(1, 4, 2 * i + 1, head) + frame(0, 1, 2 * i + 1, body) for i in range(streams))


async def for_ever(port, attack, start):
    """One connection after the other, from `start` seconds on."""
    await asyncio.sleep(start)
    while True:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            connection = socket.socket()
            try:
                connection.setblocking(False)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
                connection.bind((ATTACKER, 0))
                await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
                await attack(connection, asyncio.get_running_loop())
            finally:
                connection.close()
        await asyncio.sleep(0.5)


async def until_closed(connection, loop):
    while await loop.sock_recv(connection, 4096):
        pass


async def idle(connection, loop):
    await until_closed(connection, loop)


async def slow_reader(connection, loop):
    await loop.sock_sendall(connection, http_1(LARGE))
    while await loop.sock_recv(connection, SLOW_BYTES_A_SECOND):
        await asyncio.sleep(1)


async def slow_writer(connection, loop):
    sent = http_1(LISTING, length=200_000)
    await loop.sock_sendall(connection, sent)
    while True:
        await asyncio.sleep(1)
        await loop.sock_sendall(connection, b" ")


async def starved(connection, loop):
    await loop.sock_sendall(connection, http_2(LARGE, STARVED_STREAMS))
    await until_closed(connection, loop)


def attack(port, kinds):
    async def main():
        await asyncio.gather(*(for_ever(port, kind, i * CONNECT_SECONDS) for i, kind in enumerate(kinds)))
    asyncio.run(main())


def flood(port):
    async def one():
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, ValueError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(ATTACKER, 0))
                while True:
                    writer.write(http_1(LISTING))
                    head = await reader.readuntil(b"\r\n\r\n")
                    await reader.readexactly(int(re.search(rb"content-length: (\d+)", head)[1]))
            await asyncio.sleep(0.05)

    async def main():
        await asyncio.gather(*(one() for _ in range(FLOOD)))
    asyncio.run(main())


class WellBehaved:
    """Asks for the listing on a kept connection and on new ones, and for files."""

    def __init__(self, port):
        self.port = port
        self.kept = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        self.seconds = {"listing": [], "listing on a new connection": [], "file of 300 KiB": [], "file of 8 MiB": []}
        self.failures = []

    def ask(self, what, request, connection):
        begin = time.monotonic()
        try:
            headers, body = request
            connection.request("POST", "/mcp", body, headers)
            answer = connection.getresponse()
            length = len(answer.read())
            if answer.status != 200 or length < (LARGE_BYTES if "8 MiB" in what else 100):
                self.failures.append(f"{what}: {answer.status}, {length} bytes")
        except OSError as error:
            self.failures.append(f"{what}: {error!r}")
            connection.close()
        self.seconds[what].append(time.monotonic() - begin)

    def once(self, what, request):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            self.ask(what, request, connection)

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(20):
                self.ask("listing", LISTING, self.kept)
                time.sleep(0.01)
            self.once("listing on a new connection", LISTING)
            self.once("file of 300 KiB", MIDDLE)
            self.once("file of 8 MiB", LARGE)

    def worst(self, what, share):
        seconds = sorted(self.seconds[what])
        return seconds[min(len(seconds) - 1, int(len(seconds) * share))] if seconds else float("inf")


def memory_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def connections(pid):
    opened = 0
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        # Some are closed meanwhile.
        with contextlib.suppress(FileNotFoundError):
            opened += "socket:" in str(descriptor.readlink())
    return opened


def allow_files():
    """How many files this process and its children may open: as many as the attack needs, if the system lets it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Only root may raise the hard limit.
    for limit in (max(FILES, hard), hard):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            return limit
    return hard


def attackers_in(files):
    """What attacks a server that may open so many files: all, or the same mixture to a smaller number."""
    kinds = [(idle, IDLE), (slow_reader, SLOW_READERS), (slow_writer, SLOW_WRITERS)]
    every = sum(count for _, count in kinds)
    # The server keeps some files for itself, and a part of the rest from any one address.
    fitting = min(every, files // 3)
    if fitting < every:
        print(f"only {files} files may be open: {fitting} connections attack instead of {every}")
    return [kind for kind, count in kinds for _ in range(count * fitting // every)]


def main(seconds):
    kinds = attackers_in(allow_files())
    failures = []
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryFile() as errors:
        skill = pathlib.Path(root) / "big"
        skill.mkdir()
        (skill / "SKILL.md").write_text("---\nname: big\ndescription: Large files.\n---\n", encoding="utf-8")
        (skill / "large.txt").write_text("x" * LARGE_BYTES, encoding="utf-8")
        (skill / "middle.txt").write_text("x" * MIDDLE_BYTES, encoding="utf-8")
        server = subprocess.Popen([served.BINARY, "http", "--listen", "127.0.0.1:0", root],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        attackers = []
        try:
            port = int(re.search(r":(\d+)/", served.wait_for_url(server, errors, [root]))[1])
            # The first answer waits until everything has been read once.
            WellBehaved(port).once("listing", LISTING)
            alone = WellBehaved(port)
            alone.run(5)
            print(f"alone: {memory_mib(server.pid):.0f} MiB, listing {alone.worst('listing', 0.99) * 1000:.1f} ms (p99), "
                  f"file of 8 MiB {alone.worst('file of 8 MiB', 1) * 1000:.1f} ms at most")
            parties = [kinds[i:i + CONNECTIONS_A_PROCESS] for i in range(0, len(kinds), CONNECTIONS_A_PROCESS)]
            for target, *rest in [*((attack, party) for party in parties), (attack, [starved] * STARVED_CONNECTIONS), (flood,)]:
                attackers.append(multiprocessing.Process(target=target, args=(port, *rest), daemon=True))
                attackers[-1].start()
            end = time.monotonic() + 20
            # Readers that are put off come and go.
            wanted = len(kinds) - kinds.count(slow_reader) // 2
            while (opened := connections(server.pid)) < wanted and time.monotonic() < end:
                time.sleep(0.2)
            print(f"attacked over {opened} connections and more")
            if opened < wanted:
                failures.append("the attack could not be made")
            client = WellBehaved(port)
            client.run(seconds)
            memory = memory_mib(server.pid)
            for what, times in client.seconds.items():
                print(f"{what}: {len(times)} times, {client.worst(what, 0.5) * 1000:.1f} ms (median), "
                      f"{client.worst(what, 0.99) * 1000:.1f} ms (p99), {client.worst(what, 1) * 1000:.1f} ms at most")
            print(f"{memory:.0f} MiB at most")
            failures += client.failures[:20]
            for what in client.seconds:
                share, bound = (0.99, LISTING_P99_MAX_SECONDS) if "listing" in what else (1, FILE_MAX_SECONDS)
                bound = max(bound, SLOWER_MAX_TIMES * alone.worst(what, share))
                if client.worst(what, share) > bound:
                    failures.append(f"{what} took {client.worst(what, share):.1f} s, not {bound:.1f} s")
            if memory > MEMORY_MAX_MIB:
                failures.append(f"{memory:.0f} MiB of memory")
            server.terminate()
            try:
                if code := server.wait(15):
                    failures.append(f"exit code {code}")
            except subprocess.TimeoutExpired:
                failures.append("it did not stop in time")
        finally:
            for attacker in attackers:
                attacker.kill()
            server.kill()
            server.wait()
    served.finish("load", failures, len(failures) + 1)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
