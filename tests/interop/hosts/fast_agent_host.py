#!/usr/bin/env python3
"""What fast-agent makes of servers: one JSON line for each directory, as `typescript.mjs` prints it.

usage: fast_agent_host.py BINARY DIRECTORY…

Its own registry lists the skills and installs each, over a plain connection of the protocol's Python library. The registry
says in its log why it is empty.
"""
import asyncio
import json
import pathlib
import sys
import tempfile

from fast_agent.mcp.skills_extension import (GetSkillRequest, GetSkillRequestParams, GetSkillResult, ListSkillsRequest,
                                             ListSkillsRequestParams, ListSkillsResult)
from fast_agent.skills import mcp_registry
from mcp import Client, StdioServerParameters, stdio_client


class Connection:
    """The part of fast-agent's aggregator that the registry uses."""

    def __init__(self, client):
        self.client = client

    async def get_capabilities(self, _server):
        return self.client.server_capabilities

    async def list_skills(self, _server, cursor):
        request = ListSkillsRequest(params=ListSkillsRequestParams(cursor=cursor))
        return await self.client.session.send_request(request, ListSkillsResult)

    async def get_skill(self, uri, _server):
        request = GetSkillRequest(params=GetSkillRequestParams(uri=uri))
        return await self.client.session.send_request(request, GetSkillResult)

    async def get_resource(self, uri, *, server_name=None, cache_mode="use"):
        return await self.client.session.read_resource(uri)


async def look(binary, directory):
    result = {"listing": None, "skills": {}, "files": {}}
    server = StdioServerParameters(command=binary, args=["stdio", "--include-hidden", directory])
    async with Client(stdio_client(server)) as client:
        connection = Connection(client)
        registry = await mcp_registry.scan_mcp_skill_registry(connection, "interop")
        if not registry.skills:
            result["listing"] = "the registry is empty"
        for skill in registry.skills:
            with tempfile.TemporaryDirectory() as home:
                try:
                    await mcp_registry.install_mcp_registry_skill(connection, skill, destination_root=pathlib.Path(home))
                    result["skills"][skill.uri] = None
                except Exception as error:
                    result["skills"][skill.uri] = f"{type(error).__name__}: {error}"
    return result


async def main(binary, directories):
    for directory in directories:
        print(json.dumps(await look(binary, directory)), flush=True)


asyncio.run(main(sys.argv[1], sys.argv[2:]))
