import { createMCPClient } from "@ai-sdk/mcp";

export async function connect({ url, revision }) {
  const client = await createMCPClient({
    transport: { type: "http", url },
    protocolVersionDiscovery: revision === "2026-07-28",
  });
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
