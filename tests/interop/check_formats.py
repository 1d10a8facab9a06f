#!/usr/bin/env python3
"""What `check` prints as JSON and as SARIF keeps to the schemas, and both say the same.

usage: check_formats.py DIR…     each is checked on its own, for all hosts
"""
import json
import pathlib
import subprocess
import sys

import jsonschema

import served

SARIF = served.TOOLS / "node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"
HOSTS = "typescript,fastmcp,fast-agent,inspector,rmcp,windows,chatgpt"


def printed(directory, form):
    ran = subprocess.run([served.BINARY, "check", "--hosts", HOSTS, "--format", form, directory], capture_output=True)
    if ran.returncode not in (0, 1):
        sys.exit(f"check ended with {ran.returncode}: {ran.stderr.decode()}")
    return json.loads(ran.stdout)


def main(directories):
    own = json.loads((served.REPOSITORY / "schemas/check.schema.json").read_text(encoding="utf-8"))
    validators = {"json": jsonschema.validators.validator_for(own)(own)}
    official = json.loads(SARIF.read_text(encoding="utf-8"))
    # A relative reference is also checked for its form.
    validators["sarif"] = jsonschema.Draft4Validator(official, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)
    failures, findings = [], 0
    for directory in directories:
        answers = {form: printed(directory, form) for form in validators}
        for form, validator in validators.items():
            errors = [error.message[:300] for error in validator.iter_errors(answers[form])]
            failures += [f"{directory} {form}: {error}" for error in errors[:5]]
        results = answers["sarif"]["runs"][0]["results"]
        pairs = [(finding["code"], finding["severity"], finding.get("line")) for finding in answers["json"]["findings"]]
        others = [(result["ruleId"], result["level"],
                   result["locations"][0]["physicalLocation"].get("region", {}).get("startLine")) for result in results]
        if pairs != others:
            failures.append(f"{directory}: JSON has {len(pairs)} findings, SARIF {len(others)}, and they differ")
        findings += len(pairs)
    print(f"  {findings} findings")
    served.finish("formats", failures, len(directories))


main(sys.argv[1:])
