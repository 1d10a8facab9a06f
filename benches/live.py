#!/usr/bin/env python3
"""What following changes costs, over trees of 1,000 and 20,000 skills with ten files each.

usage: benches/live.py [SKILLS …]        env SKILLSERVE: the binary (default: target/release/skillserve)

Prints, for each size, as medians of several rounds:
  start      from spawn to the answer of the first skills/get
  idle look  a look at everything that finds nothing new (SIGHUP): processor time, and how many bytes it read
  one edit   from a finished write of one SKILL.md to the first skills/get that shows its new digest, and processor time
A bare walk with stat over the same tree, in this process, stands beside them for comparison.
Linux only: it reads /proc.
"""
import hashlib, json, os, pathlib, signal, statistics, subprocess, sys, tempfile, time

FILES, ROUNDS = 9, 15
BINARY = os.environ.get("SKILLSERVE", "target/release/skillserve")
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}


def skill_md(n, more=""):
    return f"---\nname: skill-{n}\ndescription: Skill number {n}.\n---\n\n# Skill {n}\n{more}".encode()


def make(root, skills):
    for n in range(skills):
        directory = root / f"group-{n % 100}" / f"skill-{n}" / "references"
        directory.mkdir(parents=True)
        (directory.parent / "SKILL.md").write_bytes(skill_md(n))
        for k in range(FILES):
            (directory / f"file-{k}.md").write_bytes(f"file {k} of skill {n}\n".encode() * 20)


def walk(root):
    """A bare walk with stat, the least that any look at everything does."""
    start, stack = time.process_time(), [root]
    while stack:
        with os.scandir(stack.pop()) as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    stack.append(entry.path)
    return time.process_time() - start


class Server:
    def __init__(self, root):
        self.process = subprocess.Popen([BINARY, "stdio", "-q", root], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.id = 0

    def digest(self, n):
        uri = f"skill://group-{n % 100}/skill-{n}/SKILL.md"
        self.id += 1
        request = {"jsonrpc": "2.0", "id": self.id, "method": "skills/get", "params": {"uri": uri, "_meta": META}}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return next(f["digest"] for f in answer["result"]["skill"]["resources"] if f["uri"] == uri)

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def read_bytes(self):
        io = pathlib.Path(f"/proc/{self.process.pid}/io").read_text()
        return int(next(line for line in io.splitlines() if line.startswith("rchar")).split()[1])

    def settle(self):
        """Waits until the process has used no processor time for half a second."""
        last, since = self.cpu(), time.time()
        while time.time() - since < 0.5:
            time.sleep(0.05)
            if self.cpu() != last:
                last, since = self.cpu(), time.time()

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


def bench(skills):
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        make(root, skills)
        walked = statistics.median(walk(root) for _ in range(3))
        start = time.time()
        server = Server(root)
        server.digest(0)
        started = time.time() - start
        # Files as young as the clock of a file system is coarse are read twice.
        time.sleep(3)
        os.kill(server.process.pid, signal.SIGHUP)
        time.sleep(0.2)
        server.settle()

        idle, read = [], []
        for _ in range(3):
            cpu, bytes_before = server.cpu(), server.read_bytes()
            os.kill(server.process.pid, signal.SIGHUP)
            time.sleep(0.2)
            server.settle()
            idle.append(server.cpu() - cpu)
            read.append(server.read_bytes() - bytes_before)

        latency, cpu = [], server.cpu()
        for k in range(ROUNDS):
            n = k * 997 % skills
            content = skill_md(n, f"edit {k}\n")
            wanted = "sha256:" + hashlib.sha256(content).hexdigest()
            path = root / f"group-{n % 100}" / f"skill-{n}" / "SKILL.md"
            path.write_bytes(content)
            start = time.time()
            while server.digest(n) != wanted:
                if time.time() - start > 20:
                    sys.exit(f"an edit was not seen: {path}")
            latency.append(time.time() - start)
        rss = next(line for line in pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
                   if line.startswith("VmRSS"))
        server.close()
    median = statistics.median
    print(f"{skills:7} skills  walk {walked:6.2f} s  start {started:6.2f} s  "
          f"idle look {median(idle):6.2f} s cpu, {median(read) / 1000:.0f} kB read  "
          f"one edit {median(latency) * 1000:5.1f} ms (worst {max(latency) * 1000:.1f})  {' '.join(rss.split()[1:])} resident",
          flush=True)


for size in [int(word) for word in sys.argv[1:]] or [1000, 20000]:
    bench(size)
