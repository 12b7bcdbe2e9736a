"""Reads every member of a server in which each text was cut in half an emoji, with version 1 or 2 of the SDK."""

import asyncio
import json
import sys

from mcp import StdioServerParameters, types

try:
    from mcp.client import Client
except ImportError:
    Client = None

WHOLE = "cut \ufffd"
SETUP = json.loads(sys.argv[-1])
WHERE = SETUP["where"]
logs, progress, questions, samples = [], [], [], []


def texts_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from texts_of(member)
    elif isinstance(value, list):
        for item in value:
            yield from texts_of(item)


def check(what, value, count=1):
    """Reports whether a value has the expected number of cut texts, and only texts that UTF-8 has."""
    plain = value.model_dump(by_alias=True, mode="json") if hasattr(value, "model_dump") else value
    texts = list(texts_of(plain))
    try:
        for text in texts:
            text.encode("utf-8")
        found = sum(text.count(WHOLE) for text in texts)
        line = {"what": what, "ok": found >= count}
        if found < count:
            line["error"] = f"{found} of {count} texts: {json.dumps(plain)[:400]}"
    except UnicodeEncodeError as error:
        line = {"what": what, "ok": False, "error": str(error)}
    print(json.dumps(line), flush=True)


async def on_log(params):
    logs.append({"logger": params.logger, "data": params.data})


async def on_progress(done, total=None, message=None):
    progress.append(message)


async def elicit(context, params):
    questions.append(params.model_dump(by_alias=True, mode="json"))
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def sample(context, params):
    samples.append(params.model_dump(by_alias=True, mode="json"))
    content = types.TextContent(type="text", text="forty-two")
    return types.CreateMessageResult(role="assistant", model="scripted", content=content)


async def failure(run):
    try:
        await run
    except Exception as error:
        return str(error)
    return "no error"


async def read_all(client, server):
    check("initialize", server, 2)
    check("tools/list", await client.list_tools(), 3)
    echo = await client.call_tool("echo", {"text": "a"}, progress_callback=on_progress)
    check("text of a result", echo)
    check("structured content", await client.call_tool("data", {}), 3)
    check("message of an error", await failure(client.call_tool("refuse", {})))
    check("prompts/list", await client.list_prompts(), 3)
    check("prompts/get", await client.get_prompt("write", {"topic": "a"}))
    check("resources/list", await client.list_resources(), 2)
    check("resources/templates/list", await client.list_resource_templates(), 2)
    check("resources/read", await client.read_resource("note://1"))
    ref = types.PromptReference(type="ref/prompt", name="write")
    check("completion/complete", await client.complete(ref, {"name": "topic", "value": "a"}))
    check("result after an elicitation", await client.call_tool("ask", {}))
    check("result after a sampling", await client.call_tool("sample", {}))
    check("elicitation/create", questions, 2)
    check("sampling/createMessage", samples, 2)
    check("notifications/progress", progress)
    check("notifications/message", logs, 3)


async def version_1():
    from contextlib import AsyncExitStack

    from mcp import ClientSession
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as stack:
        if "url" in WHERE:
            streams = await stack.enter_async_context(streamable_http_client(WHERE["url"]))
        else:
            server = StdioServerParameters(command=WHERE["command"], args=WHERE["args"])
            streams = await stack.enter_async_context(stdio_client(server))
        callbacks = {"sampling_callback": sample, "elicitation_callback": elicit, "logging_callback": on_log}
        client = await stack.enter_async_context(ClientSession(streams[0], streams[1], **callbacks))
        opened = await client.initialize()
        await client.set_logging_level("info")
        await read_all(client, opened)


async def version_2():
    target = WHERE["url"] if "url" in WHERE else StdioServerParameters(command=WHERE["command"], args=WHERE["args"])
    is_modern = SETUP["revisionKind"] == "modern"
    callbacks = {"sampling_callback": sample, "elicitation_callback": elicit, "logging_callback": on_log}
    mode = "auto" if is_modern else "legacy"
    async with Client(target, mode=mode, log_level="info" if is_modern else None, **callbacks) as client:
        if not is_modern:
            await client.set_logging_level("info")
        server = [client.instructions, client.server_info.model_dump(by_alias=True, mode="json")]
        await read_all(client, server)


asyncio.run(asyncio.wait_for(version_2() if Client else version_1(), 60))
