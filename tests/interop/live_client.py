#!/usr/bin/env python3
"""Subscribe with the Python client, change a file, and wait to be told of it.

usage: live_client.py ERA FILE URI (URL | COMMAND ARGUMENT…)     ERA: legacy or a modern version
Prints "told" when both the listing and the resource at URI have been announced.
"""
import asyncio
import sys

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated


def change(file):
    with open(file, "a", encoding="utf-8") as opened:
        opened.write("\nChanged.\n")


async def listen(client, file, uri):
    async with client.listen(resources_list_changed=True, resource_subscriptions=[uri]) as subscription:
        assert subscription.honored.resources_list_changed and subscription.honored.resource_subscriptions == [uri]
        change(file)
        wanted = {ResourcesListChanged(), ResourceUpdated(uri=uri)}
        async for event in subscription:
            wanted.discard(event)
            if not wanted:
                return


async def subscribe(client, file, uri, told):
    await client.subscribe_resource(uri)
    change(file)
    wanted = {"notifications/resources/list_changed", "notifications/resources/updated"}
    while wanted:
        message = await told.get()
        if isinstance(message, types.ResourceUpdatedNotification):
            assert str(message.params.uri) == uri
        wanted.discard(message.method)


async def main(era, file, uri, target):
    told = asyncio.Queue()

    async def heard(message):
        if isinstance(message, (types.ResourceListChangedNotification, types.ResourceUpdatedNotification)):
            await told.put(message)

    if target[0].startswith("http://"):
        server = target[0]
    else:
        server = stdio_client(StdioServerParameters(command=target[0], args=target[1:]))
    async with Client(server, mode=era, message_handler=heard) as client:
        await client.list_resources()
        if era == "legacy":
            await subscribe(client, file, uri, told)
        else:
            await listen(client, file, uri)
        read = await client.read_resource(uri)
        assert read.contents[0].text.endswith("\nChanged.\n")
    print("told")


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
