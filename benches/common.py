"""What the benchmarks share: the trees, the programs, what is asked, and how a figure is told.

Two programs are compared by turns, in one run on one machine (`rounds`), and as medians: the server, the load and everything
else share the processors, so that a time alone says little and a ratio says more.
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import platform
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}
LINE = 'Step {}: read the "reference" first, then do what it says; write down what was done, and why.\n'


# Programs.

def server():
    """The binary that is measured."""
    binary = pathlib.Path(os.environ.get("SKILLSERVE", ROOT / "target/release/skillserve"))
    if not binary.exists():
        sys.exit(f"{binary} is missing: run `cargo build --release`, or set SKILLSERVE")
    return str(binary.resolve())


def peers():
    """The directory of the bench-only binaries, which are built first."""
    target = pathlib.Path(os.environ.get("SKILLSERVE_PEERS", ROOT / "target/peer"))
    # What the peer is built with must not depend on how its caller builds.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CARGO_PROFILE_")}
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", HERE / "peer/Cargo.toml",
                    "--target-dir", target], check=True, env=environment)
    return target / "release"


def has_option(option):
    """Whether the server knows this option."""
    return option in subprocess.run([server(), "http", "--help"], capture_output=True, text=True, check=True).stdout


# Trees.

def skill_path(n):
    return f"group-{n % 100}/skill-{n}"


def skill_uri(n, file="SKILL.md"):
    return f"skill://{skill_path(n)}/{file}"


def skill_md(n, more=""):
    return f"---\nname: skill-{n}\ndescription: Skill number {n}.\n---\n\n# Skill {n}\n{more}".encode()


def text(title, length):
    """So many bytes of Markdown that no other title has."""
    lines, size = [f"# {title}\n\n"], len(title) + 4
    while size < length:
        lines.append(LINE.format(len(lines)))
        size += len(lines[-1])
    return "".join(lines)[:length].encode()


def make(root, skills, files, length):
    """A tree of skills that have so many files each, all but SKILL.md of this length."""
    root = pathlib.Path(root)
    body = text("", length)
    for n in range(skills):
        references = root / skill_path(n) / "references"
        references.mkdir(parents=True)
        more = text("", max(0, length - 100)).decode() if length > 1000 else ""
        (references.parent / "SKILL.md").write_bytes(skill_md(n, more))
        for k in range(files - 1):
            title = f"# File {k} of skill {n}\n".encode()
            (references / f"file-{k}.md").write_bytes((title + body)[:length])


@contextlib.contextmanager
def tree(options, skills):
    """A tree as the options want it. One that is there and whole is taken, and one that is not to be kept is deleted."""
    parent = pathlib.Path(options.dir or tempfile.gettempdir())
    root = parent / f"skillserve-bench-{skills}x{options.files}x{options.bytes}"
    whole = root.with_suffix(".whole")
    if not whole.exists():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        make(root, skills, options.files, options.bytes)
        whole.touch()
    try:
        yield root
    finally:
        if not options.keep:
            whole.unlink(missing_ok=True)
            shutil.rmtree(root, ignore_errors=True)


def with_trees(options, run):
    """Calls `run` with the trees of all sizes, by size."""
    with contextlib.ExitStack() as stack:
        roots = {skills: stack.enter_context(tree(options, skills)) for skills in options.skills}
        for root in roots.values():
            warm(root)
        run(roots)


def warm(root):
    """Reads everything once, so that the page cache holds it."""
    for directory, _, names in os.walk(root):
        for name in names:
            with open(os.path.join(directory, name), "rb") as file:
                while file.read(1 << 20):
                    pass


# What is asked.

def message(id, method, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": META}}


def spread(skills, count):
    """So many skills' numbers, all over the tree."""
    count = min(skills, count)
    return [at * skills // count for at in range(count)]


def requests(skills, count):
    """Messages that ask for so many skills, by method."""
    numbers = spread(skills, count)
    ask = lambda method, uri: [message(id, method, uri=uri(n)) for id, n in enumerate(numbers)]
    return {"skills/get": ask("skills/get", skill_uri),
            "resources/read": ask("resources/read", lambda n: skill_uri(n, "references/file-0.md")),
            "resources/directory/read": ask("resources/directory/read", lambda n: skill_uri(n, "references"))}


@contextlib.contextmanager
def messages(these):
    """A file of messages, one a line."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(each) + "\n" for each in these)
        file.flush()
        yield file.name


def headers(body):
    head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": body["method"]}
    if body["method"] == "resources/read":
        head["Mcp-Name"] = body["params"]["uri"]
    return head


class Process:
    """A running program, and what the system says of it. Linux only: it reads /proc."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen([str(word) for word in command], **options)
        self.pid = self.process.pid

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def fine_cpu(self):
        """Processor time in seconds, by nanoseconds. That of threads which have ended is not in it."""
        tasks = pathlib.Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def read_bytes(self):
        return self._field("io", "rchar")

    def memory(self):
        """Resident bytes."""
        return self._field("status", "VmRSS") * 1024

    def peak_memory(self):
        """The most that were resident since the beginning or `forget_peak`."""
        return self._field("status", "VmHWM") * 1024

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def _field(self, file, name):
        lines = pathlib.Path(f"/proc/{self.pid}/{file}").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(name)).split()[1])

    def settle(self, seconds=0.5):
        """Waits until the process has used no processor time for so long."""
        last, since = self.cpu(), time.time()
        while time.time() - since < seconds:
            time.sleep(0.05)
            if self.cpu() != last:
                last, since = self.cpu(), time.time()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Pipe(Process):
    """A program that is spoken to over its pipes."""

    def __init__(self, command, **pipes):
        super().__init__(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **pipes)
        self.id = 0

    def send(self, method, **params):
        self.id += 1
        self.process.stdin.write(json.dumps(message(self.id, method, **params)).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the program ended")
        return json.loads(line)

    def ask(self, method, **params):
        self.send(method, **params)
        answer = self.receive()
        return answer["result"] if "result" in answer else sys.exit(f"{method}: {answer}")

    def digest(self, n):
        """The digest that a skill's SKILL.md has now."""
        files = self.ask("skills/get", uri=skill_uri(n))["skill"]["resources"]
        return next(file["digest"] for file in files if file["uri"] == skill_uri(n))

    def close(self):
        """Ends the input, and waits until everything is answered."""
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait(20)

    def __exit__(self, *_):
        self.close()


class Web(Process):
    """A program that listens, and says on stderr where."""

    def __init__(self, command, **pipes):
        super().__init__(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **pipes)
        for line in self.process.stderr:
            if "http://" in line:
                self.address = line.split("http://")[1].split("/")[0]
                return
        sys.exit(f"{command[0]} does not listen")

    def exchange(self, body):
        """The bytes of an answer, whatever it is."""
        connection = http.client.HTTPConnection(self.address, timeout=120)
        connection.request("POST", "/mcp", json.dumps(body), headers(body))
        answer = connection.getresponse().read()
        connection.close()
        return answer

    def ask(self, method, **params):
        answer = json.loads(self.exchange(message(1, method, **params)))
        return answer["result"] if "result" in answer else sys.exit(f"{method}: {answer}")


def serve(root, *words, **options):
    return Web([server(), "http", "--listen", "127.0.0.1:0", "--quiet", *words, root], **options)


def run_json(*command, **options):
    """What a program prints, which is JSON."""
    ran = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, **options)
    return json.loads(ran.stdout)


def on(side):
    """Options that have a program run on a processor of its own: the one that answers on the first one, its client on the
    last one. So neither takes the other's time, and where one of them runs is not left to chance."""
    processors = sorted(os.sched_getaffinity(0))
    mine = {processors[{"server": 0, "client": -1}[side]]}
    return {"preexec_fn": lambda: os.sched_setaffinity(0, mine)}


# Figures.

def rounds(count, contenders):
    """Runs each contender in turn, so many times, and gives what each said."""
    results = {name: [] for name in contenders}
    for _ in range(count):
        for name, run in contenders.items():
            results[name].append(run())
    return results


def median(values, form="{:,.0f}"):
    """A median, and between which figures it lies."""
    values = list(values)
    return f"{form.format(statistics.median(values))} ({form.format(min(values))}–{form.format(max(values))})"


def ratio(a, b):
    """How many times `b` the value `a` is, as medians."""
    return statistics.median(a) / statistics.median(b)


def timed(command, **options):
    """How many seconds a command takes."""
    begin = time.perf_counter()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, **options)
    return time.perf_counter() - begin


def cpu_of(run):
    """Seconds that a call takes, and the processor time of the programs that it starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(head, rows):
    """Prints a table in Markdown."""
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)


def machine():
    """Says where and when this is measured."""
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    version = subprocess.run([server(), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{version}; {model}, {os.cpu_count()} cores, {memory:.0f} GiB, Linux {platform.release()}; "
          f"load {os.getloadavg()[0]:.1f}\n", flush=True)


def parser(description, sizes=(1000, 20000), rounds=5):
    """The options that all benchmarks over large trees have."""
    usage, _, rest = description.partition("\n")
    options = argparse.ArgumentParser(description=usage, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("skills", nargs="*", type=int, default=list(sizes), help=f"sizes of trees (default: {sizes})")
    options.add_argument("--files", type=int, default=10, help="files of a skill (default: 10)")
    options.add_argument("--bytes", type=int, default=9728, help="bytes of a file (default: 9728)")
    options.add_argument("--dir", help="where trees are made (default: the system's temporary directory)")
    options.add_argument("--keep", action="store_true", help="leave the trees there for another run")
    options.add_argument("--rounds", type=int, default=rounds, help=f"how often each is measured (default: {rounds})")
    return options
