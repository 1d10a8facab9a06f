#!/usr/bin/env python3
"""List and read every skill with FastMCP's client, which checks sizes, digests and frontmatters itself.

usage: fastmcp_client.py (URL | COMMAND ARGUMENT…)
Prints "SKILLS FILES". This client has skills in the modern era only.
"""
import asyncio
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.skills import SkillsClientExtension


async def main(target):
    transport = target[0] if target[0].startswith("http://") else StdioTransport(target[0], target[1:])
    async with Client(transport, extensions=[SkillsClientExtension()]) as client:
        skills = await client.list_skills()
        files = 0
        for entry in skills:
            files += len((await client.read_skill(entry.uri)).files)
        print(len(skills), files)


asyncio.run(main(sys.argv[1:]))
