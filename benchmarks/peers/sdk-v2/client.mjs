import { Client, InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { serverInfo } from "../../content.mjs";

export async function connect(target) {
  const mode = target.revision === "2026-07-28" ? "auto" : "legacy";
  const client = new Client(serverInfo, { versionNegotiation: { mode } });
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
