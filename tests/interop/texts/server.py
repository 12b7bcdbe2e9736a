"""Receives texts of a client that were cut in half an emoji, with version 1 or 2 of the SDK, and returns what it has read."""

import json
from typing import Annotated

from pydantic import BaseModel

WHOLE = "cut \ufffd"


class Answer(BaseModel):
    name: str


def read(what, text):
    """Returns a line of JSON: whether a text is the repaired one."""
    text.encode("utf-8")
    return json.dumps({"what": what, "ok": text == WHOLE, "error": repr(text)})


try:
    from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve, Sample
    from mcp.types import Completion, CreateMessageResult, SamplingMessage, TextContent

    mcp = MCPServer("texts", version="1.0.0")

    def question() -> Elicit[Answer]:
        return Elicit("Who?", Answer)

    @mcp.tool()
    def ask(answer: Annotated[Answer, Resolve(question)]) -> str:
        return read("answer to an elicitation", answer.name)

    def messages() -> Sample:
        return Sample([SamplingMessage(role="user", content=TextContent(type="text", text="?"))], max_tokens=10)

    @mcp.tool()
    def sample(answer: Annotated[CreateMessageResult, Resolve(messages)]) -> str:
        return read("answer to a sampling", answer.content.text)

except ImportError:
    from mcp.server.fastmcp import Context, FastMCP
    from mcp.types import Completion, SamplingMessage, TextContent

    mcp = FastMCP("texts")

    @mcp.tool()
    async def ask(ctx: Context) -> str:
        answer = await ctx.elicit("Who?", Answer)
        return read("answer to an elicitation", answer.data.name)

    @mcp.tool()
    async def sample(ctx: Context) -> str:
        question = [SamplingMessage(role="user", content=TextContent(type="text", text="?"))]
        answer = await ctx.session.create_message(question, max_tokens=10)
        return read("answer to a sampling", answer.content.text)


@mcp.tool()
def receive(text: str) -> str:
    return read("argument of a tool", text)


@mcp.tool()
def client_version(ctx: Context) -> str:
    params = ctx.session.client_params
    client = params.client_info if hasattr(params, "client_info") else params.clientInfo
    return read("version of the client", client.version)


@mcp.prompt()
def write(topic: str) -> str:
    return read("argument of a prompt", topic)


@mcp.completion()
async def complete(ref, argument, context):
    return Completion(values=[read("value to complete", argument.value)])


mcp.run("stdio")
