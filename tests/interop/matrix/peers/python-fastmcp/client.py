import asyncio
import pathlib
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp.types import CreateMessageResult, PromptReference, TextContent

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
from driver import SETUP, Driver, drive  # noqa: E402


async def elicit(message, response_type, params, context):
    return {"colour": "blue"}


async def sample(messages, params, context):
    content = TextContent(type="text", text="forty-two")
    return CreateMessageResult(role="assistant", model="scripted", content=content, stop_reason="endTurn")


class FastmcpDriver(Driver):
    def server_name(self):
        return self.client.server_info.name

    async def list_tools(self):
        return await self.client.list_tools()

    async def call(self, name, arguments, on_progress=None):
        result = await self.client.call_tool(name, arguments, progress_handler=on_progress, raise_on_error=False)
        text = "".join(getattr(part, "text", "") for part in result.content)
        return text, result.structured_content, result.is_error

    async def list_prompts(self):
        return await self.client.list_prompts()

    async def get_prompt(self, name, arguments):
        return await self.client.get_prompt(name, arguments)

    async def list_resources(self):
        return await self.client.list_resources()

    async def list_templates(self):
        return [one.uri_template for one in await self.client.list_resource_templates()]

    async def read(self, uri):
        return await self.client.read_resource(uri)

    async def complete(self, prompt, argument, value):
        ref = PromptReference(type="ref/prompt", name=prompt)
        return (await self.client.complete(ref, {"name": argument, "value": value})).values


where = SETUP["where"]
client = Client(
    where["url"] if "url" in where else StdioTransport(where["command"], where["args"], keep_alive=False),
    mode="auto" if SETUP["revisionKind"] == "modern" else "legacy",
    elicitation_handler=elicit,
    sampling_handler=sample,
)
asyncio.run(drive(client, FastmcpDriver))
