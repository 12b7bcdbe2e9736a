import asyncio
import socket
import sys
from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve, Sample
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import (
    Completion,
    CreateMessageResult,
    EmptyResult,
    SamplingMessage,
    SubscribeRequestParams,
    TextContent,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel

mcp = MCPServer("interop", version="1.0.0")
cancelled = 0


class Sum(BaseModel):
    sum: float


class Colour(BaseModel):
    colour: str


@mcp.tool()
def add(a: float, b: float) -> Sum:
    return Sum(sum=a + b)


@mcp.tool()
def fail() -> str:
    raise ToolError("It failed on purpose.")


@mcp.tool()
async def slow(ctx: Context) -> str:
    for step in (1, 2, 3):
        await ctx.report_progress(step, 3)
        await asyncio.sleep(0.02)
    return "done"


@mcp.tool()
async def wait(ctx: Context) -> str:
    global cancelled
    await ctx.report_progress(1)
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        cancelled += 1
        raise
    return "nobody cancelled"


@mcp.tool(name="cancelled")
def count_cancelled() -> str:
    return str(cancelled)


def ask_colour() -> Elicit[Colour]:
    return Elicit("Which colour?", Colour)


@mcp.tool()
def ask(answer: Annotated[Colour, Resolve(ask_colour)]) -> str:
    return f"You said: {answer.colour}"


def ask_model() -> Sample:
    question = TextContent(type="text", text="What is six times seven?")
    return Sample([SamplingMessage(role="user", content=question)], max_tokens=10)


@mcp.tool()
def sample(answer: Annotated[CreateMessageResult, Resolve(ask_model)]) -> str:
    return f"The model said: {answer.content.text}"


@mcp.tool()
async def change(ctx: Context) -> str:
    await ctx.notify_resource_updated("memo://a")
    if "memo://a" in subscribed:
        await ctx.session.send_resource_updated("memo://a")
    return "changed"


@mcp.prompt()
def greet(name: str) -> str:
    return f"Hello {name}!"


@mcp.completion()
async def complete(ref, argument, context):
    values = [name for name in ("Ada", "Alan", "Grace") if name.startswith(argument.value)]
    return Completion(values=values)


@mcp.resource("memo://a", mime_type="text/plain")
def memo_a() -> str:
    return "memo a"


@mcp.resource("memo://{id}", mime_type="text/plain")
def memo(id: str) -> str:
    return f"memo {id}"


subscribed = set()


async def subscribe(ctx, params):
    subscribed.add(str(params.uri))
    return EmptyResult()


async def unsubscribe(ctx, params):
    subscribed.discard(str(params.uri))
    return EmptyResult()


mcp._lowlevel_server.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
mcp._lowlevel_server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def announce(port):
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            break
        except OSError:
            await asyncio.sleep(0.05)
    print(f"http://127.0.0.1:{port}/mcp", flush=True)


async def serve_http():
    port = free_port()
    announcing = asyncio.create_task(announce(port))
    await mcp.run_streamable_http_async(port=port)
    await announcing


if sys.argv[1] == "http":
    asyncio.run(serve_http())
else:
    mcp.run("stdio")
