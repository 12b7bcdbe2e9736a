import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { serverInfo } from "../../content.mjs";

export async function connect(target) {
  const client = new Client(serverInfo);
  await client.connect(transportTo(target));
  return {
    async echo(text) {
      const { content } = await client.callTool({ name: "echo", arguments: { text } });
      return content[0].text;
    },
    async listTools() {
      return (await client.listTools()).tools;
    },
  };
}

function transportTo(target) {
  if (target.way === "http") return new StreamableHTTPClientTransport(new URL(target.url));
  if (target.way === "stdio") return new StdioClientTransport({ command: target.command, args: target.args });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- A transport is no event target.
  theirs.onmessage = (message) => {
    if (message.id !== undefined) void theirs.send(target.answer(message));
  };
  return ours;
}
