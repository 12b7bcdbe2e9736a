"""Signs in to an MCP server with the client of FastMCP, and prints the text of a call."""

import asyncio
import sys

from fastmcp import Client


async def main() -> None:
    async with Client(sys.argv[1], auth="oauth") as client:
        result = await client.call_tool("whoami", {})
        print(result.content[0].text)


asyncio.run(main())
