import asyncio
import pathlib
import sys

from mcp import StdioServerParameters
from mcp.client import Client
from mcp.types import (
    CreateMessageResult,
    ElicitResult,
    PromptReference,
    ResourceUpdatedNotification,
    TextContent,
)

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
from driver import SETUP, Driver, drive  # noqa: E402

updates = asyncio.Queue()


async def elicit(context, params):
    return ElicitResult(action="accept", content={"colour": "blue"})


async def sample(context, params):
    content = TextContent(type="text", text="forty-two")
    return CreateMessageResult(role="assistant", model="scripted", content=content, stop_reason="endTurn")


async def on_message(message):
    if isinstance(message, ResourceUpdatedNotification):
        await updates.put(str(message.params.uri))


class SdkDriver(Driver):
    def server_name(self):
        return self.client.server_info.name

    async def list_tools(self):
        return (await self.client.list_tools()).tools

    async def call(self, name, arguments, on_progress=None):
        result = await self.client.call_tool(name, arguments, progress_callback=on_progress)
        text = "".join(getattr(part, "text", "") for part in result.content)
        return text, result.structured_content, result.is_error

    async def list_prompts(self):
        return (await self.client.list_prompts()).prompts

    async def get_prompt(self, name, arguments):
        return await self.client.get_prompt(name, arguments)

    async def list_resources(self):
        return (await self.client.list_resources()).resources

    async def list_templates(self):
        return [one.uri_template for one in (await self.client.list_resource_templates()).resource_templates]

    async def read(self, uri):
        return await self.client.read_resource(uri)

    async def complete(self, prompt, argument, value):
        ref = PromptReference(type="ref/prompt", name=prompt)
        return (await self.client.complete(ref, {"name": argument, "value": value})).completion.values

    async def hear_update(self, uri, act):
        if SETUP["revisionKind"] == "legacy":
            await self.client.subscribe_resource(uri)
            await act()
            return await updates.get()
        async with self.client.listen(resource_subscriptions=[uri]) as subscription:
            await act()
            async for event in subscription:
                return str(event.uri)


where = SETUP["where"]
server = where["url"] if "url" in where else StdioServerParameters(command=where["command"], args=where["args"])
client = Client(
    server,
    mode="auto" if SETUP["revisionKind"] == "modern" else "legacy",
    elicitation_callback=elicit,
    sampling_callback=sample,
    message_handler=on_message,
)
asyncio.run(drive(client, SdkDriver))
