#!/usr/bin/env python3
"""What a large catalog costs in memory and at its start, over trees of ten files a skill.

usage: benches/memory.py [SKILLS …] [--bytes N] [--cache-bytes N] [--edits N]
       env SKILLSERVE: the binary (default: target/release/skillserve)

--bytes makes each file about so long (default 400); 9700 makes 20,000 skills 1.9 GB. --cache-bytes is given to the server
(default 0, so that nothing but the catalog is measured). --edits 0 leaves edits out. Prints, for each size:
  resident   of `skillserve http` less that over an empty directory, in bytes a file: once it has started and rests, after
             each of three looks at everything, and the most that it was until then; and what it is over the empty directory
  start      from spawn to the line that says what is served, and its processor time; beside them `openssl sha256` over the
             same files, on as many processors as there are, page cache warm for both
  one edit   processor time from a finished write of one file until the process rests again, less that of a write beside
             the tree, which nobody looks at: a mean over many
Linux only: it reads /proc.
"""
import argparse, os, pathlib, re, signal, statistics, subprocess, sys, tempfile, time

FILES, LOOKS = 9, 3
BINARY = os.environ.get("SKILLSERVE", "target/release/skillserve")
LINE = b"Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt.\n"


def make(root, skills, size):
    body = LINE * (size // len(LINE))
    for n in range(skills):
        directory = root / f"group-{n % 100}" / f"skill-{n}" / "references"
        directory.mkdir(parents=True)
        head = f"---\nname: skill-{n}\ndescription: Skill number {n}.\n---\n\n# Skill {n}\n"
        (directory.parent / "SKILL.md").write_bytes(head.encode() + body)
        for k in range(FILES):
            (directory / f"file-{k}.md").write_bytes(f"file {k} of skill {n}\n".encode() + body)


class Server:
    def __init__(self, root):
        start = time.time()
        command = [BINARY, "http", "--listen", "127.0.0.1:0", "--cache-bytes", str(arguments.cache_bytes), root]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE)
        while b"serving" not in self.process.stderr.readline():
            if self.process.poll() is not None:
                sys.exit("the server ended")
        self.started, self.start_cpu = time.time() - start, self.cpu()

    def cpu(self):
        """Processor time of all threads in seconds, to the nanosecond."""
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def status(self, field):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(field + r":\s+(\d+)", text).group(1)) * 1024

    def settle(self):
        """Waits until the process has used hardly any processor time for half a second."""
        last, since = self.cpu(), time.time()
        while time.time() - since < 0.5:
            time.sleep(0.05)
            if self.cpu() - last > 0.0005:
                last, since = self.cpu(), time.time()

    def look(self):
        os.kill(self.process.pid, signal.SIGHUP)
        time.sleep(0.2)
        self.settle()

    def close(self):
        self.process.terminate()
        self.process.wait(10)


def resident(server):
    """What is resident once it rests, and after each look, and the most that was."""
    server.settle()
    # Files as young as the clock of a file system is coarse are read twice.
    time.sleep(2.5)
    found = [server.status("VmRSS")]
    for _ in range(LOOKS):
        server.look()
        found.append(server.status("VmRSS"))
    return found, server.status("VmHWM")


def edit(server, path):
    path.write_bytes(path.read_bytes() + b"more\n")
    time.sleep(0.3)
    server.settle()


def openssl(root):
    start = time.time()
    command = f"find {root} -type f -print0 | xargs -0 -P {os.cpu_count()} -n 500 openssl sha256"
    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)
    return time.time() - start


def bench(skills, size):
    files = skills * (FILES + 1)
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory) / "skills"
        make(root, skills, size)
        server = Server(empty)
        (base, *_), _ = resident(server)
        server.close()
        openssl(root)
        hashed = statistics.median(openssl(root) for _ in range(3))
        starts = []
        for _ in range(3):
            server = Server(root)
            starts.append((server.started, server.start_cpu))
            if len(starts) < 3:
                server.close()
        started, cpu = statistics.median(start for start, _ in starts), statistics.median(cpu for _, cpu in starts)
        now, peak = resident(server)
        rows = [f"{(resident - base) / files:4.0f}" for resident in (*now, peak)]
        print(f"{skills:7} skills  {files:8} files  resident, B a file: start {rows[0]}, looks {' '.join(rows[1:-1])}, most {rows[-1]}"
              f"  (empty {base / 1e6:.1f} MB)  start {started:.2f} s, {cpu:.2f} s cpu  openssl {hashed:.2f} s  "
              f"ratio {started / hashed:.2f}", flush=True)
        beside = pathlib.Path(directory) / "beside"
        beside.write_bytes(b"")
        costs = []
        for is_beside in [True, False] if arguments.edits else []:
            before = server.cpu()
            for n in (k * 997 % skills for k in range(arguments.edits)):
                skill = root / f"group-{n % 100}" / f"skill-{n}" / "references" / "file-3.md"
                edit(server, beside if is_beside else skill)
            costs.append((server.cpu() - before) / arguments.edits)
        server.close()
    if costs:
        print(f"{skills:7} skills  one edit {(costs[1] - costs[0]) * 1000:.2f} ms cpu", flush=True)


arguments = argparse.ArgumentParser()
arguments.add_argument("skills", nargs="*", type=int, default=[1000, 20000])
arguments.add_argument("--bytes", type=int, default=400)
arguments.add_argument("--cache-bytes", type=int, default=0)
arguments.add_argument("--edits", type=int, default=20)
arguments = arguments.parse_args()
for size in arguments.skills:
    bench(size, arguments.bytes)
