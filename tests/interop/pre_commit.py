#!/usr/bin/env python3
"""The pre-commit hook: `pre-commit` builds it from this repository and runs it on the files of another one.

usage: pre_commit.py
Dependencies that target has already are not built again.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import served

BROKEN = "---\nname: broken\ndescription: Use this: now\n---\n"
GOOD = "---\nname: good\ndescription: Has no fault.\n---\n"


def main():
    tool, failures = served.TOOLS / "venv/bin/pre-commit", []
    manifest = served.run([tool, "validate-manifest", served.REPOSITORY / ".pre-commit-hooks.yaml"])
    if manifest.returncode:
        failures.append(f"the manifest is wrong: {manifest.stdout}{manifest.stderr}")
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        subprocess.run(["git", "init", "--quiet", work], check=True)
        for path, text in (("skills/good/SKILL.md", GOOD), ("skills/broken/SKILL.md", BROKEN), ("README.md", "# No skill\n")):
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_text(text)
        subprocess.run(["git", "-C", work, "add", "."], check=True)
        environment = {**os.environ, "PRE_COMMIT_HOME": str(work / ".cache"),
                       "CARGO_TARGET_DIR": str(served.REPOSITORY / "target")}

        def hook(*files):
            return subprocess.run([tool, "try-repo", served.REPOSITORY, "skillserve-check", "--verbose", "--files", *files],
                                  cwd=work, env=environment, capture_output=True, text=True)

        good = hook("skills/good/SKILL.md", "README.md")
        if good.returncode or "1 skill (1 file" not in good.stdout or "README.md: no skill holds it" not in good.stdout:
            failures.append(f"files without a fault: exit code {good.returncode}\n{good.stdout}{good.stderr}")
        bad = hook("skills/good/SKILL.md", "skills/broken/SKILL.md")
        if bad.returncode != 1 or "skills/broken/SKILL.md:3:22" not in bad.stdout:
            failures.append(f"a broken file: exit code {bad.returncode}\n{bad.stdout}{bad.stderr}")
    served.finish("pre-commit", failures, 3)


if __name__ == "__main__":
    sys.exit(main())
