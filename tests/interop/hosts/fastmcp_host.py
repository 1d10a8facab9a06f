#!/usr/bin/env python3
"""What FastMCP's client makes of servers: one JSON line for each directory, as `typescript.mjs` prints it.

usage: fastmcp_host.py BINARY DIRECTORY…
"""
import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.skills import SkillsClientExtension


async def look(binary, directory):
    result = {"listing": None, "skills": {}, "files": {}}
    transport = StdioTransport(binary, ["stdio", "--include-hidden", directory], keep_alive=False)
    async with Client(transport, extensions=[SkillsClientExtension()]) as client:
        try:
            entries = await client.list_skills()
        except Exception as error:
            result["listing"] = str(error)
            return result
        for entry in entries:
            try:
                skill = await client.read_skill(entry.uri)
                result["skills"][entry.uri] = None if skill.name == entry.frontmatter.name else "another name"
            except Exception as error:
                result["skills"][entry.uri] = str(error)
    return result


async def main(binary, directories):
    for directory in directories:
        print(json.dumps(await look(binary, directory)), flush=True)


asyncio.run(main(sys.argv[1], sys.argv[2:]))
