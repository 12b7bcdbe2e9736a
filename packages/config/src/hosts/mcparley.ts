import { type ConfigLocation, type HostRules, join } from "./host.ts";
import { mcpServers } from "./mcp-servers.ts";
import { shellReference } from "./write-value.ts";

/** The command `mcparley`, which is a host in `mcparley chat`. It also reads the table that the host of a file ignores. */
export const mcparley: HostRules = {
  ...mcpServers({ reference: shellReference, type: "never", more: ["cwd", "envFile"] }),
  id: "mcparley",
  title: "mcparley",
  documentation: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
  transports: ["stdio", "http", "sse"],
  references: { env: "text", input: false, example: "${NAME}" },
  syntax: "dollar-brace",
  locations(place) {
    const table = (name: string, ...folder: string[]): ConfigLocation => ({
      scope: "project",
      file: join(place, place.folder, ...folder),
      path: [name],
    });
    return [
      table("mcpServers", "mcp.json"),
      table("servers", "mcp.json"),
      { ...table("servers", ".mcp.json"), isForeign: true },
      { ...table("mcpServers", ".vscode", "mcp.json"), isForeign: true },
      { ...table("servers", ".cursor", "mcp.json"), isForeign: true },
    ];
  },
};
