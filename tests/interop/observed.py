#!/usr/bin/env python3
"""What a server says of itself is what others read: its metrics pass promtool and the parsers of Prometheus' own client,
its status keeps to the schema.

usage: observed.py DIR…     each is served on its own
"""
import json
import os
import shutil
import sys
import urllib.request

import jsonschema
import referencing
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

import served

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
PROMTOOL = shutil.which("promtool") or shutil.which("promtool", path=served.TOOLS / "promtool/usr/bin")


def asked(url, path, accept="*/*"):
    request = urllib.request.Request(url.removesuffix("/mcp") + path, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode("utf-8")


def validator():
    schemas = [json.loads((served.REPOSITORY / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
               for name in ("status", "check")]
    resource = referencing.Resource.from_contents(schemas[1])
    registry = referencing.Registry().with_resource("check.schema.json", resource)
    return jsonschema.Draft202012Validator(schemas[0], registry=registry)


def main(directories):
    failures, total, schema = [], 0, validator()
    for directory in directories:
        with served.http(directory) as url:
            # Requests that succeed, fail and make no sense leave their traces in the numbers.
            skills = served.listed(url)
            for path in ("/nothing", "/mcp"):
                try:
                    asked(url, path)
                except urllib.error.HTTPError:
                    pass
            plain, open_text = asked(url, "/metrics"), asked(url, "/metrics", OPEN_METRICS)
            status = json.loads(asked(url, "/status.json"))
        errors = [f"status: {error.message[:300]}" for error in schema.iter_errors(status)]
        if len(status["skills"]) != len(skills):
            errors.append(f"status: {len(status['skills'])} skills, but {len(skills)} are listed")
        for parse, text in ((prometheus, plain), (open_metrics, open_text)):
            try:
                families = {family.name for family in parse(text)}
                if "skillserve_requests" not in families:
                    errors.append(f"{parse.__module__}: no requests in {families}")
            except ValueError as error:
                errors.append(f"{parse.__module__}: {error}")
        if PROMTOOL:
            linted = served.run([PROMTOOL, "check", "metrics"], input=plain)
            if linted.returncode or linted.stderr:
                errors.append(f"promtool: {linted.stdout}{linted.stderr}")
        failures += [f"{directory} {error}" for error in errors[:5]]
        total += 1
    if not PROMTOOL:
        print("DID NOT RUN promtool: it is not installed")
        if os.environ.get("CI") == "true":
            failures.append("promtool")
    served.finish("observed", failures, total)


main(sys.argv[1:])
