"""Skills that some hosts lose, each with a cured twin: the case's code, the SKILL.md with other files, who loses what.

A case is `(code, name, files, cured, losses)`. `files` and `cured` map paths to text or bytes; `losses` maps the host's
name, as `check` prints it, to what it loses. `SKILL.md` may be given as the YAML between the fences.
"""

TYPESCRIPT, FASTMCP, FAST_AGENT, INSPECTOR = "typescript", "fastmcp", "fast-agent", "inspector"
MIB = 1024 * 1024


def skill(yaml, **files):
    return {"SKILL.md": f"---\n{yaml}\n---\n\n# Body\n", **files}


def field(code, bad, good, *hosts, loses="skill", also=None):
    """One field more than name and description. `also` is a further code, which the TypeScript client has its loss from."""
    head = "name: a\ndescription: d\n"
    bad_skill, good_skill = skill(head + bad + "\nlast: x"), skill(head + good + "\nlast: x")
    return (f"{code} {also}" if also else code), bad, bad_skill, good_skill, dict.fromkeys(hosts, loses)


def value(code, bad, good, *hosts, also=None):
    return field(code, f"x: {bad}", f"x: {good}", *hosts, also=also)


def raw(code, label, bad, good, *hosts):
    return code, label, {"SKILL.md": bad}, {"SKILL.md": good}, dict.fromkeys(hosts, "skill")


def files(code, bad, good, *hosts, loses="listing"):
    base = "name: a\ndescription: d"
    return code, " ".join(bad), {**skill(base), **bad}, {**skill(base), **good}, dict.fromkeys(hosts, loses)


PYTHON = (FASTMCP, FAST_AGENT)
FRONTMATTER = "name: a\ndescription: d\n"

CASES = [
    # Values that YAML 1.1 reads otherwise.
    *(value("yaml-versions", word, f'"{word}"', *PYTHON)
      for word in ("yes", "No", "on", "OFF", "017", "0o17", "08", "1_000", "12:30", "12:30:45", "0b101", "1e3", "1.5e3",
                   "-.5", "=", "<<")),
    field("yaml-versions", "on: x", '"on": x', *PYTHON),
    field("yaml-versions", "metadata:\n  a: yes", 'metadata:\n  a: "yes"', *PYTHON),
    value("yaml-date", "2026-11-30", '"2026-11-30"', FASTMCP),
    value("yaml-date", "2026-11-30T10:00:00", '"2026-11-30T10:00:00"', FASTMCP),
    value("yaml-date", "2026-11-30 10:00:00", '"2026-11-30 10:00:00"', *PYTHON),
    value("yaml-date", "2026-11-30T10:00:00Z", '"2026-11-30T10:00:00Z"', *PYTHON),
    value("yaml-date", "2026-13-45", '"2026-13-45"', *PYTHON),
    raw("yaml-date", "a name", "---\nname: 2026-11-30\ndescription: d\n---\n", '---\nname: "2026-11-30"\ndescription: d\n---\n',
        *PYTHON),
    raw("yaml-date", "a description", "---\nname: a\ndescription: 2026-11-30\n---\n",
        '---\nname: a\ndescription: "2026-11-30"\n---\n', *PYTHON),
    # A block that ends the frontmatter.
    raw("yaml-block-end", ">", "---\nname: a\ndescription: >\n  t\n---\n", "---\nname: a\ndescription: >-\n  t\n---\n", FASTMCP),
    raw("yaml-block-end", "|", "---\nname: a\ndescription: |\n  t\n---\n", "---\nname: a\ndescription: |-\n  t\n---\n", FASTMCP),
    raw("yaml-block-end", "|+", "---\nname: a\ndescription: |+\n  t\n---\n", "---\nname: a\ndescription: |-\n  t\n---\n", FASTMCP),
    raw("yaml-block-end", "|+ and an empty line", "---\nname: a\ndescription: |+\n  t\n\n---\n",
        "---\nname: a\ndescription: |-\n  t\n\n---\n", TYPESCRIPT, FAST_AGENT),
    # What PyYAML does not read.
    value("yaml-python", "\ta", "a", FASTMCP),
    value("yaml-python", "a\tb", '"a\tb"', FASTMCP),
    value("yaml-python", "[file?]", '["file?"]', FASTMCP),
    value("yaml-python", "[?a]", '["?a"]', *PYTHON),
    value("yaml-python", "[:a]", '[":a"]', *PYTHON),
    value("yaml-python", "a\u2028b", "a b", *PYTHON),
    value("yaml-python", '"a\u0085b"', '"a b"', *PYTHON),
    value("yaml-python", '"\\ud83d\\ude80"', "\U0001f680", FAST_AGENT),
    value("yaml-python", "[&k a, &k b]", "[a, b]", *PYTHON, also="yaml-typescript"),
    value("yaml-python", "!mine a", "a", *PYTHON, also="yaml-typescript"),
    value("yaml-python", "\n  -\ta", "\n  - a", *PYTHON),
    value("yaml-python", "{a:[b]}", "{a: [b]}", FAST_AGENT, also="yaml-typescript"),
    value("yaml-python", "[&k a, *k]", "[a, a]", FASTMCP, also="yaml-typescript"),
    field("yaml-python", "1: y", '"1": y', *PYTHON, also="yaml-typescript"),
    field("yaml-python", "content: y", "contents: y", FAST_AGENT),
    # What the TypeScript client's reader does not take.
    field("yaml-typescript", '"k" : v', '"k": v', TYPESCRIPT),
    value("yaml-typescript", "&k v", "v", TYPESCRIPT),
    value("yaml-typescript", "!!str v", "v", TYPESCRIPT),
    value("yaml-typescript", '"a\n  b"', '"a b"', TYPESCRIPT),
    value("yaml-typescript", "'a\n  b'", "'a b'", TYPESCRIPT),
    value("yaml-typescript", "[a,\n  b]", "[a, b]", TYPESCRIPT),
    value("yaml-typescript", "{a: b,\n  c: d}", "{a: b, c: d}", TYPESCRIPT),
    value("yaml-typescript", "[a: b]", "[{a: b}]", TYPESCRIPT),
    value("yaml-typescript", "{a}", "{a: null}", TYPESCRIPT),
    value("yaml-typescript", "{a: }", "{a: null}", TYPESCRIPT),
    value("yaml-typescript", "|2\n   a", "|\n  a", TYPESCRIPT),
    field("yaml-typescript", "? k\n: v", "k: v", TYPESCRIPT),
    field("yaml-typescript", "__proto__: v", "proto: v", TYPESCRIPT),
    value("yaml-typescript", "[" * 33 + "1" + "]" * 33, "[" * 32 + "1" + "]" * 32, TYPESCRIPT),
    raw("yaml-typescript", "...", "---\nname: a\ndescription: d\n...\n---\n", "---\nname: a\ndescription: d\n---\n", TYPESCRIPT),
    raw("yaml-typescript", "a mapping in braces", "---\n{name: a, description: d}\n---\n", "---\nname: a\ndescription: d\n---\n",
        TYPESCRIPT),
    raw("fence-blanks", "opening", "---  \nname: a\ndescription: d\n---\n", "---\nname: a\ndescription: d\n---\n",
        TYPESCRIPT, FASTMCP),
    raw("fence-blanks", "closing", "---\nname: a\ndescription: d\n--- \n", "---\nname: a\ndescription: d\n---\n", FASTMCP),
    raw("byte-order-mark", "", "\ufeff---\nname: a\ndescription: d\n---\n", "---\nname: a\ndescription: d\n---\n", FAST_AGENT),
    # Types of fields that cost the whole listing.
    field("field-type", "metadata:\n  v: 1.0", 'metadata:\n  v: "1.0"', TYPESCRIPT, loses="listing"),
    field("field-type", "metadata: x", "metadata: {x: y}", TYPESCRIPT, FASTMCP, loses="listing"),
    field("field-type", "metadata:", "metadata: {x: y}", TYPESCRIPT, FASTMCP, loses="listing"),
    field("field-type", "compatibility: 1", 'compatibility: "1"', TYPESCRIPT, FASTMCP, loses="listing"),
    field("field-type", 'compatibility: ""', 'compatibility: "x"', TYPESCRIPT, FASTMCP, loses="listing"),
    field("field-type", "compatibility:", 'compatibility: "x"', TYPESCRIPT, FASTMCP, loses="listing"),
    field("field-type", f"compatibility: {'x' * 501}", f"compatibility: {'x' * 500}", TYPESCRIPT, FASTMCP, loses="listing"),
    field("field-type", "license: 2", 'license: "2"', FASTMCP, loses="listing"),
    field("field-type", "license:", 'license: "2"', FASTMCP, loses="listing"),
    field("field-type", "allowed-tools: {a: b}", "allowed-tools: a", FASTMCP, loses="listing"),
    field("field-type", "allowed-tools: [1]", "allowed-tools: a", FASTMCP, loses="listing"),
    field("field-type", "allowed-tools: [a, b]", "allowed-tools: a b"),
    # Names of files.
    *(files("file-name", {name: "x"}, {"good.md": "x"}, FAST_AGENT)
      for name in ("part:b.md", "what?.md", "a<b", 'a"b', "a|b", "a*b", "dot.", "blank ", "nul", "CON.txt", "com1.md", "dir./x.md",
                   ".skill-source.json", "tab\tx")),
    ("file-name", "a drive", skill("name: a\ndescription: d", **{"a:b.md": "x"}), skill("name: a\ndescription: d"),
     {FASTMCP: "skill", FAST_AGENT: "listing"}),
    files("file-name", {"a\\b": "x"}, {"a-b": "x"}, FASTMCP, FAST_AGENT),
    files("file-name", {"/".join(["d" * 100] * 11): "x"}, {"/".join(["d" * 100] * 9): "x"}, FAST_AGENT),
    files("file-name-collision", {"Readme.md": "x", "README.md": "y"}, {"Readme.md": "x", "README2.md": "y"}, FAST_AGENT),
    files("file-name-collision", {"e\u0301.md": "x", "\u00e9.md": "y"}, {"e\u0301.md": "x", "f.md": "y"}, FAST_AGENT),
    files("file-name-collision", {"a/x.md": "x", "A/x.md": "y"}, {"a/x.md": "x", "A/y.md": "y"}, FAST_AGENT),
    # Messages. Half a message more than the limit is enough to tell.
    files("message-too-large", {"big.bin": b"\xff" * (8 * MIB)}, {"big.bin": b"\xff" * (7 * MIB)}, TYPESCRIPT, INSPECTOR,
          loses="file"),
    files("message-too-large", {"big.txt": "\n" * (6 * MIB)}, {"big.txt": "x" * (9 * MIB)}, TYPESCRIPT, INSPECTOR, loses="file"),
]
