import asyncio
import socket
import sys
from dataclasses import dataclass

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)

mcp = FastMCP("interop", version="1.0.0")
cancelled = 0
question = [SamplingMessage(role="user", content=TextContent(type="text", text="What is six times seven?"))]
form = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


@dataclass
class Sum:
    sum: float


@dataclass
class Colour:
    colour: str


@mcp.tool
def add(a: float, b: float) -> Sum:
    return Sum(sum=a + b)


@mcp.tool
def fail() -> str:
    raise ToolError("It failed on purpose.")


@mcp.tool
async def slow(ctx: Context) -> str:
    for step in (1, 2, 3):
        await ctx.report_progress(step, 3)
        await asyncio.sleep(0.02)
    return "done"


@mcp.tool
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


def is_modern(ctx):
    return ctx.request_context.protocol_version >= "2026"


# A modern client is asked by the result of the call, a legacy client by a request during it.
@mcp.tool
async def ask(ctx: Context):
    if not is_modern(ctx):
        answer = await ctx.elicit("Which colour?", Colour)
        return f"You said: {answer.data.colour}"
    if ctx.input_responses:
        return f"You said: {ctx.input_responses['colour'].content['colour']}"
    params = ElicitRequestFormParams(message="Which colour?", requested_schema=form)
    return InputRequiredResult(input_requests={"colour": ElicitRequest(params=params)})


@mcp.tool
async def sample(ctx: Context):
    if not is_modern(ctx):
        answer = await ctx.session.create_message(question, max_tokens=10, related_request_id=ctx.request_id)
        return f"The model said: {answer.content.text}"
    if ctx.input_responses:
        return f"The model said: {ctx.input_responses['model'].content.text}"
    params = CreateMessageRequestParams(messages=question, max_tokens=10)
    return InputRequiredResult(input_requests={"model": CreateMessageRequest(params=params)})


@mcp.prompt
def greet(name: str) -> str:
    return f"Hello {name}!"


@mcp.completion
def complete(ref, argument, context):
    return [name for name in ("Ada", "Alan", "Grace") if name.startswith(argument.value)]


@mcp.resource("memo://a", mime_type="text/plain")
def memo_a() -> str:
    return "memo a"


@mcp.resource("memo://{id}", mime_type="text/plain")
def memo(id: str) -> str:
    return f"memo {id}"


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
    await mcp.run_async(transport="http", host="127.0.0.1", port=port, show_banner=False)
    await announcing


if sys.argv[1] == "http":
    asyncio.run(serve_http())
else:
    mcp.run("stdio", show_banner=False)
