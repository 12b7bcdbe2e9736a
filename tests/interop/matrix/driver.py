"""What each client in Python is put through: the same as conversations.mjs, with the same lines of JSON."""

import asyncio
import json
import sys

LIMIT = 8
SETUP = json.loads(sys.argv[-1])


def must(condition, message):
    if not condition:
        raise AssertionError(message)


def report(feature, error=None):
    line = {"feature": feature, "ok": error is None}
    if error is not None:
        line["error"] = f"{type(error).__name__}: {error}"
    print(json.dumps(line), flush=True)


async def attempt(feature, run):
    if feature in SETUP["skip"]:
        return
    try:
        await asyncio.wait_for(run(), LIMIT)
        report(feature)
    except Exception as error:
        report(feature, error)


class Driver:
    """Tries one feature after the other. A subclass says each thing in the words of its library."""

    def __init__(self, client):
        self.client = client

    async def tools(self):
        names = [tool.name for tool in await self.list_tools()]
        must("add" in names, f"tools/list gave {names}")
        text, structured, failed = await self.call("add", {"a": 2, "b": 40})
        must(not failed and (structured or {}).get("sum") == 42, f"add gave {text!r} and {structured}")
        _, _, failed = await self.call("fail", {})
        must(failed, "a failing tool did not fail")

    async def prompts(self):
        names = [prompt.name for prompt in await self.list_prompts()]
        must("greet" in names, f"prompts/list gave {names}")
        must("Ada" in str(await self.get_prompt("greet", {"name": "Ada"})), "prompts/get lost the argument")

    async def resources(self):
        uris = [str(resource.uri) for resource in await self.list_resources()]
        must("memo://a" in uris, f"resources/list gave {uris}")
        must("memo a" in str(await self.read("memo://a")), "resources/read gave something else")
        must("memo://{id}" in await self.list_templates(), "the template is not listed")
        must("memo b" in str(await self.read("memo://b")), "a template's resource is something else")

    async def completion(self):
        values = await self.complete("greet", "name", "A")
        must("Ada" in values, f"completion/complete gave {values}")

    async def progress(self):
        seen = []

        async def heard(progress, total=None, message=None):
            seen.append(progress)

        await self.call("slow", {}, heard)
        before = list(seen)
        must(before == [1, 2, 3], f"heard of progress {before} before the result")

    async def cancel(self):
        call = asyncio.create_task(self.call("wait", {}))
        await asyncio.sleep(1)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        for _ in range(30):
            text, _, _ = await self.call("cancelled", {})
            if text != "0":
                return
            await asyncio.sleep(0.1)
        must(False, "the handler never heard that it was cancelled")

    async def elicitation(self):
        text, _, _ = await self.call("ask", {})
        must("blue" in text, f"the tool that asks gave {text!r}")

    async def sampling(self):
        text, _, _ = await self.call("sample", {})
        must("forty-two" in text, f"the tool that samples gave {text!r}")

    async def subscriptions(self):
        uri = await self.hear_update("memo://a", lambda: self.call("change", {}))
        must(uri == "memo://a", f"heard of {uri}")


FEATURES = [
    "tools",
    "prompts",
    "resources",
    "completion",
    "progress",
    "cancel",
    "elicitation",
    "sampling",
    "subscriptions",
]


async def drive(opened, driver_of):
    """Enters a client, tries everything, and leaves it."""
    driver = None
    try:
        async with asyncio.timeout(120):
            async with opened as client:
                driver = driver_of(client)
                must(driver.server_name() == "interop", f"the server calls itself {driver.server_name()}")
                report("lifecycle")
                for feature in FEATURES:
                    await attempt(feature, getattr(driver, feature))
        report("close")
    except BaseException as error:
        report("lifecycle" if driver is None else "close", error)
