import { InvalidEntry } from "./entry-reader.ts";
import { type ConfigLocation, type HostRules, join } from "./host.ts";
import { mcpServers } from "./mcp-servers.ts";
import { shellReference } from "./write-value.ts";

const entries = mcpServers({ reference: shellReference, type: "never", more: ["cwd", "envFile"] });

/** The command `mcparley`, which is a host in `mcparley chat`. It also reads the table that the host of a file ignores. */
export const mcparley: HostRules = {
  ...entries,
  id: "mcparley",
  title: "mcparley",
  documentation: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
  transports: ["stdio", "http", "sse"],
  references: { env: "text", input: false, example: "${NAME}" },
  syntax: "dollar-brace",
  members: [...entries.members, "revision"],
  read(entry) {
    const target = entries.read(entry);
    const revision = entry.word("revision");
    if (revision === undefined) return target;
    if (!/^\d{4}-\d\d-\d\d$/.test(revision))
      throw new InvalidEntry('"revision" must be a date, such as "2025-11-25"', ["revision"]);
    return { ...target, revision };
  },
  write: (target) => ({ ...entries.write(target), revision: target.revision }),
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
